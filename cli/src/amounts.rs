//! Value parsers of flags: durations and sizes, where a bare number has a default unit.

use pml_units::{ByteSize, DurationUnit, HumanDuration, SizeUnit, UnitError};

/// Milliseconds from a duration; a bare number is in seconds.
pub fn parse_time(text: &str) -> Result<u64, UnitError> {
    let time = HumanDuration::parse_with_default(text, DurationUnit::Second)?;
    Ok(time.non_zero()?.as_millis())
}

/// Bytes of a V8 heap from a size; a bare number is in MiB.
pub fn parse_memory(text: &str) -> Result<u64, String> {
    let size = ByteSize::parse_with_default(text, SizeUnit::Mebibyte);
    heap_bytes(size.map_err(|error| error.to_string())?)
}

/// The size of a heap that V8 can work with.
pub fn heap_bytes(size: ByteSize) -> Result<u64, String> {
    let bytes = size.bytes();
    if !((8 << 20)..=(4 << 30)).contains(&bytes) {
        return Err("the heap can be from 8 MiB to 4 GiB".to_owned());
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_seconds_unless_they_have_a_unit() {
        assert_eq!(parse_time("500ms"), Ok(500));
        assert_eq!(parse_time("2s"), Ok(2_000));
        assert_eq!(parse_time("1.5"), Ok(1_500));
        assert_eq!(parse_time("1m"), Ok(60_000));
    }

    #[test]
    fn sizes_are_mebibytes_unless_they_have_a_unit() {
        assert_eq!(parse_memory("64"), Ok(64 << 20));
        assert_eq!(parse_memory("16384k"), Ok(16 << 20));
        assert_eq!(parse_memory("1GiB"), Ok(1 << 30));
    }

    #[test]
    fn invalid_values_are_refused() {
        for text in ["", "fast", "2 parsecs", "0ms", "-1s"] {
            assert!(parse_time(text).is_err(), "{text}");
        }
        for text in ["", "1k", "9g", "64 potatoes"] {
            assert!(parse_memory(text).is_err(), "{text}");
        }
    }
}
