//! Signatures of webhooks and of replies to them, as Standard Webhooks has them: HMAC-SHA256 of
//! `id.timestamp.body`, in the headers `webhook-id`, `webhook-timestamp` and `webhook-signature`.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2_11::Sha256;

/// The header with the id of the message.
pub const ID: &str = "webhook-id";
/// The header with the time of the message, in seconds since 1970.
pub const TIMESTAMP: &str = "webhook-timestamp";
/// The header with the signatures, separated by spaces.
pub const SIGNATURE: &str = "webhook-signature";

/// The prefix of a secret in base64.
const PREFIX: &str = "whsec_";
/// Shorter secrets can be guessed.
const MIN_SECRET_BYTES: usize = 16;
/// A message may be signed with a few secrets, while one replaces another.
const MAX_SIGNATURES: usize = 8;
/// How far the clocks of the two sides may differ.
const TOLERANCE: Duration = Duration::from_secs(5 * 60);

/// The secret that both sides of a webhook have.
#[derive(Clone)]
pub struct WebhookSecret(Vec<u8>);

impl FromStr for WebhookSecret {
    type Err = SignatureError;

    /// `whsec_` and base64, or any text of at least 16 bytes.
    fn from_str(text: &str) -> Result<Self, SignatureError> {
        let bytes = match text.strip_prefix(PREFIX) {
            Some(encoded) => STANDARD
                .decode(encoded)
                .map_err(|_| SignatureError::NotBase64)?,
            None => text.as_bytes().to_vec(),
        };
        match bytes.len() < MIN_SECRET_BYTES {
            true => Err(SignatureError::ShortSecret),
            false => Ok(Self(bytes)),
        }
    }
}

impl fmt::Debug for WebhookSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebhookSecret(…)")
    }
}

/// Why a message is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// The secret is `whsec_` and something that is not base64.
    #[error("a secret that begins with `whsec_` goes on in base64")]
    NotBase64,
    /// The secret is too short.
    #[error(
        "a webhook's secret has at least {MIN_SECRET_BYTES} bytes; `openssl rand -base64 32` makes one"
    )]
    ShortSecret,
    /// A header is missing or has no such form.
    #[error("the headers `webhook-id`, `webhook-timestamp` and `webhook-signature` are needed")]
    Headers,
    /// The message is older than its tolerance, or of the future.
    #[error("its `webhook-timestamp` is more than 5 minutes from now")]
    Time,
    /// No signature fits.
    #[error("its `webhook-signature` does not fit")]
    Signature,
}

/// The headers of a signed message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signed {
    /// The id of the message.
    pub id: String,
    /// Seconds since 1970.
    pub timestamp: String,
    /// `v1,` and the signature in base64; several are separated by spaces.
    pub signature: String,
}

impl Signed {
    /// Signs a message.
    pub fn new(secret: &WebhookSecret, id: &str, body: &[u8]) -> Self {
        let timestamp = unix_seconds().to_string();
        let mac = mac(secret, id, &timestamp, body).finalize();
        Self {
            id: id.to_owned(),
            timestamp,
            signature: format!("v1,{}", STANDARD.encode(mac.into_bytes())),
        }
    }

    /// Reads the headers of a message by name.
    ///
    /// # Errors
    ///
    /// [`SignatureError::Headers`] if one is missing.
    pub fn from_headers<'h>(
        header: impl Fn(&str) -> Option<&'h str>,
    ) -> Result<Self, SignatureError> {
        let read = |name| {
            let value = header(name).filter(|value| !value.is_empty());
            value.map(str::to_owned).ok_or(SignatureError::Headers)
        };
        Ok(Self {
            id: read(ID)?,
            timestamp: read(TIMESTAMP)?,
            signature: read(SIGNATURE)?,
        })
    }

    /// Whether `body` was signed with this secret, within the last minutes.
    ///
    /// # Errors
    ///
    /// Why it is not accepted.
    pub fn verify(&self, secret: &WebhookSecret, body: &[u8]) -> Result<(), SignatureError> {
        let seconds: u64 = self
            .timestamp
            .parse()
            .map_err(|_| SignatureError::Headers)?;
        if unix_seconds().abs_diff(seconds) > TOLERANCE.as_secs() {
            return Err(SignatureError::Time);
        }
        let mac = mac(secret, &self.id, &self.timestamp, body);
        let mut signatures = self.signature.split(' ').take(MAX_SIGNATURES);
        let fits = signatures.any(|signature| {
            let encoded = signature.strip_prefix("v1,");
            let bytes = encoded.and_then(|encoded| STANDARD.decode(encoded).ok());
            // Compared in constant time.
            bytes.is_some_and(|bytes| mac.clone().verify_slice(&bytes).is_ok())
        });
        fits.then_some(()).ok_or(SignatureError::Signature)
    }
}

fn mac(secret: &WebhookSecret, id: &str, timestamp: &str, body: &[u8]) -> Hmac<Sha256> {
    let mut mac = match Hmac::<Sha256>::new_from_slice(&secret.0) {
        Ok(mac) => mac,
        // HMAC has keys of every length.
        Err(_) => unreachable!("HMAC refused a key"),
    };
    for part in [id.as_bytes(), b".", timestamp.as_bytes(), b".", body] {
        mac.update(part);
    }
    mac
}

fn unix_seconds() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default().as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(text: &str) -> WebhookSecret {
        text.parse().unwrap()
    }

    #[test]
    fn the_signature_is_that_of_standard_webhooks() {
        // The example of the specification.
        let secret = secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
        let body = br#"{"test": 2432232314}"#;
        let mac = mac(&secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", body);
        assert_eq!(
            STANDARD.encode(mac.finalize().into_bytes()),
            "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
        );
    }

    #[test]
    fn every_part_of_a_message_is_signed() {
        let key = secret("a secret of 16 bytes or more");
        let signed = Signed::new(&key, "id", b"body");
        assert_eq!(signed.verify(&key, b"body"), Ok(()));
        assert_eq!(signed.verify(&key, b"bodY"), Err(SignatureError::Signature));
        let other = Signed {
            id: "ie".to_owned(),
            ..signed.clone()
        };
        assert_eq!(other.verify(&key, b"body"), Err(SignatureError::Signature));
        let foreign = secret("another secret, not that one");
        assert_eq!(
            signed.verify(&foreign, b"body"),
            Err(SignatureError::Signature)
        );
        let old = Signed {
            timestamp: (unix_seconds() - 301).to_string(),
            ..signed.clone()
        };
        assert_eq!(old.verify(&key, b"body"), Err(SignatureError::Time));
        let rotated = Signed {
            signature: format!("v1,AAAA {}", signed.signature),
            ..signed
        };
        assert_eq!(rotated.verify(&key, b"body"), Ok(()));
    }

    #[test]
    fn a_secret_that_can_be_guessed_is_refused() {
        assert_eq!(
            "short".parse::<WebhookSecret>().unwrap_err(),
            SignatureError::ShortSecret
        );
        assert_eq!(
            "whsec_!".parse::<WebhookSecret>().unwrap_err(),
            SignatureError::NotBase64
        );
    }
}
