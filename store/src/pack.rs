//! Packed journals: many entries in one value, compressed and then sealed.

use pml_protocol::{RunId, TenantId};

use crate::context::Context;
use crate::error::StoreError;
use crate::model::JournalEntry;
use crate::rows::{CHECKPOINTS, ENTRIES, ENTRY_COLUMNS, decode_entry, open_entry};
use crate::sql::{Row, Transaction, UnexpectedColumn, Value, Work, statement};
use crate::vault::Place;

/// A pack is full when its entries have this many bytes: it bounds the memory of packing a long journal.
const PACK_BYTES: usize = 1024 * 1024;

/// How many entries are read at once.
const READ_ROWS: usize = 64;

/// Packs the journal of an ended run, and drops its checkpoints.
pub(crate) struct Pack {
    pub tenant: TenantId,
    pub id: RunId,
}

impl Work for Pack {
    type Output = ();

    fn is_durable(&self) -> bool {
        true
    }

    async fn run<T: Transaction>(
        &self,
        transaction: &mut T,
        context: &Context,
    ) -> Result<(), StoreError> {
        let (tenant, id) = (self.tenant.as_str(), self.id.as_str());
        // The row is locked first, so of two processes only one packs.
        let marked = transaction
            .execute(statement!(
                "UPDATE pml_runs SET packed = 1 \
                 WHERE tenant = $1 AND id = $2 AND packed = 0 AND ended IS NOT NULL",
                tenant,
                id,
            ))
            .await?;
        if marked == 0 {
            return Ok(());
        }
        let mut packed = Vec::new();
        let mut last = 0;
        loop {
            let entries = self.read(transaction, context, last).await?;
            let Some(entry) = entries.last() else { break };
            last = entry.number;
            for entry in &entries {
                encode(&mut packed, entry);
                if packed.len() >= PACK_BYTES {
                    self.write(transaction, context, entry.number, &packed)
                        .await?;
                    packed.clear();
                }
            }
        }
        if !packed.is_empty() {
            self.write(transaction, context, last, &packed).await?;
        }
        for table in [ENTRIES, CHECKPOINTS] {
            let delete = format!("DELETE FROM {table} WHERE tenant = $1 AND run = $2");
            transaction.execute(statement!(delete, tenant, id)).await?;
            transaction
                .execute(statement!(
                    "DELETE FROM pml_blob_refs WHERE tenant = $1 AND run = $2 AND source = $3",
                    tenant,
                    id,
                    table,
                ))
                .await?;
        }
        Ok(())
    }
}

impl Pack {
    async fn read<T: Transaction>(
        &self,
        transaction: &mut T,
        context: &Context,
        after: u32,
    ) -> Result<Vec<JournalEntry>, StoreError> {
        let rows = transaction
            .query(statement!(
                format!(
                    "SELECT {ENTRY_COLUMNS} FROM {ENTRIES} WHERE tenant = $1 AND run = $2 \
                     AND number > $3 ORDER BY number LIMIT {READ_ROWS}"
                ),
                self.tenant.as_str(),
                self.id.as_str(),
                after,
            ))
            .await?;
        let mut entries = Vec::with_capacity(rows.len());
        for row in rows {
            let entry = decode_entry(row).map_err(|error| context.unexpected(error))?;
            let run = (&self.tenant, &self.id);
            entries.push(open_entry(transaction, context, run, entry).await?);
        }
        Ok(entries)
    }

    async fn write<T: Transaction>(
        &self,
        transaction: &mut T,
        context: &Context,
        number: u32,
        packed: &[u8],
    ) -> Result<(), StoreError> {
        let item = number.to_string();
        let place = place((&self.tenant, &self.id), &item);
        let compressed = lz4_flex::compress_prepend_size(packed);
        let entries = context.seal(transaction, place, &compressed).await?;
        transaction
            .execute(statement!(
                "INSERT INTO pml_packs (tenant, run, number, entries) VALUES ($1, $2, $3, $4)",
                self.tenant.as_str(),
                self.id.as_str(),
                number,
                entries,
            ))
            .await?;
        Ok(())
    }
}

