//! Signed notes and their keys, in the form of C2SP `signed-note` (Ed25519).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::rand::SystemRandom;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};

use crate::error::AuditError;
use crate::hash::Hash;

/// The algorithm byte of Ed25519.
const ED25519_TYPE: u8 = 1;

/// The four bytes by which a signature names its key.
fn key_id(name: &str, public: &[u8]) -> [u8; 4] {
    let hash = Hash::of_parts(&[name.as_bytes(), b"\n", &[ED25519_TYPE], public]);
    [hash.0[0], hash.0[1], hash.0[2], hash.0[3]]
}

fn hex(id: [u8; 4]) -> String {
    format!("{:08x}", u32::from_be_bytes(id))
}

/// A key that signs checkpoints.
pub struct SigningKey {
    name: String,
    seed: [u8; 32],
    pair: Ed25519KeyPair,
}

impl SigningKey {
    /// A new key with this name, which must not contain spaces or `+`.
    ///
    /// # Errors
    ///
    /// The system has no randomness.
    pub fn generate(name: &str) -> Result<Self, AuditError> {
        let mut seed = [0; 32];
        ring::rand::SecureRandom::fill(&SystemRandom::new(), &mut seed)
            .map_err(|_| AuditError::invalid("key", "the system has no randomness"))?;
        Self::from_seed(name, seed)
    }

    fn from_seed(name: &str, seed: [u8; 32]) -> Result<Self, AuditError> {
        if name.is_empty() || name.contains(|c: char| c.is_whitespace() || c == '+') {
            let reason = format!("`{name}` is not the name of a key");
            return Err(AuditError::invalid("key", reason));
        }
        let pair = Ed25519KeyPair::from_seed_unchecked(&seed)
            .map_err(|_| AuditError::invalid("key", "it is not an Ed25519 seed"))?;
        Ok(Self {
            name: name.to_owned(),
            seed,
            pair,
        })
    }

    /// Reads `PRIVATE+KEY+name+id+base64`.
    ///
    /// # Errors
    ///
    /// The text does not have that form.
    pub fn parse(text: &str) -> Result<Self, AuditError> {
        let invalid = |reason: &str| AuditError::invalid("signing key", reason);
        let rest = text.trim().strip_prefix("PRIVATE+KEY+");
        let mut parts = rest
            .ok_or_else(|| invalid("expected PRIVATE+KEY+name+id+base64"))?
            .splitn(3, '+');
        let (Some(name), Some(id), Some(key)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(invalid("expected PRIVATE+KEY+name+id+base64"));
        };
        let key = STANDARD
            .decode(key)
            .map_err(|_| invalid("its last part is not base64"))?;
        let seed = key
            .strip_prefix(&[ED25519_TYPE])
            .and_then(|seed| seed.try_into().ok());
        let key = Self::from_seed(name, seed.ok_or_else(|| invalid("it is not of Ed25519"))?)?;
        if hex(key.id()) != id {
            return Err(invalid("its id is not that of its name and its public key"));
        }
        Ok(key)
    }

    /// The form that [`SigningKey::parse`] reads. It is a secret.
    pub fn to_secret_text(&self) -> String {
        let key = STANDARD.encode([&[ED25519_TYPE], &self.seed[..]].concat());
        format!("PRIVATE+KEY+{}+{}+{key}", self.name, hex(self.id()))
    }

    fn id(&self) -> [u8; 4] {
        key_id(&self.name, self.pair.public_key().as_ref())
    }

    /// The name of the key, which is the origin of the log.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The key that verifies the signatures.
    pub fn verifying_key(&self) -> VerifyingKey {
        VerifyingKey {
            name: self.name.clone(),
            public: self.pair.public_key().as_ref().to_vec(),
        }
    }

    /// Signs a text, which ends with a newline.
    pub fn sign(&self, text: &str) -> String {
        let signature = self.pair.sign(text.as_bytes());
        let signature = STANDARD.encode([&self.id()[..], signature.as_ref()].concat());
        format!("{text}\n\u{2014} {} {signature}\n", self.name)
    }
}

/// A key that verifies checkpoints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifyingKey {
    name: String,
    public: Vec<u8>,
}

