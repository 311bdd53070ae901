//! The values an operator writes in a policy: spans of time and shares.
//!
//! Each refuses a wrong value while the file is read, so that the parts built from them cannot
//! be misconfigured and building them cannot fail.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A value of the policy that does not mean anything.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    #[error(
        "`{0}` is no span of time: write a number and a unit, as in `250ms`, `30s`, `5m`, `1h`"
    )]
    Span(String),
    #[error("`{0}` is no share: write a number above 0 and at most 1, as in `0.5`")]
    Share(String),
}

/// A span of time, written as `250ms`, `30s`, `5m`, `1h` or `1d`.
///
/// The unit is part of the value on purpose: a bare number would leave a reader to guess.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(Duration);

impl Span {
    pub const fn from_millis(millis: u64) -> Self {
        Self(Duration::from_millis(millis))
    }

    pub const fn from_secs(secs: u64) -> Self {
        Self(Duration::from_secs(secs))
    }

    pub const fn get(self) -> Duration {
        self.0
    }
}

impl FromStr for Span {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let wrong = || UnitError::Span(text.to_owned());
        let trimmed = text.trim();
        let unit_at = trimmed
            .find(|c: char| !c.is_ascii_digit())
            .ok_or_else(wrong)?;
        let (number, unit) = trimmed.split_at(unit_at);
        let number: u64 = number.parse().map_err(|_| wrong())?;
        let millis_per_unit = match unit.trim() {
            "ms" => 1,
            "s" => 1_000,
            "m" | "min" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            _ => return Err(wrong()),
        };
        // A year and more is a slip of the keyboard, and far spans overflow clocks.
        let millis = number.checked_mul(millis_per_unit).ok_or_else(wrong)?;
        if millis > 366 * 86_400_000 {
            return Err(wrong());
        }
        Ok(Self::from_millis(millis))
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.0.as_millis();
        match millis {
            m if m != 0 && m % 3_600_000 == 0 => write!(f, "{}h", m / 3_600_000),
            m if m != 0 && m % 60_000 == 0 => write!(f, "{}m", m / 60_000),
            m if m % 1_000 == 0 => write!(f, "{}s", m / 1_000),
            m => write!(f, "{m}ms"),
        }
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl de::Visitor<'_> for Text {
            type Value = Span;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a span of time such as \"30s\" or \"250ms\"")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Span, E> {
                text.parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_str(Text)
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A part of a whole: above 0, at most 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Share(f64);

impl Share {
    pub const HALF: Self = Self(0.5);
    pub const FIFTH: Self = Self(0.2);
    pub const NEARLY_ALL: Self = Self(0.9);

    pub const fn get(self) -> f64 {
        self.0
    }

    /// Whether `part` of `whole` is this share or more.
    pub fn reached(self, part: u32, whole: u32) -> bool {
        whole > 0 && f64::from(part) >= self.0 * f64::from(whole)
    }
}

impl TryFrom<f64> for Share {
    type Error = UnitError;

    fn try_from(value: f64) -> Result<Self, UnitError> {
        if value > 0.0 && value <= 1.0 {
            Ok(Self(value))
        } else {
            Err(UnitError::Share(value.to_string()))
        }
    }
}

impl From<Share> for f64 {
    fn from(share: Share) -> f64 {
        share.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn spans_are_read_with_their_unit() {
        for (text, millis) in [
            ("250ms", 250),
            ("30s", 30_000),
            ("5m", 300_000),
            ("5 min", 300_000),
            ("1h", 3_600_000),
            ("2d", 172_800_000),
            ("0s", 0),
        ] {
            assert_eq!(
                text.parse::<Span>(),
                Ok(Span::from_millis(millis)),
                "{text}"
            );
        }
    }

    #[test]
    fn a_span_without_a_known_unit_is_refused() {
        for text in [
            "",
            "30",
            "s",
            "-1s",
            "1.5s",
            "3 weeks",
            "99999999999999999999s",
            "400d",
        ] {
            assert!(text.parse::<Span>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_bare_number_is_no_span() {
        let error = serde_json::from_str::<Span>("30").unwrap_err().to_string();
        assert!(error.contains("a span of time such as \"30s\""), "{error}");
    }

    #[test]
    fn a_share_lies_above_zero_and_at_most_at_one() {
        assert!(serde_json::from_str::<Share>("0.25").is_ok());
        assert!(serde_json::from_str::<Share>("1").is_ok());
        for text in ["0", "1.01", "-0.5"] {
            assert!(serde_json::from_str::<Share>(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_a_span_shows_reads_back_as_itself(millis in 0u64..31_000_000_000) {
            let span = Span::from_millis(millis);
            prop_assert_eq!(span.to_string().parse::<Span>(), Ok(span));
        }
    }
}
