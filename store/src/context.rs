//! What every work on the store needs besides its transaction: the vault and the owner.

use std::sync::Arc;
use std::time::Duration;

use crate::error::StoreError;
use crate::options::Durability;
use crate::sql::{Transaction, UnexpectedColumn, statement};
use crate::vault::{Opened, Place, Vault};

/// A store that is open.
pub(crate) struct Context {
    /// The store in messages.
    pub store: Arc<str>,
    pub vault: Vault,
    /// The text form of this process as an [`Owner`](crate::owner::Owner).
    pub owner: String,
    pub lease: Duration,
    pub durability: Durability,
}

impl Context {
    /// Seals a value for its place, and writes its blob if it is large.
    pub async fn seal<T: Transaction>(
        &self,
        transaction: &mut T,
        place: Place<'_>,
        value: &[u8],
    ) -> Result<Vec<u8>, StoreError> {
        let sealed = self.vault.seal(place, value)?;
        if let Some(blob) = sealed.blob {
            let reference = statement!(
                "INSERT INTO pml_blob_refs (tenant, run, source, name) VALUES ($1, $2, $3, $4) \
                 ON CONFLICT DO NOTHING",
                place.tenant,
                place.run,
                place.table,
                &blob.name,
            );
            transaction.put_blob(place.tenant, blob).await?;
            transaction.execute(reference).await?;
        }
        Ok(sealed.cell)
    }

    /// Opens what a column holds.
    pub async fn open<T: Transaction>(
        &self,
        transaction: &mut T,
        place: Place<'_>,
        cell: &[u8],
    ) -> Result<Vec<u8>, StoreError> {
        let changed = |_| {
            self.damaged(format_args!(
                "`{}` of run `{}` was changed, or sealed with another key",
                place.column, place.run
            ))
        };
        match self.vault.open(place, cell).map_err(changed)? {
            Opened::Value(value) => Ok(value),
            Opened::Blob(name) => {
                let bytes = transaction.blob(place.tenant, name).await?.ok_or_else(|| {
                    self.damaged(format_args!(
                        "the blob of `{}` of run `{}` is missing",
                        place.column, place.run
                    ))
                })?;
                let opened = self.vault.open_blob(place.tenant, &name, &bytes);
                opened.map_err(changed)
            }
        }
    }

    /// The error of a store with content that pml did not write.
    pub fn damaged(&self, detail: impl ToString) -> StoreError {
        StoreError::Damaged {
            store: self.store.clone(),
            detail: detail.to_string(),
        }
    }

    /// The error of a row that cannot be read.
    pub fn unexpected(&self, _: UnexpectedColumn) -> StoreError {
        self.damaged("a row has a column of another type")
    }

    /// The length of a lease in milliseconds.
    pub fn lease_ms(&self) -> u64 {
        self.lease.as_millis().try_into().unwrap_or(u64::MAX)
    }
}
