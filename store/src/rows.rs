//! Rows of runs and journals: their columns, and how they are opened.

use pml_protocol::{EffectClass, RunId, TenantId};

use crate::context::Context;
use crate::error::StoreError;
use crate::model::{ApprovalState, EntryState, JournalEntry, RunState, StoredRun, UnixMs};
use crate::owner::Owner;
use crate::sql::{Row, Transaction, UnexpectedColumn};
use crate::vault::Place;

pub(crate) const RUNS: &str = "pml_runs";
pub(crate) const ENTRIES: &str = "pml_entries";
pub(crate) const CHECKPOINTS: &str = "pml_checkpoints";

/// The columns of a [`RunRow`].
pub(crate) const RUN_COLUMNS: &str = "tenant, id, principal, origin, script, script_digest, state, \
     reason, created, updated, ended, owner, lease_until, fence, task_ttl, spec, outcome";

/// The same without the sealed ones, which may be large.
pub(crate) const RUN_COLUMNS_CLEAR: &str = "tenant, id, principal, origin, script, script_digest, state, \
     reason, created, updated, ended, owner, lease_until, fence, task_ttl, NULL AS spec, NULL AS outcome";

/// A row of `pml_runs`, sealed.
pub(crate) struct RunRow {
    run: StoredRun,
    pub owner: Option<Owner>,
    pub lease_until: UnixMs,
    pub fence: i64,
}

impl RunRow {
    pub fn decode(mut row: Row) -> Result<Self, UnexpectedColumn> {
        let row = &mut row;
        let mut run = StoredRun {
            tenant: TenantId::named(&row.text()?),
            id: run_id(row)?,
            principal: row.text()?,
            origin: row.text()?,
            script: row.text()?,
            script_digest: row.digest()?,
            spec: Vec::new(),
            state: run_state(&row.text()?)?,
            reason: row.optional_text()?,
            is_owned: false,
            outcome: None,
            task_ttl: None,
            created: row.number()?,
            updated: row.number()?,
            ended: row.optional_number()?,
        };
        let owner = row.optional_text()?.and_then(|owner| Owner::parse(&owner));
        let (lease_until, fence) = (row.number()?, row.number()?);
        run.task_ttl = row.optional_number()?;
        run.spec = row.optional_bytes()?.unwrap_or_default();
        run.outcome = row.optional_bytes()?;
        Ok(Self {
            run,
            owner,
            lease_until,
            fence,
        })
    }

    pub fn state(&self) -> RunState {
        self.run.state
    }

    /// The process that may write to the run: its lease has not ended, and it is not known to be gone.
    pub fn living_owner(&self, now: UnixMs) -> Option<&Owner> {
        let owner = self.owner.as_ref()?;
        (self.lease_until > now && !owner.is_gone()).then_some(owner)
    }

    /// The error for a work that only a run without a living owner allows.
    pub fn refuse_if_owned(&self, now: UnixMs) -> Result<(), StoreError> {
        match self.living_owner(now) {
            None => Ok(()),
            Some(owner) => Err(StoreError::Owned {
                id: self.run.id.clone(),
                pid: Some(owner.pid()),
            }),
        }
    }

    /// The error for a work that an ended run does not allow.
    pub fn refuse_if_ended(&self) -> Result<(), StoreError> {
        match self.run.state.is_ended() {
            false => Ok(()),
            true => Err(StoreError::Ended {
                id: self.run.id.clone(),
                state: self.run.state,
            }),
        }
    }

    /// The run without `spec` and `outcome`.
    pub fn without_values(self, now: UnixMs) -> StoredRun {
        StoredRun {
            is_owned: self.living_owner(now).is_some(),
            spec: Vec::new(),
            outcome: None,
            ..self.run
        }
    }

