//! Durations: `250ms`, `1.5s`, `5m`, `1h`, `1d`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use crate::UnitError;
use crate::number::split;

/// A duration in whole milliseconds that was written with its unit.
///
/// Units are `ms`, `s`, `m` or `min`, `h` and `d`, in upper or lower case. Zero is allowed; use
/// [`HumanDuration::non_zero`] where it makes no sense.
///
/// ```
/// use pml_units::{DurationUnit, HumanDuration};
///
/// let timeout: HumanDuration = "1.5s".parse()?;
/// assert_eq!(timeout.as_millis(), 1_500);
/// assert!("30".parse::<HumanDuration>().is_err());
/// assert_eq!(HumanDuration::parse_with_default("30", DurationUnit::Second)?.as_millis(), 30_000);
/// # Ok::<(), pml_units::UnitError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HumanDuration(Duration);

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DurationUnit {
    /// `ms`
    Millisecond,
    /// `s`
    Second,
    /// `m` or `min`
    Minute,
    /// `h`
    Hour,
    /// `d`
    Day,
}

impl DurationUnit {
    fn from_name(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "ms" => Self::Millisecond,
            "s" => Self::Second,
            "m" | "min" => Self::Minute,
            "h" => Self::Hour,
            "d" => Self::Day,
            _ => return None,
        })
    }

    const fn millis(self) -> u32 {
        match self {
            Self::Millisecond => 1,
            Self::Second => 1_000,
            Self::Minute => 60_000,
            Self::Hour => 3_600_000,
            Self::Day => 86_400_000,
        }
    }
}

impl HumanDuration {
    /// The longest duration that can be written, 366 days: a longer one is a typing mistake, and
    /// would overflow deadlines.
    pub const MAX: Self = Self::from_secs(366 * 86_400);

    /// A duration of `millis` milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Self(Duration::from_millis(millis))
    }

    /// A duration of `secs` seconds.
    pub const fn from_secs(secs: u64) -> Self {
        Self(Duration::from_secs(secs))
    }

    /// The duration for the standard library.
    pub const fn get(self) -> Duration {
        self.0
    }

    /// The duration in milliseconds.
    pub fn as_millis(self) -> u64 {
        u64::try_from(self.0.as_millis()).unwrap_or(u64::MAX)
    }

    /// Parses `text`, in which a bare number counts `default` units.
    ///
    /// # Errors
    /// `text` does not follow the grammar, or is outside of 0 to [`HumanDuration::MAX`].
    pub fn parse_with_default(text: &str, default: DurationUnit) -> Result<Self, UnitError> {
        Self::parse(text, Some(default))
    }

    /// This duration, if it is at least a millisecond.
    ///
    /// # Errors
    /// The duration is zero.
    pub fn non_zero(self) -> Result<Self, UnitError> {
        if self.0.is_zero() {
            return Err(UnitError::DurationTooShort(self.to_string()));
        }
        Ok(self)
    }

    fn parse(text: &str, default: Option<DurationUnit>) -> Result<Self, UnitError> {
        let invalid = || UnitError::Duration(text.to_owned());
        let (number, unit) = split(text).ok_or_else(invalid)?;
        let unit = match unit {
            "" => default.ok_or_else(|| UnitError::DurationWithoutUnit(text.trim().to_owned()))?,
            name => DurationUnit::from_name(name).ok_or_else(invalid)?,
        };
        let millis = (number * f64::from(unit.millis())).round();
        if millis > Self::MAX.0.as_millis() as f64 {
            return Err(UnitError::DurationTooLong(text.to_owned()));
        }
        if millis == 0.0 && number > 0.0 {
            return Err(UnitError::DurationTooShort(text.to_owned()));
        }
        Ok(Self::from_millis(millis as u64))
    }
}

impl FromStr for HumanDuration {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        Self::parse(text, None)
    }
}

/// Uses the largest unit that leaves no fraction, so the text parses to the same duration.
impl fmt::Display for HumanDuration {
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

impl<'de> Deserialize<'de> for HumanDuration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

struct TextVisitor;

impl Visitor<'_> for TextVisitor {
    type Value = HumanDuration;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a duration such as \"30s\" or \"250ms\"")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<HumanDuration, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<HumanDuration, E> {
        Err(E::custom(UnitError::DurationWithoutUnit(
            number.to_string(),
        )))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<HumanDuration, E> {
        Err(E::custom(UnitError::DurationWithoutUnit(
            number.to_string(),
        )))
    }
}

