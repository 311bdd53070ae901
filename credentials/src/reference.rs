//! The name of a secret: which source has it, and under which name.

use std::fmt;
use std::str::FromStr;

/// Names a secret, as the configuration writes it between `${` and `}`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reference {
    /// `secret:env/NAME`: a variable of the environment of pml.
    Env(String),
    /// `secret:file/PATH`: the content of a file, without the line break at its end.
    File(String),
    /// `secret:keyring/SERVICE/ACCOUNT`: an entry of the keyring of the desktop.
    Keyring {
        /// The service that the entry is for.
        service: String,
        /// The account of the service.
        account: String,
    },
    /// `secret:op://VAULT/ITEM/FIELD`: a field of 1Password, read with its program `op`.
    OnePassword(String),
    /// `secret:vault/PATH#FIELD`: a field of a secret of HashiCorp Vault or OpenBao.
    Vault {
        /// The path of the HTTP API, without `/v1/`.
        path: String,
        /// The field.
        field: String,
    },
    /// `secret:exec/PROGRAM ARGUMENTS`: what a program prints, without the line break at its end.
    Exec(Vec<String>),
}

/// A reference that does not have one of the forms.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`${{{written}}}` does not name a secret: {expected}")]
pub struct ReferenceError {
    pub(crate) written: String,
    pub(crate) expected: &'static str,
}

const FORMS: &str = "write `secret:env/NAME`, `secret:file/PATH`, `secret:keyring/SERVICE/ACCOUNT`, `secret:op://VAULT/ITEM/FIELD`, `secret:vault/PATH#FIELD` or `secret:exec/PROGRAM ARGUMENTS`";

impl FromStr for Reference {
    type Err = ReferenceError;

    fn from_str(written: &str) -> Result<Self, ReferenceError> {
        let wrong = |expected| ReferenceError {
            written: written.to_owned(),
            expected,
        };
        let named = written.strip_prefix("secret:").ok_or(wrong(FORMS))?;
        if named.chars().any(char::is_control) {
            return Err(wrong("it has a control character, such as a line break"));
        }
        if named.contains(":-") {
            return Err(wrong(
                "a secret has no default: remove `:-` and what follows",
            ));
        }
        if let Some(path) = named.strip_prefix("op://") {
            let parts = path.split('/');
            let is_whole = parts.clone().count() >= 3 && parts.clone().all(|part| !part.is_empty());
            return match is_whole {
                true => Ok(Self::OnePassword(named.to_owned())),
                false => Err(wrong("write `secret:op://VAULT/ITEM/FIELD`")),
            };
        }
        let (source, name) = named.split_once('/').ok_or(wrong(FORMS))?;
        match source {
            "env" if is_variable_name(name) => Ok(Self::Env(name.to_owned())),
            "env" => Err(wrong("write the name of a variable after `secret:env/`")),
            "file" if !name.is_empty() => Ok(Self::File(name.to_owned())),
            "file" => Err(wrong("write a path after `secret:file/`")),
            "keyring" => match name.split_once('/') {
                Some((service, account)) if !service.is_empty() && !account.is_empty() => {
                    Ok(Self::Keyring {
                        service: service.to_owned(),
                        account: account.to_owned(),
                    })
                }
                _ => Err(wrong("write `secret:keyring/SERVICE/ACCOUNT`")),
            },
            "vault" => vault(name).ok_or(wrong(
                "write `secret:vault/PATH#FIELD`, for example `secret:vault/secret/data/github#token`",
            )),
            "exec" => {
                let words: Vec<String> = name.split_whitespace().map(str::to_owned).collect();
                match words.is_empty() {
                    true => Err(wrong("write a program after `secret:exec/`")),
                    false => Ok(Self::Exec(words)),
                }
            }
            _ => Err(wrong(FORMS)),
        }
    }
}