    /// The run with its values.
    pub async fn open<T: Transaction>(
        self,
        transaction: &mut T,
        context: &Context,
        now: UnixMs,
    ) -> Result<StoredRun, StoreError> {
        let is_owned = self.living_owner(now).is_some();
        let mut run = self.run;
        let (tenant, id) = (run.tenant.clone(), run.id.clone());
        let place = |column| run_place(tenant.as_str(), id.as_str(), column);
        run.spec = context.open(transaction, place("spec"), &run.spec).await?;
        if let Some(outcome) = &run.outcome {
            run.outcome = Some(context.open(transaction, place("outcome"), outcome).await?);
        }
        run.is_owned = is_owned;
        Ok(run)
    }
}

/// The columns of an entry, for [`decode_entry`].
pub(crate) const ENTRY_COLUMNS: &str = "number, key, occurrence, title, class, state, request, answer, \
     answer_order, clock_ms, at";

/// A row of `pml_entries`; `request` and `answer` are still sealed.
pub(crate) fn decode_entry(mut row: Row) -> Result<JournalEntry, UnexpectedColumn> {
    let row = &mut row;
    Ok(JournalEntry {
        number: row.number()?,
        key: row.digest()?,
        occurrence: row.number()?,
        title: row.text()?,
        class: row.optional_text()?.map(|name| class(&name)).transpose()?,
        state: entry_state(&row.text()?)?,
        request: row.bytes()?,
        answer: row.optional_bytes()?,
        answer_order: row.optional_number()?,
        clock_ms: row.optional_number()?,
        at: row.number()?,
    })
}

/// Opens the values of an entry.
pub(crate) async fn open_entry<T: Transaction>(
    transaction: &mut T,
    context: &Context,
    run: (&TenantId, &RunId),
    mut entry: JournalEntry,
) -> Result<JournalEntry, StoreError> {
    let item = entry.number.to_string();
    let place = |column| entry_place(run, column, &item);
    entry.request = context
        .open(transaction, place("request"), &entry.request)
        .await?;
    if let Some(answer) = &entry.answer {
        entry.answer = Some(context.open(transaction, place("answer"), answer).await?);
    }
    Ok(entry)
}

pub(crate) fn run_place<'a>(tenant: &'a str, run: &'a str, column: &'static str) -> Place<'a> {
    Place {
        tenant,
        table: RUNS,
        run,
        column,
        item: "",
    }
}

pub(crate) fn entry_place<'a>(
    (tenant, run): (&'a TenantId, &'a RunId),
    column: &'static str,
    item: &'a str,
) -> Place<'a> {
    Place {
        tenant: tenant.as_str(),
        table: ENTRIES,
        run: run.as_str(),
        column,
        item,
    }
}

pub(crate) fn checkpoint_place<'a>(
    (tenant, run): (&'a TenantId, &'a RunId),
    key: &'a str,
) -> Place<'a> {
    Place {
        tenant: tenant.as_str(),
        table: CHECKPOINTS,
        run: run.as_str(),
        column: "value",
        item: key,
    }
}

pub(crate) fn run_id(row: &mut Row) -> Result<RunId, UnexpectedColumn> {
    row.text()?.parse().map_err(|_| UnexpectedColumn)
}

pub(crate) fn approval_state(name: &str) -> Result<ApprovalState, UnexpectedColumn> {
    named(ApprovalState::ALL, ApprovalState::as_str, name)
}

fn run_state(name: &str) -> Result<RunState, UnexpectedColumn> {
    named(RunState::ALL, RunState::as_str, name)
}

fn entry_state(name: &str) -> Result<EntryState, UnexpectedColumn> {
    named(EntryState::ALL, EntryState::as_str, name)
}

fn class(name: &str) -> Result<EffectClass, UnexpectedColumn> {
    named(EffectClass::ALL, EffectClass::as_str, name)
}

fn named<S: Copy, const N: usize>(
    all: [S; N],
    name_of: fn(S) -> &'static str,
    name: &str,
) -> Result<S, UnexpectedColumn> {
    let found = all.into_iter().find(|state| name_of(*state) == name);
    found.ok_or(UnexpectedColumn)
}
