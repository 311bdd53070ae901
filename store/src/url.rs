//! Where a store is: `sqlite:PATH` or `postgres://…`.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use crate::error::StoreError;
use crate::postgres::ServerUrl;

/// The place of a store. Its text form never shows a password.
///
/// ```
/// use pml_store::StoreUrl;
///
/// let url: StoreUrl = "postgres://ada:secret@db.internal/pml".parse()?;
/// assert_eq!(url.to_string(), "postgres://ada:***@db.internal/pml");
/// # Ok::<(), pml_store::StoreError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub enum StoreUrl {
    /// A SQLite file.
    Sqlite(PathBuf),
    /// A connection string of PostgreSQL, in the form of a URL.
    Postgres(String),
}

impl FromStr for StoreUrl {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, StoreError> {
        let invalid = |detail: Option<&str>| StoreError::InvalidUrl {
            url: without_password(text),
            detail: detail.map(str::to_owned),
        };
        if let Some(path) = text.strip_prefix("sqlite:") {
            return match path {
                "" => Err(invalid(Some("the path is empty"))),
                ":memory:" => Err(invalid(Some("a store in memory would not be durable"))),
                path => Ok(Self::Sqlite(path.into())),
            };
        }
        if !text.starts_with("postgres://") && !text.starts_with("postgresql://") {
            return Err(invalid(None));
        }
        ServerUrl::parse(text).map_err(|detail| invalid(Some(&detail)))?;
        Ok(Self::Postgres(text.to_owned()))
    }
}

impl fmt::Display for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
            Self::Postgres(url) => f.write_str(&without_password(url)),
        }
    }
}

impl fmt::Debug for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StoreUrl({self})")
    }
}

/// A URL with `***` in the place of the password, and without its query, which may hold one too.
fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    let rest = rest.split('?').next().unwrap_or_default();
    // A password may contain an `@` that was not escaped: the host follows the last one.
    let Some((user, host)) = rest.rsplit_once('@') else {
        return format!("{scheme}://{rest}");
    };
    match user.split_once(':') {
        Some((user, _)) => format!("{scheme}://{user}:***@{host}"),
        None => format!("{scheme}://{user}@{host}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_names_a_file_or_a_server() {
        assert_eq!(
            "sqlite:/data/a b.db".parse::<StoreUrl>().unwrap(),
            StoreUrl::Sqlite("/data/a b.db".into())
        );
        for url in [
            "postgres://h/d",
            "postgresql://u:p@h:5433/d?connect_timeout=3",
        ] {
            assert!(matches!(url.parse(), Ok(StoreUrl::Postgres(_))), "{url}");
        }
        for url in [
            "",
            "store.db",
            "sqlite:",
            "sqlite::memory:",
            "mysql://h/d",
            "postgres://h:x/d",
        ] {
            let error = url.parse::<StoreUrl>().unwrap_err();
            assert!(matches!(error, StoreError::InvalidUrl { .. }), "{url}");
        }
    }

    #[test]
    fn no_text_of_a_url_shows_the_password() {
        for url in [
            "postgres://ada:secret@h/d",
            "postgres://ada:se@secret@h/d",
            "postgres://h/d?user=ada&password=secret",
        ] {
            let parsed: StoreUrl = url.parse().unwrap();
            for text in [parsed.to_string(), format!("{parsed:?}")] {
                assert!(!text.contains("secret"), "{text}");
            }
        }
        let error = "postgres://ada:secret@h:x/d"
            .parse::<StoreUrl>()
            .unwrap_err();
        assert!(!error.to_string().contains("secret"), "{error}");
    }
}
