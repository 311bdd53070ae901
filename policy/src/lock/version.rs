//! The version of a tool, which pml numbers itself.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Digest, Impact};

/// The version of a tool: a breaking change adds to the first number, a compatible one to the second, a
/// cosmetic one to the third.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Version {
    /// Counts breaking changes.
    pub major: u32,
    /// Counts compatible changes since.
    pub minor: u32,
    /// Counts changes of texts since.
    pub patch: u32,
}

impl Version {
    /// The version of a tool that is pinned for the first time.
    pub const FIRST: Self = Self {
        major: 1,
        minor: 0,
        patch: 0,
    };

    /// The version after a change.
    pub fn after(self, impact: Impact) -> Self {
        let Self {
            major,
            minor,
            patch,
        } = self;
        let (major, minor, patch) = match impact {
            Impact::Breaking => (major.saturating_add(1), 0, 0),
            Impact::Compatible => (major, minor.saturating_add(1), 0),
            Impact::Cosmetic => (major, minor, patch.saturating_add(1)),
        };
        Self {
            major,
            minor,
            patch,
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

impl From<Version> for String {
    fn from(version: Version) -> Self {
        version.to_string()
    }
}

impl FromStr for Version {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers: Result<Vec<u32>, _> = text.split('.').map(str::parse).collect();
        match numbers.as_deref() {
            Ok(&[major, minor, patch]) => Ok(Self {
                major,
                minor,
                patch,
            }),
            _ => Err(format!("`{text}` is not a version such as `1.0.0`")),
        }
    }
}

impl TryFrom<String> for Version {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

/// The versions of a tool that a script accepts: what it writes behind `@`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VersionRequest {
    /// `2` or `2.x`: any with this first number.
    Major(u32),
    /// `2.1` or `2.1.x`: any with these two.
    Minor(u32, u32),
    /// `2.1.0`
    Exact(Version),
    /// `sha256:…`, or the beginning of it.
    Digest(String),
}

/// Digits of a digest that are enough.
const MIN_DIGITS: usize = 12;

impl VersionRequest {
    /// Whether a version is one of them.
    pub fn matches(&self, version: Version, digest: &Digest) -> bool {
        match self {
            Self::Major(major) => version.major == *major,
            Self::Minor(major, minor) => (version.major, version.minor) == (*major, *minor),
            Self::Exact(exact) => version == *exact,
            Self::Digest(start) => digest.as_str().starts_with(start.as_str()),
        }
    }
}

impl fmt::Display for VersionRequest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Major(major) => write!(out, "{major}"),
            Self::Minor(major, minor) => write!(out, "{major}.{minor}"),
            Self::Exact(version) => version.fmt(out),
            Self::Digest(start) => out.write_str(start),
        }
    }
}

impl FromStr for VersionRequest {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mistake = || "write a version as `2`, `1.x`, `1.2.0` or `sha256:…`".to_owned();
        if let Some(digits) = text.strip_prefix("sha256:") {
            let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
            let is_long = (MIN_DIGITS..=64).contains(&digits.len());
            return match is_hex && is_long {
                true => Ok(Self::Digest(text.to_ascii_lowercase())),
                false => Err(format!(
                    "a digest has {MIN_DIGITS} to 64 hexadecimal digits"
                )),
            };
        }
        let number = |text: &str| {
            let is_plain = text == "0" || !text.starts_with(['0', '+']);
            text.parse::<u32>()
                .ok()
                .filter(|_| is_plain)
                .ok_or_else(mistake)
        };
        match *text.split('.').collect::<Vec<_>>() {
            [major] | [major, "x"] | [major, "x", "x"] => Ok(Self::Major(number(major)?)),
            [major, minor] | [major, minor, "x"] => Ok(Self::Minor(number(major)?, number(minor)?)),
            _ => text.parse().map(Self::Exact).map_err(|_| mistake()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_asks_for_versions_in_four_ways() {
        let digest: Digest =
            serde_json::from_value(format!("sha256:{}", "ab".repeat(32)).into()).unwrap();
        let version: Version = "1.2.3".parse().unwrap();
        for (text, expected) in [
            ("1", true),
            ("1.x", true),
            ("1.2", true),
            ("1.2.x", true),
            ("1.2.3", true),
            ("2", false),
            ("1.1", false),
            ("1.2.4", false),
            ("1.3.x", false),
            ("sha256:abababababab", true),
            ("sha256:ABABABABABAB", true),
            ("sha256:bbabababababab", false),
        ] {
            let request: VersionRequest = text.parse().unwrap();
            assert_eq!(request.matches(version, &digest), expected, "{text}");
        }
        for wrong in [
            "",
            "x",
            "latest",
            "+1",
            "01",
            "1.2.3.4",
            "v1",
            "sha256:",
            "sha256:ab",
            "sha256:zzzzzzzzzzzz",
            "-1",
            "1.x.2",
        ] {
            assert!(wrong.parse::<VersionRequest>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_version_is_counted_up_and_read_again() {
        let version = Version::FIRST.after(Impact::Compatible);
        assert_eq!(version.to_string(), "1.1.0");
        assert_eq!(version.after(Impact::Cosmetic).to_string(), "1.1.1");
        assert_eq!(version.after(Impact::Breaking).to_string(), "2.0.0");
        assert_eq!("1.1.0".parse(), Ok(version));
        for wrong in ["1", "1.0", "1.0.x", "1.0.0.0", "-1.0.0", ""] {
            assert!(wrong.parse::<Version>().is_err(), "{wrong}");
        }
    }
}
