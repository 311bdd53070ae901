//! A length of time in a configuration: milliseconds as a number, or text such as `"30s"`.

use std::time::Duration;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _};

#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Millis(u64),
    Text(String),
}

/// For `#[serde(deserialize_with)]` on an `Option<Duration>`.
pub fn optional<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    let expected =
        "expected milliseconds as a whole number, or text such as \"500ms\", \"30s\" or \"5m\"";
    let written =
        Option::<Written>::deserialize(deserializer).map_err(|_| D::Error::custom(expected))?;
    match written {
        None => Ok(None),
        Some(Written::Millis(millis)) => Ok(Some(Duration::from_millis(millis))),
        Some(Written::Text(text)) => parse(&text)
            .map(Some)
            .ok_or_else(|| D::Error::custom(expected)),
    }
}

fn parse(text: &str) -> Option<Duration> {
    let text = text.trim();
    let unit_at = text.find(|c: char| !c.is_ascii_digit())?;
    let number: u64 = text[..unit_at].parse().ok()?;
    let millis = match text[unit_at..].trim() {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    Some(Duration::from_millis(number.checked_mul(millis)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    struct Sample {
        #[serde(default, deserialize_with = "optional")]
        timeout: Option<Duration>,
    }

    fn read(json: &str) -> Result<Option<Duration>, serde_json::Error> {
        serde_json::from_str::<Sample>(json).map(|sample| sample.timeout)
    }

    #[test]
    fn numbers_are_milliseconds_and_texts_carry_their_unit() {
        assert_eq!(
            read(r#"{"timeout": 1500}"#).unwrap(),
            Some(Duration::from_millis(1500))
        );
        assert_eq!(
            read(r#"{"timeout": "30s"}"#).unwrap(),
            Some(Duration::from_secs(30))
        );
        assert_eq!(
            read(r#"{"timeout": "5 m"}"#).unwrap(),
            Some(Duration::from_secs(300))
        );
        assert_eq!(read("{}").unwrap(), None);
    }

    #[test]
    fn anything_else_is_refused_with_an_example() {
        for json in [
            r#"{"timeout": "soon"}"#,
            r#"{"timeout": -1}"#,
            r#"{"timeout": "12"}"#,
        ] {
            assert!(
                read(json).unwrap_err().to_string().contains("\"30s\""),
                "{json}"
            );
        }
    }
}
