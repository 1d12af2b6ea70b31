//! Formats times as reports print them.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// A time in the given zone, `Sat Nov 21 12:01:34 2026`; outside the calendar's range, the number.
pub(crate) fn moment(epoch_ms: u64, zone: &TimeZone) -> String {
    let instant = i64::try_from(epoch_ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
    match instant {
        Some(instant) => instant.to_zoned(zone.clone()).strftime("%a %b %e %H:%M:%S %Y").to_string(),
        None => format!("{epoch_ms} ms since 1970"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_padded_with_a_blank() {
        assert_eq!(moment(1_795_262_548_563, &TimeZone::UTC), "Sat Nov 21 12:02:28 2026");
        assert_eq!(moment(0, &TimeZone::UTC), "Thu Jan  1 00:00:00 1970");
        assert_eq!(moment(0, &TimeZone::fixed(jiff::tz::offset(2))), "Thu Jan  1 02:00:00 1970");
        assert_eq!(moment(u64::MAX, &TimeZone::UTC), "18446744073709551615 ms since 1970");
    }
}