/// The entries of a packed journal; none if the run is not packed.
pub(crate) async fn read_packs<T: Transaction>(
    transaction: &mut T,
    context: &Context,
    run: (&TenantId, &RunId),
) -> Result<Vec<JournalEntry>, StoreError> {
    let rows = transaction
        .query(statement!(
            "SELECT number, entries FROM pml_packs WHERE tenant = $1 AND run = $2 ORDER BY number",
            run.0.as_str(),
            run.1.as_str(),
        ))
        .await?;
    let mut entries = Vec::new();
    for mut row in rows {
        let columns = row
            .number::<u32>()
            .and_then(|number| Ok((number, row.bytes()?)));
        let (number, sealed) = columns.map_err(|error| context.unexpected(error))?;
        let item = number.to_string();
        let compressed = context
            .open(transaction, place(run, &item), &sealed)
            .await?;
        let packed = lz4_flex::decompress_size_prepended(&compressed)
            .map_err(|error| context.damaged(format_args!("a packed journal: {error}")))?;
        decode(&packed, &mut entries).map_err(|error| context.unexpected(error))?;
    }
    Ok(entries)
}

fn place<'a>((tenant, run): (&'a TenantId, &'a RunId), item: &'a str) -> Place<'a> {
    Place {
        tenant: tenant.as_str(),
        table: "pml_packs",
        run: run.as_str(),
        column: "entries",
        item,
    }
}

/// Appends the columns of an entry, in the order of [`ENTRY_COLUMNS`]: their number, then each with a
/// byte for its type, its length, and its bytes.
fn encode(packed: &mut Vec<u8>, entry: &JournalEntry) {
    let columns = [
        Value::from(entry.number),
        Value::from(&entry.key),
        Value::from(entry.occurrence),
        Value::from(entry.title.as_str()),
        Value::from(entry.class.map(|class| class.as_str())),
        Value::from(entry.state.as_str()),
        Value::from(entry.request.clone()),
        Value::from(entry.answer.clone()),
        Value::from(entry.answer_order),
        Value::from(entry.clock_ms),
        Value::from(entry.at),
    ];
    // Eleven columns.
    packed.push(columns.len() as u8);
    for column in &columns {
        let number;
        let (kind, bytes): (u8, &[u8]) = match column {
            Value::Null => (0, &[]),
            Value::Int(value) => {
                number = value.to_le_bytes();
                (1, &number)
            }
            Value::Text(text) => (2, text.as_bytes()),
            Value::Bytes(bytes) => (3, bytes),
        };
        packed.push(kind);
        packed.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        packed.extend_from_slice(bytes);
    }
}

/// Reads what [`encode`] wrote.
fn decode(packed: &[u8], entries: &mut Vec<JournalEntry>) -> Result<(), UnexpectedColumn> {
    let mut rest = packed;
    let mut take = |length: usize| {
        let (taken, left) = rest.split_at_checked(length)?;
        rest = left;
        Some(taken)
    };
    while let Some(count) = take(1) {
        let mut columns = Vec::with_capacity(count[0].into());
        for _ in 0..count[0] {
            columns.push(decode_value(&mut take).ok_or(UnexpectedColumn)?);
        }
        entries.push(decode_entry(Row::new(columns))?);
    }
    Ok(())
}

fn decode_value<'a>(take: &mut impl FnMut(usize) -> Option<&'a [u8]>) -> Option<Value> {
    let kind = take(1)?[0];
    let length = u64::from_le_bytes(take(8)?.try_into().ok()?);
    let bytes = take(length.try_into().ok()?)?;
    match kind {
        0 => Some(Value::Null),
        1 => Some(Value::Int(i64::from_le_bytes(bytes.try_into().ok()?))),
        2 => Some(Value::Text(String::from_utf8(bytes.to_vec()).ok()?)),
        3 => Some(Value::Bytes(bytes.to_vec())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use pml_protocol::EffectClass;

    use super::*;
    use crate::model::EntryState;

    #[test]
    fn entries_are_packed_and_unpacked_as_they_were() {
        let full = JournalEntry {
            number: 1,
            key: [7; 32],
            occurrence: 2,
            title: "call mail:send".to_owned(),
            class: Some(EffectClass::Keyed),
            state: EntryState::Answered,
            request: b"request".to_vec(),
            answer: Some(b"answer".to_vec()),
            answer_order: Some(3),
            clock_ms: Some(4),
            at: 5,
        };
        let bare = JournalEntry {
            number: u32::MAX,
            class: None,
            state: EntryState::Intended,
            request: Vec::new(),
            answer: None,
            answer_order: None,
            clock_ms: None,
            ..full.clone()
        };
        let entries = vec![full, bare];
        let mut packed = Vec::new();
        entries.iter().for_each(|entry| encode(&mut packed, entry));
        let mut read = Vec::new();
        decode(&packed, &mut read).unwrap();
        assert_eq!(read, entries);
        for length in 1..packed.len() {
            let mut read = Vec::new();
            let result = decode(&packed[..length], &mut read);
            assert!(result.is_err() || read.len() < entries.len(), "{length}");
        }
    }
}
