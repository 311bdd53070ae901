//! Reading runs and journals.

use pml_protocol::{RunId, TenantId};

use crate::context::Context;
use crate::error::StoreError;
use crate::model::{JournalEntry, RunState, StoredRun, UnixMs};
use crate::pack::read_packs;
use crate::rows::{
    ENTRIES, ENTRY_COLUMNS, RUN_COLUMNS, RUN_COLUMNS_CLEAR, RunRow, decode_entry, open_entry,
};
use crate::sql::{Transaction, Work, statement};

/// Which runs a list has.
#[derive(Debug, Clone, Default)]
pub struct RunFilter {
    /// Only runs in one of these states; all if empty.
    pub states: Vec<RunState>,
    /// Only runs with this origin.
    pub origin: Option<String>,
    /// Only runs that are MCP tasks of this principal.
    pub tasks_of: Option<String>,
    /// Only runs that are behind this one in the list: its creation and its id.
    pub after: Option<(UnixMs, RunId)>,
    /// How many runs at most; 0 for all.
    pub limit: usize,
}

/// The entries of a run, by number, from the journal or from its packed form.
pub(crate) async fn read_journal<T: Transaction>(
    transaction: &mut T,
    context: &Context,
    run: (&TenantId, &RunId),
) -> Result<Vec<JournalEntry>, StoreError> {
    let mut entries = read_packs(transaction, context, run).await?;
    let rows = transaction
        .query(statement!(
            format!(
                "SELECT {ENTRY_COLUMNS} FROM {ENTRIES} WHERE tenant = $1 AND run = $2 ORDER BY number"
            ),
            run.0.as_str(),
            run.1.as_str(),
        ))
        .await?;
    for row in rows {
        let entry = decode_entry(row).map_err(|error| context.unexpected(error))?;
        entries.push(open_entry(transaction, context, run, entry).await?);
    }
    Ok(entries)
}

/// Reads one run.
pub(crate) struct GetRun {
    pub tenant: TenantId,
    pub id: RunId,
}

impl Work for GetRun {
    type Output = Option<StoredRun>;

    async fn run<T: Transaction>(
        &self,
        transaction: &mut T,
        context: &Context,
    ) -> Result<Self::Output, StoreError> {
        let rows = transaction
            .query(statement!(
                format!("SELECT {RUN_COLUMNS} FROM pml_runs WHERE tenant = $1 AND id = $2"),
                self.tenant.as_str(),
                self.id.as_str(),
            ))
            .await?;
        let Some(row) = rows.into_iter().next() else {
            return Ok(None);
        };
        let now = transaction.now().await?;
        let row = RunRow::decode(row).map_err(|error| context.unexpected(error))?;
        row.open(transaction, context, now).await.map(Some)
    }
}

/// Reads the journal of a run.
pub(crate) struct GetJournal {
    pub tenant: TenantId,
    pub id: RunId,
}

impl Work for GetJournal {
    type Output = Vec<JournalEntry>;

    async fn run<T: Transaction>(
        &self,
        transaction: &mut T,
        context: &Context,
    ) -> Result<Self::Output, StoreError> {
        let rows = transaction
            .query(statement!(
                "SELECT id FROM pml_runs WHERE tenant = $1 AND id = $2",
                self.tenant.as_str(),
                self.id.as_str(),
            ))
            .await?;
        if rows.is_empty() {
            let id = self.id.clone();
            return Err(StoreError::NotFound { id });
        }
        read_journal(transaction, context, (&self.tenant, &self.id)).await
    }
}

/// Lists runs, the newest first, without `spec` and `outcome`.
pub(crate) struct ListRuns {
    pub tenant: TenantId,
    pub filter: RunFilter,
}

impl Work for ListRuns {
    type Output = Vec<StoredRun>;

    async fn run<T: Transaction>(
        &self,
        transaction: &mut T,
        context: &Context,
    ) -> Result<Self::Output, StoreError> {
        let RunFilter {
            states,
            origin,
            tasks_of,
            after,
            limit,
        } = &self.filter;
        let mut sql = format!("SELECT {RUN_COLUMNS_CLEAR} FROM pml_runs WHERE tenant = $1");
        if !states.is_empty() {
            sql += &format!(" AND state IN ({})", state_list(states));
        }
        let mut select = statement!("", self.tenant.as_str());
        if let Some(origin) = origin {
            select.values.push(origin.as_str().into());
            sql += &format!(" AND origin = ${}", select.values.len());
        }
        if let Some(principal) = tasks_of {
            select.values.push(principal.as_str().into());
            let at = select.values.len();
            sql += &format!(" AND task_ttl IS NOT NULL AND principal = ${at}");
        }
        if let Some((created, id)) = after {
            select.values.push((*created).into());
            select.values.push(id.as_str().into());
            let at = select.values.len();
            sql += &format!(
                " AND (created < ${0} OR created = ${0} AND id < ${at})",
                at - 1
            );
        }
        sql += " ORDER BY created DESC, id DESC";
        if *limit > 0 {
            sql += &format!(" LIMIT {limit}");
        }
        select.sql = sql.into();
        let rows = transaction.query(select).await?;
        let now = transaction.now().await?;
        rows.into_iter()
            .map(|row| Ok(RunRow::decode(row)?.without_values(now)))
            .collect::<Result<_, _>>()
            .map_err(|error| context.unexpected(error))
    }
}

/// The names of states for SQL: words of the program, so they need no parameter.
fn state_list(states: &[RunState]) -> String {
    let names: Vec<String> = states
        .iter()
        .map(|state| format!("'{}'", state.as_str()))
        .collect();
    names.join(", ")
}

/// Lists the runs that have not ended and that no living process owns, the oldest first.
pub(crate) struct Resumable {
    pub tenant: TenantId,
    pub origin: Option<String>,
}

impl Work for Resumable {
    type Output = Vec<RunId>;

    async fn run<T: Transaction>(
        &self,
        transaction: &mut T,
        context: &Context,
    ) -> Result<Vec<RunId>, StoreError> {
        let filter = RunFilter {
            states: vec![RunState::Running, RunState::Waiting, RunState::Unknown],
            origin: self.origin.clone(),
            ..RunFilter::default()
        };
        let tenant = self.tenant.clone();
        let runs = ListRuns { tenant, filter };
        let runs = runs.run(transaction, context).await?;
        let free = runs.into_iter().rev().filter(|run| !run.is_owned);
        Ok(free.map(|run| run.id).collect())
    }
}