impl VerifyingKey {
    /// Reads `name+id+base64`.
    ///
    /// # Errors
    ///
    /// The text does not have that form.
    pub fn parse(text: &str) -> Result<Self, AuditError> {
        let invalid = |reason: &str| AuditError::invalid("verifying key", reason);
        let mut parts = text.trim().splitn(3, '+');
        let (Some(name), Some(id), Some(key)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(invalid("expected name+id+base64"));
        };
        let key = STANDARD
            .decode(key)
            .map_err(|_| invalid("its last part is not base64"))?;
        let public = match key.split_first() {
            Some((&ED25519_TYPE, public)) if public.len() == 32 => public,
            _ => return Err(invalid("it is not of Ed25519")),
        };
        if hex(key_id(name, public)) != id {
            return Err(invalid("its id is not that of its name and its key"));
        }
        Ok(Self {
            name: name.to_owned(),
            public: public.to_vec(),
        })
    }

    /// The form that [`VerifyingKey::parse`] reads.
    pub fn to_text(&self) -> String {
        let key = STANDARD.encode([&[ED25519_TYPE], &self.public[..]].concat());
        format!(
            "{}+{}+{key}",
            self.name,
            hex(key_id(&self.name, &self.public))
        )
    }

    /// The name of the key.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// A text with a valid signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedNote {
    text: String,
}

impl SignedNote {
    /// Reads a note that `key` has signed. Signatures of other keys are ignored.
    ///
    /// # Errors
    ///
    /// The note does not have its form, or no signature of the key is valid.
    pub fn open(note: &str, key: &VerifyingKey) -> Result<Self, AuditError> {
        let invalid = |reason: &str| AuditError::invalid("signed note", reason);
        let (text, signatures) = note
            .rsplit_once("\n\n")
            .ok_or_else(|| invalid("there is no empty line before signatures"))?;
        let text = format!("{text}\n");
        let id = key_id(&key.name, &key.public);
        let lines = signatures.strip_suffix('\n');
        let lines = lines.ok_or_else(|| invalid("it does not end with a newline"))?;
        let mut is_signed = false;
        for line in lines.split('\n') {
            let parts = line
                .strip_prefix("\u{2014} ")
                .and_then(|line| line.split_once(' '));
            let (name, signature) =
                parts.ok_or_else(|| invalid("a signature line does not have its form"))?;
            let signature = STANDARD
                .decode(signature)
                .map_err(|_| invalid("a signature is not base64"))?;
            if name != key.name || !signature.starts_with(&id) {
                continue;
            }
            let public = UnparsedPublicKey::new(&ED25519, &key.public);
            let verified = public.verify(text.as_bytes(), &signature[id.len()..]);
            verified.map_err(|_| invalid("its signature is not of this text and this key"))?;
            is_signed = true;
        }
        match is_signed {
            true => Ok(Self { text }),
            false => Err(invalid("it has no signature of the key of the log")),
        }
    }

    /// The text without its signatures.
    pub fn text(&self) -> &str {
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of Go's `golang.org/x/mod/sumdb/note`.
    const KEY: &str = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
    const NOTE: &str = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n\n\u{2014} PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n";

    #[test]
    fn a_note_of_another_implementation_is_verified() {
        let key = VerifyingKey::parse(KEY).unwrap();
        assert_eq!(key.to_text(), KEY);
        let note = SignedNote::open(NOTE, &key).unwrap();
        assert!(note.text().ends_with("your problem is.\n"));
        let changed = NOTE.replace("answer", "Answer");
        assert!(SignedNote::open(&changed, &key).is_err());
    }

    #[test]
    fn a_key_is_read_as_it_is_written_and_others_do_not_verify() {
        let key = SigningKey::generate("pml.example/log").unwrap();
        let read = SigningKey::parse(&key.to_secret_text()).unwrap();
        let note = read.sign("a\nb\n");
        assert_eq!(
            SignedNote::open(&note, &key.verifying_key())
                .unwrap()
                .text(),
            "a\nb\n"
        );
        let other = SigningKey::generate("pml.example/log").unwrap();
        assert!(SignedNote::open(&note, &other.verifying_key()).is_err());
        for text in ["", "PRIVATE+KEY+a+b", "PRIVATE+KEY+a+00000000+AAAA"] {
            assert!(SigningKey::parse(text).is_err(), "{text}");
        }
    }
}
