//! Who a request is from: plain bearer tokens, and capability tokens.

use axum::http::HeaderMap;
use pml_tokens::{CapabilityStore, SignedToken, TokenError};

use super::tokens::{BearerTokens, bearer};
use crate::client_identity::ClientIdentity;

/// What a server accepts in the header `Authorization`.
#[derive(Debug, Clone, Default)]
pub struct Authentication {
    /// The tokens of the operator. Without any, a request needs none.
    pub plain: BearerTokens,
    /// What verifies capability tokens; `None` where none are accepted.
    pub capabilities: Option<CapabilityStore>,
}

/// A request that is not let in.
#[derive(Debug, PartialEq, Eq)]
pub struct Unauthorized {
    /// Why, in one sentence.
    pub message: String,
    /// Whether it has a token.
    pub has_token: bool,
}

impl Authentication {
    /// Who sent the request. A capability token binds its holder also where no token is needed.
    pub(super) fn identify(&self, headers: &HeaderMap) -> Result<ClientIdentity, Unauthorized> {
        if !self.plain.is_empty()
            && let Some(principal) = self.plain.principal(headers)
        {
            return Ok(ClientIdentity::named(principal));
        }
        let store = self.capabilities.as_ref().filter(|store| store.has_keys());
        let Some((store, given)) = store.zip(bearer(headers)) else {
            return self.without_token();
        };
        let opened = given
            .parse::<SignedToken>()
            .and_then(|token| store.open(&token));
        match opened {
            Ok(capability) => Ok(ClientIdentity::holding(capability)),
            // It is no token of ours, and none is needed.
            Err(TokenError::Damaged) if self.plain.is_empty() => Ok(ClientIdentity::local()),
            Err(TokenError::Damaged) => Err(Unauthorized {
                message: "the bearer token is unknown, or a capability token that is damaged or truncated: copy all of it".to_owned(),
                has_token: true,
            }),
            Err(error) => Err(Unauthorized {
                message: error.to_string(),
                has_token: true,
            }),
        }
    }

    fn without_token(&self) -> Result<ClientIdentity, Unauthorized> {
        match self.plain.is_empty() {
            true => Ok(ClientIdentity::local()),
            false => Err(Unauthorized {
                message: "a bearer token is needed".to_owned(),
                has_token: false,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use pml_protocol::Principal;
    use pml_tokens::{Grant, Restriction, RootKey};

    use super::*;

    fn token(key: &RootKey, expires: Option<u64>) -> String {
        let restriction = Restriction {
            expires,
            ..Restriction::to(["fs:*".parse().unwrap()])
        };
        let grant = Grant::new("local", "ci", restriction).unwrap();
        SignedToken::mint(key, &grant).unwrap().expose().to_owned()
    }

    fn authentication(plain: &str, folder: &Path, key: &RootKey) -> Authentication {
        Authentication {
            plain: match plain {
                "" => BearerTokens::none(),
                plain => BearerTokens::parse(plain).unwrap(),
            },
            capabilities: Some(CapabilityStore::new(folder, vec![key.public()])),
        }
    }

    fn identify(with: &Authentication, token: &str) -> Result<ClientIdentity, Unauthorized> {
        let mut headers = HeaderMap::new();
        let value = format!("Bearer {token}").parse().unwrap();
        headers.insert(axum::http::header::AUTHORIZATION, value);
        with.identify(&headers)
    }

    #[test]
    fn plain_tokens_and_capability_tokens_are_accepted_side_by_side() {
        let folder = tempfile::tempdir().unwrap();
        let key = RootKey::generate();
        let with = authentication("0123456789abcdef", folder.path(), &key);
        let plain = identify(&with, "0123456789abcdef").unwrap();
        assert!(!plain.is_holder());
        let holder = identify(&with, &token(&key, None)).unwrap();
        assert!(holder.is_holder());
        assert!(holder.principal().as_str().starts_with("ci@"));
        let missing = with.identify(&HeaderMap::new()).unwrap_err();
        assert!(!missing.has_token);
    }

    #[test]
    fn each_refusal_is_one_sentence() {
        let folder = tempfile::tempdir().unwrap();
        let key = RootKey::generate();
        let with = authentication("0123456789abcdef", folder.path(), &key);
        let valid = token(&key, None);
        for (given, words) in [
            (
                token(&RootKey::generate(), None),
                "not signed with the root key",
            ),
            (
                token(&key, Some(1_000_000_000)),
                "expired at 2001-09-09T01:46:40Z",
            ),
            (valid[..valid.len() / 2].to_owned(), "damaged or truncated"),
            ("0123456789abcdeg".to_owned(), "unknown"),
        ] {
            let refused = identify(&with, &given).unwrap_err();
            assert!(refused.message.contains(words), "{}", refused.message);
            assert!(refused.has_token && !refused.message.contains(". "));
        }
    }

    #[test]
    fn a_capability_binds_its_holder_where_no_token_is_needed() {
        let folder = tempfile::tempdir().unwrap();
        let key = RootKey::generate();
        let open = authentication("", folder.path(), &key);
        assert!(identify(&open, &token(&key, None)).unwrap().is_holder());
        assert!(identify(&open, &token(&key, Some(1_000_000_000))).is_err());
        let other = identify(&open, "a token of something else").unwrap();
        assert_eq!(other.principal(), &Principal::local());
    }

    #[test]
    fn without_a_root_key_capability_tokens_are_unknown() {
        let key = RootKey::generate();
        let mut with = authentication("0123456789abcdef", Path::new("."), &key);
        with.capabilities = None;
        let refused = identify(&with, &token(&key, None)).unwrap_err();
        assert_eq!(refused.message, "a bearer token is needed");
    }
}
