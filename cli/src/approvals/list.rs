//! `pml approvals list`.

use std::io::{self, Write};

use clap::Args;
use pml_approvals::{Approvals, Question};
use pml_protocol::{RunId, TenantId};
use pml_store::{ApprovalFilter, ApprovalState, StoredApproval};
use serde::Serialize;

use crate::exit::{self, ExitCode};
use crate::runs::{ago, print_json, unix_ms};
use crate::style::Style;

/// List the approvals that wait for an answer, newest first
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml approvals list --all\n  \
    pml approvals list --json | jq -r '.approvals[].id'")]
pub struct ListArgs {
    /// Also those that are answered, expired or void
    #[arg(long)]
    all: bool,

    /// Only those of this run
    #[arg(long, value_name = "ID")]
    run: Option<RunId>,

    /// Print the result as JSON on standard output
    #[arg(long)]
    json: bool,
}

pub async fn list(approvals: &Approvals, args: &ListArgs) -> anyhow::Result<ExitCode> {
    let filter = ApprovalFilter {
        states: match args.all {
            true => Vec::new(),
            false => vec![ApprovalState::Open],
        },
        run: args.run.clone(),
        ..ApprovalFilter::default()
    };
    let listed = approvals
        .store()
        .approvals(&TenantId::local(), &filter)
        .await?;
    match args.json {
        true => {
            #[derive(Serialize)]
            struct Listed {
                approvals: Vec<ShownApproval>,
            }
            let approvals = listed.iter().map(ShownApproval::of).collect();
            print_json(&Listed { approvals })
        }
        false => {
            exit::check_pipe(print(&listed, args.all))?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// An approval, as commands show it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ShownApproval {
    id: String,
    state: &'static str,
    run: RunId,
    /// The number of the call in its run; `None` for all calls of the tool.
    call: Option<u32>,
    tool: String,
    /// With placeholders.
    arguments: String,
    claims: Vec<String>,
    script: String,
    principal: String,
    created: u64,
    expires: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    answered: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    answered_by: Option<String>,
}

impl ShownApproval {
    pub fn of(approval: &StoredApproval) -> Self {
        let asked = &approval.asked;
        let question = Question::from_bytes(&asked.shown);
        Self {
            id: approval.id.clone(),
            state: approval.state.as_str(),
            run: asked.run.clone(),
            call: (asked.number > 0).then_some(asked.number),
            tool: asked.tool.clone(),
            arguments: question.arguments,
            claims: question.claims,
            script: question.script,
            principal: question.principal,
            created: approval.created,
            expires: asked.expires,
            answered: approval.answered,
            answered_by: approval.answered_by.clone(),
        }
    }
}

fn print(approvals: &[StoredApproval], all: bool) -> io::Result<()> {
    let mut out = Style::escaped_stdout();
    for approval in approvals {
        let shown = ShownApproval::of(approval);
        let what = match shown.call {
            Some(call) => format!("call {call}"),
            None => "all calls".to_owned(),
        };
        let standing = match (approval.state, &shown.answered_by) {
            (ApprovalState::Open, _) => {
                let left = approval.asked.expires.saturating_sub(unix_ms()) / 1_000;
                format!("open for {}m {}s", left / 60, left % 60)
            }
            (state, Some(by)) => format!("{} by {by}", state.as_str()),
            (state, None) => state.as_str().to_owned(),
        };
        writeln!(
            out,
            "{}  {}  {what} of run {} ({}), asked {} ago: {standing}",
            shown.id,
            shown.tool,
            shown.run,
            shown.script,
            ago(shown.created),
        )?;
        if !shown.claims.is_empty() {
            writeln!(out, "    its server says: {}", shown.claims.join(", "))?;
        }
        for line in shown.arguments.lines() {
            writeln!(out, "    {line}")?;
        }
    }
    match (approvals.is_empty(), all) {
        (true, true) => writeln!(out, "there are no approvals")?,
        (true, false) => writeln!(out, "nothing waits for an approval")?,
        (false, true) => {}
        (false, false) => writeln!(
            out,
            "\n`pml approvals allow ID` or `pml approvals deny ID` answers one"
        )?,
    }
    out.flush()
}
