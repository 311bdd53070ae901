//! Sealing of values: XChaCha20-Poly1305 with random nonces.
//!
//! A sealed value is bound to its place (tenant, table, run, column, number), so a row that somebody
//! moves or copies in the database does not open. Values over [`INLINE_MAX`] are blobs: sealed on their
//! own, named by a keyed digest of the plain value, and the column holds an authenticated reference.

use chacha20poly1305::aead::{AeadInOut, KeyInit};
use chacha20poly1305::{Tag, XChaCha20Poly1305, XNonce};

use crate::error::StoreError;
use crate::key::{StoreKey, random_bytes};

/// The largest value that is kept in its row, in bytes. Larger ones would make pages of the database
/// mostly overflow.
pub(crate) const INLINE_MAX: usize = 256 * 1024;

const INLINE: u8 = 1;
const REFERENCE: u8 = 2;
const NONCE: usize = 24;
const TAG: usize = 16;

/// Where a sealed value is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    pub tenant: &'a str,
    pub table: &'static str,
    pub run: &'a str,
    pub column: &'static str,
    /// Which row of the run: a number, a key or an id.
    pub item: &'a str,
}

/// The name of a blob: a keyed digest of its tenant and its plain bytes.
pub(crate) type BlobName = [u8; 32];

/// A value that can be written.
pub(crate) struct Sealed {
    /// What the column holds.
    pub cell: Vec<u8>,
    /// What has to be written before the row.
    pub blob: Option<SealedBlob>,
}

/// A large value, sealed.
pub(crate) struct SealedBlob {
    pub name: BlobName,
    pub bytes: Vec<u8>,
}

/// A column that was opened.
pub(crate) enum Opened {
    Value(Vec<u8>),
    /// The value is in the blob of this name.
    Blob(BlobName),
}

/// A sealed value that does not open: it was changed, moved, or sealed with another key.
#[derive(Debug)]
pub(crate) struct DoesNotOpen;

/// Seals and opens values.
pub(crate) struct Vault {
    cipher: XChaCha20Poly1305,
    blob_names: [u8; 32],
    check: [u8; 32],
}

impl Vault {
    pub fn new(key: &StoreKey) -> Self {
        Self {
            cipher: XChaCha20Poly1305::new(&key.derive("pml store v1: sealed values").into()),
            blob_names: key.derive("pml store v1: names of blobs"),
            check: key.derive("pml store v1: check of the key"),
        }
    }

    /// What the store keeps to recognise its key. It does not help to find the key.
    pub fn check(&self) -> &[u8; 32] {
        &self.check
    }

    /// Seals a value for one place.
    pub fn seal(&self, place: Place<'_>, value: &[u8]) -> Result<Sealed, StoreError> {
        let aad = place.associated_data();
        if value.len() <= INLINE_MAX {
            let cell = self.encrypt(INLINE, &[], &aad, value)?;
            return Ok(Sealed { cell, blob: None });
        }
        let name = self.blob_name(place.tenant, value);
        let bytes = self.encrypt(INLINE, &[], &blob_aad(place.tenant, &name), value)?;
        let cell = self.encrypt(REFERENCE, &name, &aad, &[])?;
        let blob = Some(SealedBlob { name, bytes });
        Ok(Sealed { cell, blob })
    }

    /// Opens what a column holds.
    pub fn open(&self, place: Place<'_>, cell: &[u8]) -> Result<Opened, DoesNotOpen> {
        let aad = place.associated_data();
        match cell.split_first() {
            Some((&INLINE, _)) => Ok(Opened::Value(self.decrypt(cell, 0, &aad)?)),
            Some((&REFERENCE, _)) => {
                self.decrypt(cell, 32, &aad)?;
                let name = cell.get(1..33).and_then(|name| name.try_into().ok());
                name.map(Opened::Blob).ok_or(DoesNotOpen)
            }
            _ => Err(DoesNotOpen),
        }
    }

    /// Opens a blob.
    pub fn open_blob(
        &self,
        tenant: &str,
        name: &BlobName,
        bytes: &[u8],
    ) -> Result<Vec<u8>, DoesNotOpen> {
        match bytes.first() {
            Some(&INLINE) => self.decrypt(bytes, 0, &blob_aad(tenant, name)),
            _ => Err(DoesNotOpen),
        }
    }

    fn blob_name(&self, tenant: &str, value: &[u8]) -> BlobName {
        let mut hasher = blake3::Hasher::new_keyed(&self.blob_names);
        hasher.update(&length(tenant)).update(tenant.as_bytes());
        *hasher.update(value).finalize().as_bytes()
    }

