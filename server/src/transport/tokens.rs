//! The bearer tokens of clients. Each token is a principal of its own.

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use pml_protocol::Principal;
use sha2::{Digest, Sha256};

use crate::error::ServeError;

/// The shortest token, in bytes.
const MIN_TOKEN: usize = 16;

/// The tokens that clients may present. Only digests are kept: comparing digests takes the same time
/// for every wrong token, whatever its length and its first characters are.
#[derive(Debug, Clone, Default)]
pub struct BearerTokens(Vec<(TokenDigest, Principal)>);

type TokenDigest = [u8; 32];

impl BearerTokens {
    /// No token: every client is the local principal.
    pub fn none() -> Self {
        Self::default()
    }

    /// The tokens of a text, one per line. Blank lines and lines that begin with `#` are skipped.
    ///
    /// # Errors
    ///
    /// [`ServeError::TokenTooShort`] for a token that can be guessed, [`ServeError::NoToken`] for a
    /// text without any: a file that was emptied by mistake must not open the server.
    pub fn parse(text: &str) -> Result<Self, ServeError> {
        let lines = text.lines().map(str::trim);
        let tokens: Vec<&str> = lines
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .collect();
        if let Some(short) = tokens.iter().find(|token| token.len() < MIN_TOKEN) {
            return Err(ServeError::TokenTooShort(short.len()));
        }
        if tokens.is_empty() {
            return Err(ServeError::NoToken);
        }
        Ok(Self(tokens.into_iter().map(entry).collect()))
    }

    /// A new token of 256 random bits, and the tokens that consist of it.
    ///
    /// # Errors
    ///
    /// The kernel has no randomness.
    pub fn generate() -> Result<(String, Self), ServeError> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(std::io::Error::from)?;
        let token = hex(&bytes);
        let tokens = Self(vec![entry(&token)]);
        Ok((token, tokens))
    }

    /// Whether clients need no token.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The principal of a request; `None` if it has no valid token.
    pub(super) fn principal(&self, headers: &HeaderMap) -> Option<Principal> {
        if self.is_empty() {
            return Some(Principal::local());
        }
        let given = digest(bearer(headers)?);
        // Every digest is compared in full, so the time does not tell which one is near.
        self.0.iter().fold(None, |found, (known, principal)| {
            match is_equal(known, &given) {
                true => Some(principal.clone()),
                false => found,
            }
        })
    }
}

/// The bearer token of a request; `None` if it has none, or several.
pub(super) fn bearer(headers: &HeaderMap) -> Option<&str> {
    // Two headers may name two principals, one of which an intermediary has seen.
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        return None;
    };
    let (scheme, given) = value.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| given.trim())
}

fn entry(token: &str) -> (TokenDigest, Principal) {
    let digest = digest(token);
    // The first bytes of a digest do not help to guess the token.
    let principal = Principal::named(&format!("token-{}", hex(&digest[..6])));
    (digest, principal)
}

fn digest(token: &str) -> TokenDigest {
    Sha256::digest(token.as_bytes()).into()
}

/// Compares in a time that does not depend on where the difference is.
fn is_equal(a: &TokenDigest, b: &TokenDigest) -> bool {
    a.iter().zip(b).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "a-token-hard-to-guess";

    fn principal(tokens: &BearerTokens, authorization: &str) -> Option<Principal> {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, authorization.parse().unwrap());
        tokens.principal(&headers)
    }

    #[test]
    fn only_the_exact_token_is_accepted() {
        let tokens = BearerTokens::parse(TOKEN).unwrap();
        for right in [
            "Bearer a-token-hard-to-guess",
            "bearer a-token-hard-to-guess",
        ] {
            assert!(principal(&tokens, right).is_some(), "{right}");
        }
        for wrong in [
            "Bearer a-token-hard-to-gues",
            "Bearer a-token-hard-to-guess1",
            "Bearer ",
            "Basic a-token-hard-to-guess",
            "a-token-hard-to-guess",
        ] {
            assert!(principal(&tokens, wrong).is_none(), "{wrong}");
        }
        assert!(tokens.principal(&HeaderMap::new()).is_none());
    }

    #[test]
    fn two_tokens_in_one_request_are_refused() {
        let tokens = BearerTokens::parse(TOKEN).unwrap();
        let mut headers = HeaderMap::new();
        headers.append(AUTHORIZATION, format!("Bearer {TOKEN}").parse().unwrap());
        headers.append(AUTHORIZATION, "Bearer other".parse().unwrap());
        assert!(tokens.principal(&headers).is_none());
    }

    #[test]
    fn each_line_is_a_principal_of_its_own() {
        let text = format!("# laptop\n{TOKEN}\n\n# build server\nanother-token-of-mine\n");
        let tokens = BearerTokens::parse(&text).unwrap();
        let one = principal(&tokens, &format!("Bearer {TOKEN}")).unwrap();
        let other = principal(&tokens, "Bearer another-token-of-mine").unwrap();
        assert_ne!(one, other);
        assert_ne!(one, Principal::local());
        assert!(!one.as_str().contains("token-hard"), "{one}");
    }

    #[test]
    fn a_weak_token_or_a_file_without_one_is_refused() {
        let error = BearerTokens::parse("long-enough-token\nshort\n").unwrap_err();
        assert!(matches!(error, ServeError::TokenTooShort(5)), "{error}");
        for empty in ["", "\n\n", "# only a comment\n"] {
            let error = BearerTokens::parse(empty).unwrap_err();
            assert!(matches!(error, ServeError::NoToken), "{error}");
        }
    }

    #[test]
    fn a_generated_token_is_new_each_time() {
        let (one, tokens) = BearerTokens::generate().unwrap();
        let (other, _) = BearerTokens::generate().unwrap();
        assert_ne!(one, other);
        assert_eq!(one.len(), 64);
        assert!(principal(&tokens, &format!("Bearer {one}")).is_some());
        assert!(principal(&tokens, &format!("Bearer {other}")).is_none());
    }
}
