//! The statements that write runs, entries and checkpoints, with their values sealed.

use pml_protocol::{RunId, TenantId};

use crate::context::Context;
use crate::error::StoreError;
use crate::model::{JournalEntry, NewRun, UnixMs};
use crate::rows::{checkpoint_place, entry_place, run_place};
use crate::sql::{Statement, Transaction, statement};

/// The row of a new run, owned by this process.
pub(crate) async fn insert_run<T: Transaction>(
    transaction: &mut T,
    context: &Context,
    run: &NewRun,
    fence: i64,
    now: UnixMs,
) -> Result<Statement, StoreError> {
    let place = run_place(run.tenant.as_str(), run.id.as_str(), "spec");
    let spec = context.seal(transaction, place, &run.spec).await?;
    Ok(statement!(
        "INSERT INTO pml_runs (tenant, id, principal, origin, script, script_digest, spec, state, \
         created, updated, owner, fence, lease_until, task_ttl, packed) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, 'running', $8, $8, $9, $10, $11, $12, 0) \
         ON CONFLICT DO NOTHING",
        run.tenant.as_str(),
        run.id.as_str(),
        run.principal.as_str(),
        run.origin.as_str(),
        run.script.as_str(),
        &run.script_digest,
        spec,
        now,
        context.owner.as_str(),
        fence,
        now.saturating_add(context.lease_ms()),
        run.task_ttl,
    ))
}

/// An entry of a journal. It replaces one with the same number.
pub(crate) async fn upsert_entry<T: Transaction>(
    transaction: &mut T,
    context: &Context,
    run: (&TenantId, &RunId),
    entry: &JournalEntry,
) -> Result<Statement, StoreError> {
    let item = entry.number.to_string();
    let place = |column| entry_place(run, column, &item);
    let request = context
        .seal(transaction, place("request"), &entry.request)
        .await?;
    let answer = match &entry.answer {
        None => None,
        Some(answer) => Some(context.seal(transaction, place("answer"), answer).await?),
    };
    Ok(statement!(
        "INSERT INTO pml_entries (tenant, run, number, key, occurrence, title, class, state, request, \
         answer, answer_order, clock_ms, at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) \
         ON CONFLICT (tenant, run, number) DO UPDATE SET key = excluded.key, \
         occurrence = excluded.occurrence, title = excluded.title, class = excluded.class, \
         state = excluded.state, request = excluded.request, answer = excluded.answer, \
         answer_order = excluded.answer_order, clock_ms = excluded.clock_ms, at = excluded.at",
        run.0.as_str(),
        run.1.as_str(),
        entry.number,
        &entry.key,
        entry.occurrence,
        entry.title.as_str(),
        entry.class.map(|class| class.as_str()),
        entry.state.as_str(),
        request,
        answer,
        entry.answer_order,
        entry.clock_ms,
        entry.at,
    ))
}

/// A checkpoint: its key and its value. It replaces one with the same key.
pub(crate) async fn upsert_checkpoint<T: Transaction>(
    transaction: &mut T,
    context: &Context,
    run: (&TenantId, &RunId),
    (key, value): (&str, &[u8]),
) -> Result<Statement, StoreError> {
    let place = checkpoint_place(run, key);
    let value = context.seal(transaction, place, value).await?;
    Ok(statement!(
        "INSERT INTO pml_checkpoints (tenant, run, key, value) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (tenant, run, key) DO UPDATE SET value = excluded.value",
        run.0.as_str(),
        run.1.as_str(),
        key,
        value,
    ))
}
