//! The configuration key `policy.rate`.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;
use std::time::Duration;

use pml_units::HumanDuration;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::policy::globs::ToolGlob;

/// `policy.rate`. Without it, no rate is limited.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct RateConfig {
    /// The rate of all calls together.
    pub global: Option<Rate>,
    /// The rate of each server, unless `servers` names it.
    pub per_server: Option<Rate>,
    /// The rates of single servers, by name.
    pub servers: BTreeMap<String, Rate>,
    /// The rates of tools, by glob. The tools of one glob share its rate.
    pub tools: BTreeMap<ToolGlob, Rate>,
    /// The rate of each principal, unless `principals` names it.
    pub per_principal: Option<Rate>,
    /// The rates of single principals: `ci`, or `acme/ci` for a tenant of its own.
    pub principals: BTreeMap<String, Rate>,
    /// The longest wait for a token; a longer one is refused.
    pub max_wait: HumanDuration,
}

impl Default for RateConfig {
    fn default() -> Self {
        Self {
            global: None,
            per_server: None,
            servers: BTreeMap::new(),
            tools: BTreeMap::new(),
            per_principal: None,
            principals: BTreeMap::new(),
            max_wait: HumanDuration::from_secs(5),
        }
    }
}

/// A number of calls per duration, written as `5/s`, `100/min` or `20/10s`, with an optional burst:
/// `5/s burst 20`. Without it, the burst is the number of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    calls: NonZeroU32,
    per: Duration,
    burst: NonZeroU32,
}

/// A rate that does not follow the grammar.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid rate `{0}`: expected a number of calls per duration, for example `5/s`, `100/min` or `20/10s burst 40`"
)]
pub struct RateError(String);

impl Rate {
    /// The steady rate.
    pub fn calls_per_second(self) -> f64 {
        f64::from(self.calls.get()) / self.per.as_secs_f64()
    }

    /// The number of calls that may come at once.
    pub fn burst(self) -> NonZeroU32 {
        self.burst
    }
}

impl FromStr for Rate {
    type Err = RateError;

    fn from_str(text: &str) -> Result<Self, RateError> {
        let wrong = || RateError(text.to_owned());
        let (rate, burst) = match text.split_once("burst") {
            Some((rate, burst)) => (rate, Some(burst)),
            None => (text, None),
        };
        let (calls, per) = rate.split_once('/').ok_or_else(wrong)?;
        let calls: NonZeroU32 = calls.trim().parse().map_err(|_| wrong())?;
        let per = per.trim();
        // `5/s` is short for `5/1s`.
        let per: HumanDuration = if per.starts_with(|c: char| c.is_ascii_digit()) {
            per.parse()
        } else {
            format!("1{per}").parse()
        }
        .map_err(|_| wrong())?;
        if per.get().is_zero() {
            return Err(wrong());
        }
        let burst = match burst {
            Some(burst) => burst.trim().parse().map_err(|_| wrong())?,
            None => calls,
        };
        Ok(Self {
            calls,
            per: per.get(),
            burst,
        })
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let per = u64::try_from(self.per.as_millis()).unwrap_or(u64::MAX);
        write!(f, "{}/{}", self.calls, HumanDuration::from_millis(per))?;
        if self.burst != self.calls {
            write!(f, " burst {}", self.burst)?;
        }
        Ok(())
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(de::Error::custom)
    }
}

impl Serialize for Rate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_read_as_people_write_them() {
        for (text, per_second, burst) in [
            ("5/s", 5.0, 5),
            ("120/min", 2.0, 120),
            ("20/10s", 2.0, 20),
            ("5/s burst 20", 5.0, 20),
            ("3600/h burst 1", 1.0, 1),
        ] {
            let rate: Rate = text.parse().unwrap();
            assert_eq!(rate.calls_per_second(), per_second, "{text}");
            assert_eq!(rate.burst().get(), burst, "{text}");
            assert_eq!(rate.to_string().parse::<Rate>(), Ok(rate));
        }
    }

    #[test]
    fn a_rate_that_admits_nothing_or_everything_is_refused() {
        for text in [
            "",
            "5",
            "0/s",
            "5/0s",
            "5/",
            "/s",
            "5/s burst 0",
            "-1/s",
            "5/fortnight",
        ] {
            assert!(text.parse::<Rate>().is_err(), "{text}");
        }
    }
}
