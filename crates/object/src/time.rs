//! Times in the form that signatures need.

/// A time in UTC: `20130524T000000Z`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp([u8; 16]);

impl Stamp {
    /// The time of this number of seconds since 1970, up to the year 9999.
    pub fn of_epoch_s(seconds: u64) -> Stamp {
        let (days, second) = (seconds / 86_400, seconds % 86_400);
        let (year, month, day) = date_of(days);
        let mut text = *b"00000000T000000Z";
        let fields = [(0, 4, year), (4, 2, month), (6, 2, day)];
        let clock = [(9, 2, second / 3600), (11, 2, second / 60 % 60), (13, 2, second % 60)];
        for (at, digits, mut number) in fields.into_iter().chain(clock) {
            for digit in text[at..at + digits].iter_mut().rev() {
                *digit = b'0' + (number % 10) as u8;
                number /= 10;
            }
        }
        Stamp(text)
    }

    /// The whole text.
    pub fn as_str(&self) -> &str {
        str::from_utf8(&self.0).unwrap_or_default()
    }

    /// The date alone: `20130524`.
    pub fn day(&self) -> &str {
        &self.as_str()[..8]
    }
}

/// The moment of a `Date` header, `Sun, 06 Nov 1994 08:49:37 GMT`, in seconds since 1970.
pub fn epoch_s_of_date(text: &str) -> Option<u64> {
    const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let [_, day, month, year, clock, "GMT"] = words[..] else { return None };
    let month = MONTHS.find(month).filter(|at| month.len() == 3 && at % 3 == 0)? as u64 / 3 + 1;
    let (day, year) =
        (day.parse::<u64>().ok()?, year.parse::<u64>().ok().filter(|year| (1970..10_000).contains(year))?);
    let clock: Option<Vec<u64>> = clock.split(':').map(|digits| digits.parse().ok()).collect();
    let [hour, minute, second] = clock?[..] else { return None };
    if !(1..=31).contains(&day) || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    // The days before the first of the month, found by the calendar itself.
    let first = (0..).map(|month| (year - 1970) * 365 + month * 28).find(|days| date_of(*days) >= (year, month, 1))?;
    let first = (first.saturating_sub(31)..=first).find(|days| date_of(*days) == (year, month, 1))?;
    Some((first + day - 1) * 86_400 + hour * 3600 + minute * 60 + second)
}

/// Year, month and day of the Gregorian calendar. The calculation lets years begin in March, so that a leap day is the
/// last day of its year.
fn date_of(days: u64) -> (u64, u64, u64) {
    const DAYS_OF_400_YEARS: u64 = 146_097;
    // 719,468 days lie between 1 March of the year 0 and 1 January 1970.
    let days = days + 719_468;
    let (cycle, day) = (days / DAYS_OF_400_YEARS, days % DAYS_OF_400_YEARS);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = if month < 10 { (year, month + 3) } else { (year + 1, month - 9) };
    (cycle * 400 + year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        // The example of RFC 9110.
        assert_eq!(epoch_s_of_date("Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777));
        for (text, seconds) in [
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Tue, 29 Feb 2000 00:00:00 GMT", 951_782_400),
            ("Mon, 01 Mar 2100 00:00:00 GMT", 4_107_542_400),
            ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
        ] {
            assert_eq!(epoch_s_of_date(text), Some(seconds), "{text}");
        }
        for none in [
            "",
            "Sun, 06 Nov 1994",
            "Sun, 06 anF 1994 08:49:37 GMT",
            "Sun, 99 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 0 08:49:37 GMT",
        ] {
            assert_eq!(epoch_s_of_date(none), None, "{none}");
        }
    }

    #[test]
    fn stamps_are_those_of_the_calendar() {
        for (seconds, text) in [
            (0, "19700101T000000Z"),
            (951_782_399, "20000228T235959Z"),
            (951_782_400, "20000229T000000Z"),
            (1_369_353_600, "20130524T000000Z"),
            (1_440_938_160, "20150830T123600Z"),
            (4_107_542_399, "21000228T235959Z"),
            (4_107_542_400, "21000301T000000Z"),
        ] {
            assert_eq!(Stamp::of_epoch_s(seconds).as_str(), text);
        }
        assert_eq!(Stamp::of_epoch_s(1_369_353_600).day(), "20130524");
    }
}
