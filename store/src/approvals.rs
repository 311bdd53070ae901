//! Approvals: questions to people that outlive the process which asked them.

use pml_protocol::{RunId, TenantId};

use crate::context::Context;
use crate::error::StoreError;
use crate::key::random_bytes;
use crate::model::{ApprovalState, NewApproval, StoredApproval, UnixMs};
use crate::rows::{approval_state, run_id};
use crate::sql::{Row, Statement, Transaction, UnexpectedColumn, Work, statement};
use crate::vault::Place;

/// Which approvals a list has.
#[derive(Debug, Clone, Default)]
pub struct ApprovalFilter {
    /// Only approvals in one of these states; all if empty.
    pub states: Vec<ApprovalState>,
    /// Only approvals of this run.
    pub run: Option<RunId>,
    /// Only approvals of the request with this number in its run.
    pub number: Option<u32>,
    /// How many approvals at most; 0 for all.
    pub limit: usize,
}

/// What became of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum AnswerOutcome {
    /// It was recorded.
    Recorded(StoredApproval),
    /// It came too late: the approval was answered, has expired, or is void. Nothing was changed.
    Late(StoredApproval),
}

/// `$1` is the present time: one that is open after its time has expired.
const COLUMNS: &str = "tenant, id, run, number, tool, bound_to, shown, expires, \
     CASE WHEN state = 'open' AND expires <= $1 THEN 'expired' ELSE state END AS state, \
     created, answered, answered_by";

/// Selects approvals; `conditions` may use the parameters from `$2` on.
async fn select<T: Transaction>(
    transaction: &mut T,
    context: &Context,
    now: UnixMs,
    conditions: Statement,
) -> Result<Vec<StoredApproval>, StoreError> {
    let mut select = statement!(
        format!(
            "SELECT * FROM (SELECT {COLUMNS} FROM pml_approvals) AS a WHERE {}",
            conditions.sql
        ),
        now,
    );
    select.values.extend(conditions.values);
    let mut approvals = Vec::new();
    for row in transaction.query(select).await? {
        let mut approval = decode(row).map_err(|error| context.unexpected(error))?;
        let asked = &approval.asked;
        let place = place(asked, &approval.id);
        let shown = context.open(transaction, place, &asked.shown).await?;
        approval.asked.shown = shown;
        approvals.push(approval);
    }
    Ok(approvals)
}

async fn get<T: Transaction>(
    transaction: &mut T,
    context: &Context,
    (tenant, id): (&TenantId, &str),
) -> Result<Option<StoredApproval>, StoreError> {
    let now = transaction.now().await?;
    let one = statement!("tenant = $2 AND id = $3", tenant.as_str(), id);
    let approvals = select(transaction, context, now, one).await?;
    Ok(approvals.into_iter().next())
}

fn decode(mut row: Row) -> Result<StoredApproval, UnexpectedColumn> {
    let row = &mut row;
    let tenant = TenantId::named(&row.text()?);
    let id = row.text()?;
    let asked = NewApproval {
        tenant,
        run: run_id(row)?,
        number: row.number()?,
        tool: row.text()?,
        bound_to: row.digest()?,
        shown: row.bytes()?,
        expires: row.number()?,
    };
    Ok(StoredApproval {
        id,
        asked,
        state: approval_state(&row.text()?)?,
        created: row.number()?,
        answered: row.optional_number()?,
        answered_by: row.optional_text()?,
    })
}

fn place<'a>(asked: &'a NewApproval, id: &'a str) -> Place<'a> {
    Place {
        tenant: asked.tenant.as_str(),
        table: "pml_approvals",
        run: asked.run.as_str(),
        column: "shown",
        item: id,
    }
}

/// A new id: eight letters and digits that are not mistaken for each other, 40 random bits.
fn new_id() -> Result<String, StoreError> {
    const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let bytes: [u8; 8] = random_bytes()?;
    let letter = |byte: &u8| char::from(ALPHABET[usize::from(byte % 32)]);
    Ok(bytes.iter().map(letter).collect())
}

/// Asks for an approval, once for a run, a number and a digest. Approvals of the same call with another
/// digest are void from then on.
pub(crate) struct Ask {
    pub approval: NewApproval,
}

impl Work for Ask {
    type Output = StoredApproval;

    fn is_durable(&self) -> bool {
        true
    }

    async fn run<T: Transaction>(
        &self,
        transaction: &mut T,
        context: &Context,
    ) -> Result<StoredApproval, StoreError> {
        let asked = &self.approval;
        let (tenant, run) = (asked.tenant.as_str(), asked.run.as_str());
        let now = transaction.now().await?;
        self.void_others(transaction).await?;
        loop {
            let same = statement!(
                "tenant = $2 AND run = $3 AND number = $4 AND bound_to = $5",
                tenant,
                run,
                asked.number,
                &asked.bound_to,
            );
            let known = select(transaction, context, now, same).await?;
            if let Some(known) = known.into_iter().next() {
                if known.state != ApprovalState::Void {
                    return Ok(known);
                }
                self.open_again(transaction, context, &known.id, now)
                    .await?;
                continue;
            }
            let id = new_id()?;
            let shown = context
                .seal(transaction, place(asked, &id), &asked.shown)
                .await?;
            // A conflict: the id is taken, or another process has just asked the same. Both are
            // found in the next round.
            transaction
                .execute(statement!(
                    "INSERT INTO pml_approvals (tenant, id, run, number, tool, bound_to, shown, \
                     expires, state, created) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'open', $9) \
                     ON CONFLICT DO NOTHING",
                    tenant,
                    id,
                    run,
                    asked.number,
                    asked.tool.as_str(),
                    &asked.bound_to,
                    shown,
                    asked.expires,
                    now,
                ))
                .await?;
        }
    }
}