/// The path must not leave its place below `/v1/`, nor carry a query.
fn vault(name: &str) -> Option<Reference> {
    let (path, field) = name.split_once('#')?;
    let is_segment = |part: &str| {
        !matches!(part, "" | "." | "..")
            && part
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-._~@ ".contains(&byte))
    };
    let is_whole = !field.is_empty() && path.split('/').all(is_segment);
    is_whole.then(|| Reference::Vault {
        path: path.to_owned(),
        field: field.to_owned(),
    })
}

fn is_variable_name(name: &str) -> bool {
    let mut chars = name.chars();
    let is_first = |first: char| first.is_ascii_alphabetic() || first == '_';
    chars.next().is_some_and(is_first) && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

impl Reference {
    /// What is read at once: a secret of Vault has several fields, which change together.
    pub(crate) fn source(&self) -> Self {
        match self {
            Self::Vault { path, .. } => Self::Vault {
                path: path.clone(),
                field: String::new(),
            },
            other => other.clone(),
        }
    }

    /// The field of the source that this names.
    pub(crate) fn field(&self) -> &str {
        match self {
            Self::Vault { field, .. } => field,
            _ => "",
        }
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Env(name) => write!(f, "secret:env/{name}"),
            Self::File(path) => write!(f, "secret:file/{path}"),
            Self::Keyring { service, account } => write!(f, "secret:keyring/{service}/{account}"),
            Self::OnePassword(address) => write!(f, "secret:{address}"),
            Self::Vault { path, field } => write!(f, "secret:vault/{path}#{field}"),
            Self::Exec(words) => write!(f, "secret:exec/{}", words.join(" ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read_and_written_the_same() {
        for written in [
            "secret:env/GITHUB_TOKEN",
            "secret:file//run/secrets/token",
            "secret:file/~/.config/token",
            "secret:keyring/github.com/ada",
            "secret:op://Private/GitHub/token",
            "secret:op://Private/GitHub/api/token",
            "secret:vault/secret/data/github#token",
            "secret:vault/database/creds/app#password",
            "secret:exec/pass show github/token",
        ] {
            assert_eq!(written.parse::<Reference>().unwrap().to_string(), written);
        }
    }

    #[test]
    fn a_malformed_reference_is_one_sentence_that_says_what_to_write() {
        for (written, expected) in [
            ("secret:", "write `secret:env/NAME`"),
            ("secret:GITHUB_TOKEN", "write `secret:env/NAME`"),
            ("secret:aws/x", "write `secret:env/NAME`"),
            ("secret:env/", "the name of a variable"),
            ("secret:env/A-B", "the name of a variable"),
            ("secret:env/A:-b", "a secret has no default"),
            ("secret:file/", "write a path"),
            ("secret:file/a\nb", "control character"),
            ("secret:keyring/github.com", "SERVICE/ACCOUNT"),
            ("secret:op://Private/GitHub", "VAULT/ITEM/FIELD"),
            ("secret:op://Private//token", "VAULT/ITEM/FIELD"),
            ("secret:vault/secret/data/github", "PATH#FIELD"),
            ("secret:vault/secret/../../sys/seal#x", "PATH#FIELD"),
            ("secret:vault/secret/data/a?version=1#x", "PATH#FIELD"),
            ("secret:vault/secret/data/%2e%2e#x", "PATH#FIELD"),
            ("secret:exec/ ", "write a program"),
        ] {
            let error = written.parse::<Reference>().unwrap_err().to_string();
            assert!(error.contains(expected), "{written}: {error}");
            assert!(error.contains(&written[..7]), "{error}");
        }
    }

    #[test]
    fn the_fields_of_one_secret_of_vault_have_one_source() {
        let [user, password]: [Reference; 2] = ["username", "password"].map(|field| {
            format!("secret:vault/database/creds/app#{field}")
                .parse()
                .unwrap()
        });
        assert_eq!(user.source(), password.source());
        assert_ne!(user, password);
    }
}
