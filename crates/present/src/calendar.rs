//! Formats times of day for a page.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// A time span in the given zone: `21 Nov 2026, 12:02–12:47 UTC`; outside the calendar's range, the numbers.
pub(crate) fn span(from_ms: u64, to_ms: u64, zone: &TimeZone) -> String {
    let instant = |ms: u64| {
        let instant = i64::try_from(ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
        instant.map(|instant| instant.to_zoned(zone.clone()))
    };
    let (Some(from), Some(to)) = (instant(from_ms), instant(to_ms)) else {
        return format!("{from_ms} to {to_ms} ms since 1970");
    };
    let time = if to_ms.saturating_sub(from_ms) < 600_000 { "%H:%M:%S" } else { "%H:%M" };
    let day = "%-d %b %Y, ";
    let end = format!("{}{time} %Z", if from.date() == to.date() { "" } else { day });
    format!("{}–{}", from.strftime(&format!("{day}{time}")), to.strftime(&end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_names_the_day_once() {
        let at = |from, to| span(from, to, &TimeZone::UTC);
        assert_eq!(at(1_795_262_548_563, 1_795_265_248_563), "21 Nov 2026, 12:02–12:47 UTC");
        assert_eq!(at(0, 59_000), "1 Jan 1970, 00:00:00–00:00:59 UTC");
        assert_eq!(at(0, 86_400_000), "1 Jan 1970, 00:00–2 Jan 1970, 00:00 UTC");
        assert_eq!(at(0, u64::MAX), "0 to 18446744073709551615 ms since 1970");
    }
}
