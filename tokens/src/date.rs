//! Times as Biscuit writes them: `2026-11-19T05:00:00Z`.

/// The last second that has a year of four digits.
pub const LAST: u64 = 253_402_300_799;

/// A number of seconds since 1970 as text.
pub fn written(seconds: u64) -> String {
    let seconds = seconds.min(LAST);
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date_of(days);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z",
        second / 3600,
        second / 60 % 60,
        second % 60
    )
}

/// The seconds of a text that [`written`] makes; `None` for any other text.
pub fn read(text: &str) -> Option<u64> {
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<u64>().ok();
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let is_possible = (1970..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second < 60;
    if !is_possible {
        return None;
    }
    let seconds = days_of(year, month, day)? * 86_400 + hour * 3600 + minute * 60 + second;
    (written(seconds) == text).then_some(seconds)
}

/// The Gregorian date of a day since 1970-01-01. Years begin in March, so that a leap day is the last
/// day of a year.
fn date_of(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468; // since 0000-03-01
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let (month, carry) = match month_from_march {
        0..=9 => (month_from_march + 3, 0),
        _ => (month_from_march - 9, 1),
    };
    (era * 400 + year_of_era + carry, month, day)
}

/// The inverse of [`date_of`].
fn days_of(year: u64, month: u64, day: u64) -> Option<u64> {
    let (year, month_from_march) = match month {
        3.. => (year, month - 3),
        _ => (year - 1, month + 9),
    };
    let (era, year_of_era) = (year / 400, year % 400);
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    (era * 146_097 + day_of_era).checked_sub(719_468)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn leap_days_and_ends_of_years_are_written_as_dates() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (LAST, "9999-12-31T23:59:59Z"),
        ] {
            assert_eq!(written(seconds), text);
            assert_eq!(read(text), Some(seconds));
        }
    }

    #[test]
    fn a_date_that_does_not_exist_is_not_read() {
        for text in [
            "",
            "2026-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01T00:00:00",
            "2026-01-01 00:00:00Z",
            "+026-01-01T00:00:00Z",
            "1969-12-31T23:59:59Z",
            "2026-01-01T00:00:00ZZ",
            "２０２６",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(seconds in 0..=LAST) {
            prop_assert_eq!(read(&written(seconds)), Some(seconds));
        }
    }
}
