//! Sizes: `512k`, `64m`, `1.5GiB`.

use std::fmt;
use std::str::FromStr;

use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use crate::UnitError;
use crate::number::split;

/// A number of bytes that was written with its unit.
///
/// Units are binary, in upper or lower case: `k`, `kb` and `kib` are 1024 bytes, likewise `m` and
/// `g`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteSize(u64);

/// A unit of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeUnit {
    /// `k`, `kb` or `kib`: 1024 bytes
    Kibibyte,
    /// `m`, `mb` or `mib`
    Mebibyte,
    /// `g`, `gb` or `gib`
    Gibibyte,
}

impl SizeUnit {
    fn from_name(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "k" | "kb" | "kib" => Self::Kibibyte,
            "m" | "mb" | "mib" => Self::Mebibyte,
            "g" | "gb" | "gib" => Self::Gibibyte,
            _ => return None,
        })
    }

    const fn bytes(self) -> u32 {
        match self {
            Self::Kibibyte => 1 << 10,
            Self::Mebibyte => 1 << 20,
            Self::Gibibyte => 1 << 30,
        }
    }
}

impl ByteSize {
    /// A size of `mebibytes` times 1,048,576 bytes.
    pub const fn from_mebibytes(mebibytes: u32) -> Self {
        Self((mebibytes as u64) << 20)
    }

    /// The size in bytes.
    pub const fn bytes(self) -> u64 {
        self.0
    }

    /// This size, if it is at least one byte.
    ///
    /// # Errors
    /// The size is zero.
    pub fn non_zero(self) -> Result<Self, UnitError> {
        if self.0 == 0 {
            return Err(UnitError::SizeZero(self.to_string()));
        }
        Ok(self)
    }

    /// Parses `text`, in which a bare number counts `default` units.
    ///
    /// # Errors
    /// `text` does not follow the grammar, or is larger than an address space.
    pub fn parse_with_default(text: &str, default: SizeUnit) -> Result<Self, UnitError> {
        Self::parse(text, Some(default))
    }

    fn parse(text: &str, default: Option<SizeUnit>) -> Result<Self, UnitError> {
        let invalid = || UnitError::Size(text.to_owned());
        let (number, unit) = split(text).ok_or_else(invalid)?;
        let unit = match unit {
            "" => default.ok_or_else(|| UnitError::SizeWithoutUnit(text.trim().to_owned()))?,
            name => SizeUnit::from_name(name).ok_or_else(invalid)?,
        };
        let bytes = number * f64::from(unit.bytes());
        if bytes >= (1_u64 << 63) as f64 {
            return Err(UnitError::SizeTooLarge(text.to_owned()));
        }
        Ok(Self(bytes as u64))
    }
}

impl FromStr for ByteSize {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        Self::parse(text, None)
    }
}

/// Uses the largest unit that leaves no fraction, else `k`, so the text parses to the same size.
impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            bytes if bytes != 0 && bytes % (1 << 30) == 0 => write!(f, "{}g", bytes >> 30),
            bytes if bytes != 0 && bytes % (1 << 20) == 0 => write!(f, "{}m", bytes >> 20),
            // A division by a power of two is exact.
            bytes => write!(f, "{}k", bytes as f64 / 1024.0),
        }
    }
}

impl Serialize for ByteSize {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ByteSize {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

struct TextVisitor;

impl Visitor<'_> for TextVisitor {
    type Value = ByteSize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a size such as \"64m\" or \"512k\"")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<ByteSize, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<ByteSize, E> {
        Err(E::custom(UnitError::SizeWithoutUnit(number.to_string())))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<ByteSize, E> {
        Err(E::custom(UnitError::SizeWithoutUnit(number.to_string())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_parsed_with_their_unit() {
        for (text, bytes) in [
            ("512k", 512 << 10),
            ("64m", 64 << 20),
            ("64 MB", 64 << 20),
            ("1GiB", 1 << 30),
            ("1.5g", 3 << 29),
            ("0k", 0),
        ] {
            assert_eq!(text.parse::<ByteSize>(), Ok(ByteSize(bytes)), "{text}");
        }
    }

    #[test]
    fn an_invalid_size_is_refused_with_the_reason() {
        for (text, reason) in [
            ("", "expected a number and a unit"),
            ("64 potatoes", "k, m or g"),
            ("64b", "k, m or g"),
            ("-1m", "expected a number and a unit"),
            ("64", "add a unit, for example `64m`"),
            ("99999999999g", "too large"),
        ] {
            let error = text.parse::<ByteSize>().unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
        let error = serde_json::from_str::<ByteSize>("64").unwrap_err();
        assert!(error.to_string().contains("add a unit"), "{error}");
    }

    #[test]
    fn a_size_is_written_as_it_can_be_read() {
        for text in ["0k", "1k", "0.5k", "1.5k", "64m", "3g", "1537k"] {
            let size: ByteSize = text.parse().unwrap();
            assert_eq!(size.to_string(), text);
            assert_eq!(serde_json::to_string(&size).unwrap(), format!("\"{text}\""));
        }
        assert_eq!("1024m".parse::<ByteSize>().unwrap().to_string(), "1g");
        assert!(ByteSize(0).non_zero().is_err());
    }

    #[test]
    fn a_bare_number_counts_default_units_where_there_is_a_default() {
        let parse = |text| ByteSize::parse_with_default(text, SizeUnit::Mebibyte);
        assert_eq!(parse("64"), Ok(ByteSize(64 << 20)));
        assert_eq!(parse("16384k"), Ok(ByteSize(16 << 20)));
    }
}
