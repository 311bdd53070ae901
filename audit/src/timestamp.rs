//! A time as CloudEvents write it (RFC 3339).

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// `2026-11-18T09:05:00.250117Z`. A time before 1970 is the beginning of 1970.
pub fn timestamp(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (seconds, micros) = (since.as_secs(), since.subsec_micros());
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(days);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{micros:06}Z",
        second / 3600,
        second / 60 % 60,
        second % 60
    )
}

/// The time that [`timestamp`] wrote; the beginning of 1970 if it is not of that form.
pub fn parse_timestamp(text: &str) -> SystemTime {
    let number = |range: std::ops::Range<usize>| text.get(range)?.parse::<u64>().ok();
    let parse = || {
        let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
        let seconds = number(11..13)? * 3600 + number(14..16)? * 60 + number(17..19)?;
        let micros = number(20..26)?;
        // Years begin in March, as in `date`.
        let (year, month) = match month {
            1 | 2 => (year.checked_sub(1)?, month + 9),
            _ => (year, month.checked_sub(3)?),
        };
        let of_year = (153 * month + 2) / 5 + day.checked_sub(1)?;
        let days = year * 365 + year / 4 - year / 100 + year / 400 + of_year;
        let seconds = days.checked_sub(719_468)? * 86_400 + seconds;
        UNIX_EPOCH.checked_add(Duration::from_micros(
            seconds.checked_mul(1_000_000)? + micros,
        ))
    };
    parse().unwrap_or(UNIX_EPOCH)
}

/// The Gregorian date of a day since 1970-01-01. Years begin in March, so that a leap day is the last
/// day of a year.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468; // since 0000-03-01
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, carry) = match month {
        0..=9 => (month + 3, 0),
        _ => (month - 9, 1),
    };
    (era * 400 + year + carry, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leap_days_and_ends_of_years_are_written_as_dates() {
        for (seconds, written) in [
            (0, "1970-01-01T00:00:00.000250Z"),
            (951_782_400, "2000-02-29T00:00:00.000250Z"),
            (1_735_689_599, "2024-12-31T23:59:59.000250Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000250Z"),
        ] {
            let time = UNIX_EPOCH + Duration::from_micros(seconds * 1_000_000 + 250);
            assert_eq!(timestamp(time), written);
            assert_eq!(parse_timestamp(written), time);
        }
    }
}
