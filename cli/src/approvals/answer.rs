//! `pml approvals allow` and `pml approvals deny`.

use std::io::Write;

use anyhow::bail;
use clap::Args;
use pml_approvals::{Answered, Approvals, late_answer};
use pml_protocol::{RunId, TenantId};
use pml_store::{ApprovalFilter, ApprovalState, StoredApproval};
use serde::Serialize;
use serde_json::json;

use super::list::ShownApproval;
use super::user;
use crate::audit_setup::CommandAudit;
use crate::diagnostics;
use crate::exit::{self, ExitCode};
use crate::runs::print_json;
use crate::style::Style;

/// Which approvals are answered.
#[derive(Args)]
struct Which {
    /// The ids of the approvals, as `pml approvals` lists them
    #[arg(value_name = "ID", required_unless_present = "run")]
    ids: Vec<String>,

    /// All open approvals of this run
    #[arg(long, value_name = "RUN", conflicts_with = "ids")]
    run: Option<RunId>,

    /// Print the result as JSON on standard output
    #[arg(long)]
    json: bool,
}

/// Allow calls that wait for an approval
///
/// The answer is for the call that was shown. If its tool, the policy, the script or the arguments
/// change before it is sent, the approval is void. The name of your user is recorded.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml approvals allow 7kq2m9xa\n  \
    pml approvals allow --all-calls 7kq2m9xa   and all further calls of that tool in the run\n  \
    pml approvals allow --run nightly-1        all that a run waits for\n\n\
    Exit codes: 0 recorded, 1 an answer came too late, 2 wrong usage.")]
pub struct AllowArgs {
    #[command(flatten)]
    which: Which,

    /// Also all further calls of the same tool in the same run
    #[arg(long)]
    all_calls: bool,
}

/// Refuse calls that wait for an approval
///
/// The script gets an error in the place of a result.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml approvals deny 7kq2m9xa\n\n\
    Exit codes: 0 recorded, 1 an answer came too late, 2 wrong usage.")]
pub struct DenyArgs {
    #[command(flatten)]
    which: Which,
}

pub async fn allow(
    approvals: &Approvals,
    audit: CommandAudit,
    args: &AllowArgs,
) -> anyhow::Result<ExitCode> {
    let answer = Answer {
        approvals,
        audit,
        allow: true,
        all_calls: args.all_calls,
    };
    answer.all(&args.which).await
}

pub async fn deny(
    approvals: &Approvals,
    audit: CommandAudit,
    args: &DenyArgs,
) -> anyhow::Result<ExitCode> {
    let answer = Answer {
        approvals,
        audit,
        allow: false,
        all_calls: false,
    };
    answer.all(&args.which).await
}

struct Answer<'a> {
    approvals: &'a Approvals,
    audit: CommandAudit,
    allow: bool,
    all_calls: bool,
}

/// What became of one answer.
#[derive(Serialize)]
struct Shown {
    #[serde(flatten)]
    approval: ShownApproval,
    recorded: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

impl Answer<'_> {
    async fn all(&self, which: &Which) -> anyhow::Result<ExitCode> {
        let ids = match &which.run {
            Some(run) => self.open_of(run).await?,
            None => which.ids.clone(),
        };
        let (mut answered, mut is_refused) = (Vec::new(), false);
        for id in &ids {
            match self.one(id).await {
                Ok(answer) => answered.push(answer),
                // The others are answered all the same.
                Err(error) => {
                    diagnostics::error(format_args!("{error:#}"));
                    is_refused = true;
                }
            }
        }
        let is_late = |answer: &Answered| matches!(answer, Answered::Late(_));
        let any_late = answered.iter().any(is_late);
        match which.json {
            true => {
                print_json(&answered.iter().map(shown).collect::<Vec<_>>())?;
            }
            false => self.print(&answered)?,
        }
        Ok(match (is_refused, any_late) {
            (true, _) => exit::usage(),
            (false, true) => ExitCode::FAILURE,
            (false, false) => ExitCode::SUCCESS,
        })
    }

    async fn open_of(&self, run: &RunId) -> anyhow::Result<Vec<String>> {
        let filter = ApprovalFilter {
            states: vec![ApprovalState::Open],
            run: Some(run.clone()),
            ..ApprovalFilter::default()
        };
        let store = self.approvals.store();
        let open = store.approvals(&TenantId::local(), &filter).await?;
        if open.is_empty() {
            bail!("run {run} waits for no approval; `pml runs show {run}` says where it stands");
        }
        Ok(open.into_iter().map(|approval| approval.id).collect())
    }

    async fn one(&self, id: &str) -> anyhow::Result<Answered> {
        let (tenant, user) = (TenantId::local(), user::name());
        let answering = self.approvals.answer(&tenant, id, self.allow, &user);
        let answered = answering.await?;
        if let Answered::Recorded(approval) = &answered {
            if self.all_calls {
                self.approvals.allow_all(approval, &user).await?;
            }
            let data = json!({
                "approval": approval.id,
                "run": approval.asked.run,
                "decision": approval.state.as_str(),
                "allCalls": self.all_calls,
                "by": user,
                "via": "pml approvals",
            });
            let tool = &approval.asked.tool;
            self.audit.record("pml.approval.answered", tool, &data);
        }
        Ok(answered)
    }

    fn print(&self, answered: &[Answered]) -> anyhow::Result<()> {
        let mut out = Style::escaped_stdout();
        let mut runs: Vec<&RunId> = Vec::new();
        for answer in answered {
            match answer {
                Answered::Late(approval) => diagnostics::error(late_answer(approval)),
                Answered::Recorded(approval) => {
                    let StoredApproval {
                        id, asked, state, ..
                    } = approval;
                    let all = match self.all_calls {
                        true => ", and all further calls of it in the run",
                        false => "",
                    };
                    exit::check_pipe(writeln!(
                        out,
                        "{} of `{}` is {}{all}",
                        id,
                        asked.tool,
                        state.as_str()
                    ))?;
                    if !runs.contains(&&asked.run) {
                        runs.push(&asked.run);
                    }
                }
            }
        }
        for run in runs {
            exit::check_pipe(writeln!(
                out,
                "`pml resume {run}` continues the run, unless a `pml serve` that owns it does"
            ))?;
        }
        Ok(exit::check_pipe(out.flush())?)
    }
}

fn shown(answer: &Answered) -> Shown {
    let (approval, recorded) = match answer {
        Answered::Recorded(approval) => (approval, true),
        Answered::Late(approval) => (approval, false),
    };
    Shown {
        approval: ShownApproval::of(approval),
        recorded,
        message: (!recorded).then(|| late_answer(approval)),
    }
}
