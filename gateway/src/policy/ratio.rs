//! Ratios in a policy, checked while the configuration is read.

use serde::{Deserialize, Serialize};

/// A fraction above 0 and at most 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Ratio(f64);

/// A number that is not a ratio.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("invalid ratio `{0}`: expected a number above 0 and at most 1, for example `0.5`")]
pub struct RatioError(f64);

impl Ratio {
    /// 0.5
    pub const HALF: Self = Self(0.5);
    /// 0.2
    pub const FIFTH: Self = Self(0.2);
    /// 0.9
    pub const NEARLY_ALL: Self = Self(0.9);

    /// The ratio as a number.
    pub const fn get(self) -> f64 {
        self.0
    }

    /// Whether `part` of `whole` is this ratio or more.
    pub fn reached(self, part: u32, whole: u32) -> bool {
        whole > 0 && f64::from(part) >= self.0 * f64::from(whole)
    }
}

impl TryFrom<f64> for Ratio {
    type Error = RatioError;

    fn try_from(value: f64) -> Result<Self, RatioError> {
        if value > 0.0 && value <= 1.0 {
            Ok(Self(value))
        } else {
            Err(RatioError(value))
        }
    }
}

impl From<Ratio> for f64 {
    fn from(ratio: Ratio) -> f64 {
        ratio.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_above_zero_and_at_most_one() {
        assert!(serde_json::from_str::<Ratio>("0.25").is_ok());
        assert!(serde_json::from_str::<Ratio>("1").is_ok());
        for text in ["0", "1.01", "-0.5"] {
            assert!(serde_json::from_str::<Ratio>(text).is_err(), "{text}");
        }
    }
}
