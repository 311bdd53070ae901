//! The time, and its form in MCP.

use std::time::{SystemTime, UNIX_EPOCH};

use pml_store::UnixMs;

/// The present time.
pub fn unix_ms() -> UnixMs {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(UnixMs::MAX)
}

/// A time as `2026-11-18T04:23:07.120Z`.
pub fn iso8601(time: UnixMs) -> String {
    let (days, ms) = (time / 86_400_000, time % 86_400_000);
    let (year, month, day) = civil_date(days);
    let (hour, minute, second) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60);
    let ms = ms % 1000;
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z")
}

/// The date of a day since 1970, in the Gregorian calendar. Years begin in March here, so that the leap
/// day is the last of its year.
fn civil_date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let year = era * 400 + year;
    match month < 10 {
        true => (year, month + 3, day),
        false => (year + 1, month - 9, day),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_in_iso_8601() {
        for (time, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_709_251_199_999, "2024-02-29T23:59:59.999Z"),
            (1_795_000_000_120, "2026-11-18T11:06:40.120Z"),
        ] {
            assert_eq!(iso8601(time), text);
        }
    }
}
