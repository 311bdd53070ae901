//! Times and sizes as people write them.

/// Milliseconds from `500ms`, `2s`, `1m` or plain seconds.
pub fn parse_time(text: &str) -> Result<u64, String> {
    let (number, unit) = split_unit(text);
    let per_unit = match unit {
        "ms" => 1.0,
        "" | "s" => 1_000.0,
        "m" | "min" => 60_000.0,
        _ => return Err(format!("`{unit}` is no unit of time; use ms, s or m")),
    };
    let millis = parse_number(number)? * per_unit;
    if millis < 1.0 {
        return Err("the limit must be at least 1ms".to_owned());
    }
    Ok(millis as u64)
}

/// Bytes from `64` (MiB), `512k`, `64m` or `1g`.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let (number, unit) = split_unit(text);
    let per_unit = match unit
        .to_ascii_lowercase()
        .trim_end_matches("ib")
        .trim_end_matches('b')
    {
        "k" => 1024.0,
        "" | "m" => 1024.0 * 1024.0,
        "g" => 1024.0 * 1024.0 * 1024.0,
        _ => return Err(format!("`{unit}` is no unit of memory; use k, m or g")),
    };
    Ok((parse_number(number)? * per_unit) as u64)
}

/// The size of a heap: a size that V8 can work with.
pub fn parse_memory(text: &str) -> Result<u64, String> {
    let bytes = parse_size(text)?;
    if !((8 << 20)..=(4 << 30)).contains(&bytes) {
        return Err("the heap can be from 8 MiB to 4 GiB".to_owned());
    }
    Ok(bytes)
}

fn split_unit(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(text.len());
    (&text[..end], text[end..].trim_start())
}

fn parse_number(text: &str) -> Result<f64, String> {
    text.parse()
        .map_err(|_| "write a number, with a unit if you like, such as 2s or 64m".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_and_without_a_unit() {
        assert_eq!(parse_time("500ms"), Ok(500));
        assert_eq!(parse_time("2s"), Ok(2_000));
        assert_eq!(parse_time("1.5"), Ok(1_500));
        assert_eq!(parse_time("1m"), Ok(60_000));
    }

    #[test]
    fn sizes_are_mebibytes_unless_they_say_otherwise() {
        assert_eq!(parse_memory("64"), Ok(64 << 20));
        assert_eq!(parse_memory("16384k"), Ok(16 << 20));
        assert_eq!(parse_memory("1GiB"), Ok(1 << 30));
    }

    #[test]
    fn nonsense_is_refused_with_advice() {
        for text in ["", "fast", "2 parsecs", "0ms", "-1s"] {
            assert!(parse_time(text).is_err(), "{text}");
        }
        for text in ["", "1k", "9g", "64 potatoes"] {
            assert!(parse_memory(text).is_err(), "{text}");
        }
    }
}
