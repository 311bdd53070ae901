//! `pml approvals`: the calls of durable runs that wait for a person.

mod answer;
mod list;
pub mod user;

use std::path::Path;

use clap::{Args, Subcommand};

use crate::audit_setup::CommandAudit;
use crate::exit::{self, ExitCode};
use crate::runs::with_store;
use crate::store_setup::StoreArgs;

/// List and answer the approvals that durable runs wait for
///
/// A call that `pml.policy.ask` names needs the approval of a person. A durable run waits for it: the
/// question is a row of the store, and is answered here, by the client's user, or by a reply to the
/// webhook of `pml.approvals.notify`.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "Examples:\n  \
    pml approvals                        what waits for an answer\n  \
    pml approvals allow 7kq2m9xa         the call may be sent\n  \
    pml approvals allow --run nightly-1  all open questions of a run\n  \
    pml approvals deny 7kq2m9xa          the script gets an error")]
pub struct ApprovalsArgs {
    #[command(subcommand)]
    verb: Option<Verb>,

    #[command(flatten)]
    list: list::ListArgs,

    /// Where durable runs are stored: sqlite:PATH or postgres://…
    #[arg(long, value_name = "URL", global = true)]
    store: Option<pml_store::StoreUrl>,
}

#[derive(Subcommand)]
enum Verb {
    List(list::ListArgs),
    Allow(answer::AllowArgs),
    Deny(answer::DenyArgs),
}

pub fn run(args: &ApprovalsArgs, config: Option<&Path>) -> ExitCode {
    let store = StoreArgs::new(args.store.clone());
    let done = with_store(&store, config, async |store, settings| {
        let approvals = settings.approvals.open(store.clone());
        let audit = CommandAudit::of(&settings);
        match &args.verb {
            None => list::list(&approvals, &args.list).await,
            Some(Verb::List(list)) => list::list(&approvals, list).await,
            Some(Verb::Allow(allow)) => answer::allow(&approvals, audit, allow).await,
            Some(Verb::Deny(deny)) => answer::deny(&approvals, audit, deny).await,
        }
    });
    done.unwrap_or_else(exit::usage_error)
}