    /// `kind`, `head`, nonce, ciphertext, tag. The head is authenticated and readable.
    fn encrypt(
        &self,
        kind: u8,
        head: &[u8],
        aad: &[u8],
        value: &[u8],
    ) -> Result<Vec<u8>, StoreError> {
        let nonce: [u8; NONCE] = random_bytes()?;
        let mut sealed = Vec::with_capacity(1 + head.len() + NONCE + value.len() + TAG);
        sealed.push(kind);
        sealed.extend_from_slice(head);
        let aad = [aad, &sealed].concat();
        sealed.extend_from_slice(&nonce);
        let start = sealed.len();
        sealed.extend_from_slice(value);
        let tag = self
            .cipher
            .encrypt_inout_detached(&XNonce::from(nonce), &aad, (&mut sealed[start..]).into())
            .map_err(|_| StoreError::TooLarge)?;
        sealed.extend_from_slice(&tag);
        Ok(sealed)
    }

    fn decrypt(&self, sealed: &[u8], head: usize, aad: &[u8]) -> Result<Vec<u8>, DoesNotOpen> {
        let (head, rest) = sealed.split_at_checked(1 + head).ok_or(DoesNotOpen)?;
        let (nonce, rest) = rest.split_first_chunk::<NONCE>().ok_or(DoesNotOpen)?;
        let (value, tag) = rest.split_last_chunk::<TAG>().ok_or(DoesNotOpen)?;
        let mut value = value.to_vec();
        self.cipher
            .decrypt_inout_detached(
                &XNonce::from(*nonce),
                &[aad, head].concat(),
                value.as_mut_slice().into(),
                &Tag::from(*tag),
            )
            .map_err(|_| DoesNotOpen)?;
        Ok(value)
    }
}

impl Place<'_> {
    /// The parts with their lengths, so that no two places have the same bytes.
    fn associated_data(self) -> Vec<u8> {
        let parts = [self.tenant, self.table, self.run, self.column, self.item];
        let mut bytes = Vec::with_capacity(128);
        for part in parts {
            bytes.extend_from_slice(&length(part));
            bytes.extend_from_slice(part.as_bytes());
        }
        bytes
    }
}

fn blob_aad(tenant: &str, name: &BlobName) -> Vec<u8> {
    [b"blob", &length(tenant)[..], tenant.as_bytes(), name].concat()
}

fn length(text: &str) -> [u8; 8] {
    (text.len() as u64).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: Place<'_> = Place {
        tenant: "local",
        table: "pml_entries",
        run: "r1",
        column: "answer",
        item: "7",
    };

    fn vault() -> Vault {
        Vault::new(&"11".repeat(32).parse().unwrap())
    }

    fn opened(vault: &Vault, place: Place<'_>, sealed: &Sealed) -> Option<Vec<u8>> {
        match vault.open(place, &sealed.cell).ok()? {
            Opened::Value(value) => Some(value),
            Opened::Blob(name) => {
                let blob = sealed.blob.as_ref()?;
                assert_eq!(blob.name, name);
                vault.open_blob(place.tenant, &name, &blob.bytes).ok()
            }
        }
    }

    #[test]
    fn a_value_opens_in_its_place_and_nowhere_else() {
        let vault = vault();
        for value in [&b""[..], b"secret", &vec![7; INLINE_MAX + 1]] {
            let sealed = vault.seal(PLACE, value).unwrap();
            assert_eq!(sealed.blob.is_some(), value.len() > INLINE_MAX);
            assert_eq!(opened(&vault, PLACE, &sealed).unwrap(), value);
            for other in [
                Place {
                    tenant: "other",
                    ..PLACE
                },
                Place {
                    table: "pml_runs",
                    ..PLACE
                },
                Place { run: "r2", ..PLACE },
                Place {
                    column: "request",
                    ..PLACE
                },
                Place { item: "8", ..PLACE },
                Place {
                    run: "r",
                    item: "17",
                    ..PLACE
                },
            ] {
                assert!(opened(&vault, other, &sealed).is_none(), "{other:?}");
            }
        }
    }

    #[test]
    fn a_changed_byte_does_not_open() {
        let vault = vault();
        for value in [vec![1; 40], vec![1; INLINE_MAX + 1]] {
            let sealed = vault.seal(PLACE, &value).unwrap();
            for at in 0..sealed.cell.len() {
                let mut cell = sealed.cell.clone();
                cell[at] ^= 1;
                assert!(vault.open(PLACE, &cell).is_err(), "byte {at}");
            }
        }
        assert!(vault.open(PLACE, &[]).is_err());
        assert!(vault.open(PLACE, &[INLINE; 20]).is_err());
    }

    #[test]
    fn another_key_opens_nothing() {
        let sealed = vault().seal(PLACE, b"secret").unwrap();
        let other = Vault::new(&"22".repeat(32).parse().unwrap());
        assert!(other.open(PLACE, &sealed.cell).is_err());
        assert_ne!(other.check(), vault().check());
    }

    #[test]
    fn equal_blobs_of_a_tenant_share_a_name_and_those_of_two_tenants_do_not() {
        let vault = vault();
        let value = vec![3; INLINE_MAX + 1];
        let name = |tenant| {
            let place = Place { tenant, ..PLACE };
            vault.seal(place, &value).unwrap().blob.unwrap().name
        };
        assert_eq!(name("a"), name("a"));
        assert_ne!(name("a"), name("b"));
    }
}
