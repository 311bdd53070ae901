//! `pml runs settle`: a person says what became of a call with an unknown outcome.

use anyhow::Context;
use clap::Args;
use pml_hosts::journal::{given_up, happened};
use pml_protocol::{RunId, TenantId};
use pml_store::{Settlement, Store};
use serde::Serialize;

use super::{print_json, print_line};
use crate::exit::ExitCode;

/// Say what became of a call whose outcome is unknown
///
/// A call that may repeat its effect is never sent twice by itself. After a crash a person looks
/// whether it happened, and the run goes on with `pml resume`.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml runs settle nightly-1 7 --happened '{\"id\":\"m-17\"}'   it happened, with this result\n  \
    pml runs settle nightly-1 7 --send                       it did not happen: send it\n  \
    pml runs settle nightly-1 7 --give-up                    the script gets an error")]
pub struct SettleArgs {
    /// The id of the run
    #[arg(value_name = "ID")]
    id: RunId,

    /// The number of the call, as `pml runs show` has it
    #[arg(value_name = "CALL")]
    call: u32,

    #[command(flatten)]
    how: How,

    /// Print the result as JSON on standard output
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
#[group(required = true, multiple = false)]
struct How {
    /// It happened, and this is its result
    #[arg(long, value_name = "JSON")]
    happened: Option<String>,

    /// It did not happen: the resumed run sends it
    #[arg(long)]
    send: bool,

    /// The script gets an error in the place of a result
    #[arg(long)]
    give_up: bool,
}

pub async fn settle(store: &Store, args: &SettleArgs) -> anyhow::Result<ExitCode> {
    let settlement = match &args.how {
        How {
            happened: Some(json),
            ..
        } => {
            let answer = happened(json).with_context(|| {
                format!(
                    "--happened needs the result of the call as JSON, such as '{{\"ok\":true}}' or null, not `{json}`"
                )
            })?;
            Settlement::Happened(answer)
        }
        How { send: true, .. } => Settlement::Send,
        How { .. } => Settlement::GiveUp(given_up()),
    };
    let how = match &settlement {
        Settlement::Happened(_) => "happened",
        Settlement::Send => "send",
        Settlement::GiveUp(_) => "giveUp",
    };
    store
        .settle(&TenantId::local(), &args.id, args.call, settlement)
        .await?;
    #[derive(Serialize)]
    struct Settled<'a> {
        run: &'a RunId,
        call: u32,
        settled: &'a str,
    }
    match args.json {
        true => print_json(&Settled {
            run: &args.id,
            call: args.call,
            settled: how,
        }),
        false => print_line(format_args!(
            "call {} is settled; `pml resume {}` continues the run",
            args.call, args.id
        )),
    }
}