impl Ask {
    /// Whatever was asked or answered for this call with another digest counts no more. Number 0 stands for
    /// all calls of a tool, so there each tool has its own.
    async fn void_others<T: Transaction>(&self, transaction: &mut T) -> Result<(), StoreError> {
        let asked = &self.approval;
        transaction
            .execute(statement!(
                "UPDATE pml_approvals SET state = 'void' WHERE tenant = $1 AND run = $2 \
                 AND number = $3 AND (number > 0 OR tool = $4) AND bound_to <> $5 \
                 AND state IN ('open', 'allowed')",
                asked.tenant.as_str(),
                asked.run.as_str(),
                asked.number,
                asked.tool.as_str(),
                &asked.bound_to,
            ))
            .await?;
        Ok(())
    }

    /// What changed since it was asked has changed back: it is asked anew, with another id. Who was told of
    /// the former one cannot answer this one by mistake.
    async fn open_again<T: Transaction>(
        &self,
        transaction: &mut T,
        context: &Context,
        former: &str,
        now: UnixMs,
    ) -> Result<(), StoreError> {
        let asked = &self.approval;
        let id = new_id()?;
        let shown = context
            .seal(transaction, place(asked, &id), &asked.shown)
            .await?;
        transaction
            .execute(statement!(
                "UPDATE pml_approvals SET id = $1, shown = $2, state = 'open', created = $3, \
                 expires = $4, answered = NULL, answered_by = NULL \
                 WHERE tenant = $5 AND id = $6 AND state = 'void'",
                id,
                shown,
                now,
                asked.expires,
                asked.tenant.as_str(),
                former,
            ))
            .await?;
        Ok(())
    }
}

/// Reads one approval.
pub(crate) struct GetApproval {
    pub tenant: TenantId,
    pub id: String,
}

impl Work for GetApproval {
    type Output = Option<StoredApproval>;

    async fn run<T: Transaction>(
        &self,
        transaction: &mut T,
        context: &Context,
    ) -> Result<Self::Output, StoreError> {
        get(transaction, context, (&self.tenant, &self.id)).await
    }
}

/// Lists approvals, the newest first.
pub(crate) struct ListApprovals {
    pub tenant: TenantId,
    pub filter: ApprovalFilter,
}

impl Work for ListApprovals {
    type Output = Vec<StoredApproval>;

    async fn run<T: Transaction>(
        &self,
        transaction: &mut T,
        context: &Context,
    ) -> Result<Self::Output, StoreError> {
        let filter = &self.filter;
        let ApprovalFilter { states, run, .. } = filter;
        let now = transaction.now().await?;
        let mut sql = "tenant = $2".to_owned();
        let mut conditions = statement!("", self.tenant.as_str());
        if !states.is_empty() {
            // Words of the program, so they need no parameter.
            let names = states.iter().map(|state| format!("'{}'", state.as_str()));
            let names: Vec<String> = names.collect();
            sql += &format!(" AND state IN ({})", names.join(", "));
        }
        if let Some(run) = run {
            sql += " AND run = $3";
            conditions.values.push(run.as_str().into());
        }
        if let Some(number) = filter.number {
            sql += &format!(" AND number = {number}");
        }
        sql += " ORDER BY created DESC, id";
        if filter.limit > 0 {
            sql += &format!(" LIMIT {}", filter.limit);
        }
        conditions.sql = sql.into();
        select(transaction, context, now, conditions).await
    }
}

/// Records the answer to an open approval.
pub(crate) struct Answer {
    pub tenant: TenantId,
    pub id: String,
    pub allow: bool,
    pub by: String,
}

impl Work for Answer {
    type Output = AnswerOutcome;

    fn is_durable(&self) -> bool {
        true
    }

    async fn run<T: Transaction>(
        &self,
        transaction: &mut T,
        context: &Context,
    ) -> Result<AnswerOutcome, StoreError> {
        let now = transaction.now().await?;
        let state = match self.allow {
            true => ApprovalState::Allowed,
            false => ApprovalState::Denied,
        };
        let recorded = transaction
            .execute(statement!(
                "UPDATE pml_approvals SET state = $1, answered = $2, answered_by = $3 \
                 WHERE tenant = $4 AND id = $5 AND state = 'open' AND expires > $2",
                state.as_str(),
                now,
                self.by.as_str(),
                self.tenant.as_str(),
                self.id.as_str(),
            ))
            .await?;
        let approval = get(transaction, context, (&self.tenant, &self.id)).await?;
        let approval = approval.ok_or_else(|| StoreError::NoSuchApproval {
            id: self.id.clone(),
        })?;
        Ok(match recorded {
            0 => AnswerOutcome::Late(approval),
            _ => AnswerOutcome::Recorded(approval),
        })
    }
}

/// Makes an approval void that is open, or allowed and not used yet.
pub(crate) struct VoidApproval {
    pub tenant: TenantId,
    pub id: String,
}

impl Work for VoidApproval {
    type Output = ();

    fn is_durable(&self) -> bool {
        true
    }

    async fn run<T: Transaction>(
        &self,
        transaction: &mut T,
        context: &Context,
    ) -> Result<(), StoreError> {
        let voided = transaction
            .execute(statement!(
                "UPDATE pml_approvals SET state = 'void' \
                 WHERE tenant = $1 AND id = $2 AND state IN ('open', 'allowed')",
                self.tenant.as_str(),
                self.id.as_str(),
            ))
            .await?;
        if voided == 0
            && get(transaction, context, (&self.tenant, &self.id))
                .await?
                .is_none()
        {
            let id = self.id.clone();
            return Err(StoreError::NoSuchApproval { id });
        }
        Ok(())
    }
}