impl Serialize for HumanDuration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Deserializes an optional duration that is milliseconds as a number, or text with a unit: for
/// `#[serde(deserialize_with)]` on the timeouts of `mcpServers`.
///
/// A number above [`HumanDuration::MAX`] means the maximum: other clients accept a very large
/// number for "no timeout".
///
/// # Errors
/// The value is neither a whole number nor a duration with a unit.
pub fn millis_or_text<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Duration>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Millis(u64),
        Text(String),
    }

    let expected =
        "expected milliseconds as a whole number, or text such as \"500ms\", \"30s\" or \"5m\"";
    let written =
        Option::<Written>::deserialize(deserializer).map_err(|_| de::Error::custom(expected))?;
    let duration = match written {
        None => return Ok(None),
        Some(Written::Millis(millis)) => HumanDuration::from_millis(millis).min(HumanDuration::MAX),
        Some(Written::Text(text)) => text.parse().map_err(de::Error::custom)?,
    };
    Ok(Some(duration.get()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn durations_are_parsed_with_their_unit() {
        for (text, millis) in [
            ("250ms", 250),
            ("30s", 30_000),
            ("1.5s", 1_500),
            ("2.3S", 2_300),
            ("5m", 300_000),
            ("5 min", 300_000),
            ("1h", 3_600_000),
            (" 2D ", 172_800_000),
            ("0s", 0),
            ("366d", 31_622_400_000),
        ] {
            assert_eq!(
                text.parse::<HumanDuration>(),
                Ok(HumanDuration::from_millis(millis)),
                "{text}"
            );
        }
    }

    #[test]
    fn an_invalid_duration_is_refused_with_the_reason() {
        for (text, reason) in [
            ("", "expected a number and a unit"),
            ("s", "expected a number and a unit"),
            ("-1s", "expected a number and a unit"),
            ("1.2.3s", "expected a number and a unit"),
            ("3 weeks", "ms, s, m, h or d"),
            ("30", "add a unit, for example `30s`"),
            ("0.1ms", "at least 1ms"),
            ("400d", "at most 366 days"),
            ("99999999999999999999s", "at most 366 days"),
        ] {
            let error = text.parse::<HumanDuration>().unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
            assert!(error.contains(&format!("`{text}`")), "{text}: {error}");
        }
    }

    #[test]
    fn a_bare_number_counts_default_units_where_there_is_a_default() {
        let parse = |text| HumanDuration::parse_with_default(text, DurationUnit::Second);
        assert_eq!(parse("30"), Ok(HumanDuration::from_secs(30)));
        assert_eq!(parse("1.5"), Ok(HumanDuration::from_millis(1_500)));
        assert_eq!(parse("30ms"), Ok(HumanDuration::from_millis(30)));
        assert!(parse("fast").is_err());
    }

    #[test]
    fn a_number_in_a_file_needs_a_unit() {
        for number in ["30", "1.5"] {
            let error = serde_json::from_str::<HumanDuration>(number).unwrap_err();
            let advice = format!("invalid duration `{number}`: add a unit");
            assert!(error.to_string().contains(&advice), "{error}");
        }
        assert!(serde_json::from_str::<HumanDuration>("null").is_err());
    }

    #[test]
    fn zero_is_refused_where_a_duration_must_not_be_zero() {
        let zero: HumanDuration = "0s".parse().unwrap();
        assert!(zero.non_zero().is_err());
        assert!(HumanDuration::from_millis(1).non_zero().is_ok());
    }

    #[derive(Debug, Deserialize)]
    struct Server {
        #[serde(default, deserialize_with = "millis_or_text")]
        timeout: Option<Duration>,
    }

    fn timeout(json: &str) -> Result<Option<Duration>, serde_json::Error> {
        let json = format!("{{\"timeout\": {json}}}");
        serde_json::from_str::<Server>(&json).map(|server| server.timeout)
    }

    #[test]
    fn numbers_of_mcp_servers_are_milliseconds_and_texts_have_a_unit() {
        for (json, expected) in [
            ("1500", Some(Duration::from_millis(1_500))),
            ("\"30s\"", Some(Duration::from_secs(30))),
            ("\"5 m\"", Some(Duration::from_secs(300))),
            ("18446744073709551615", Some(HumanDuration::MAX.get())),
            ("null", None),
        ] {
            assert_eq!(timeout(json).unwrap(), expected, "{json}");
        }
    }

    #[test]
    fn any_other_timeout_of_mcp_servers_is_refused_with_an_example() {
        for (json, example) in [
            ("\"soon\"", "`30s`"),
            ("\"12\"", "`12s`"),
            ("-1", "\"30s\""),
            ("1.5", "\"30s\""),
            ("true", "\"30s\""),
        ] {
            let error = timeout(json).unwrap_err().to_string();
            assert!(error.contains(example), "{json}: {error}");
        }
    }

    proptest! {
        #[test]
        fn a_displayed_duration_parses_to_itself(millis in 0u64..31_000_000_000) {
            let duration = HumanDuration::from_millis(millis);
            prop_assert_eq!(duration.to_string().parse::<HumanDuration>(), Ok(duration));
        }
    }
}
