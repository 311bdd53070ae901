//! `pml audit prove`.

use std::path::Path;

use clap::Args;
use pml_audit::AuditFolder;

use super::print;
use crate::exit::ExitCode;

/// Print a proof that an event is in the log, or that the log has only grown
///
/// The proof is JSON with the signed checkpoint, the key, the hashes and the event, as RFC 6962 defines
/// them: other programs can verify it.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml audit prove /pml/5f0c1d2e3a4b5c6d 17           the event with this source and id\n  \
    pml audit prove /pml/5f0c1d2e3a4b5c6d --since 1000 the first 1,000 events are as they were")]
pub struct ProveArgs {
    /// The source of the event
    source: String,

    /// The id of the event
    #[arg(required_unless_present = "since")]
    id: Option<u64>,

    /// An earlier size of the log
    #[arg(long, value_name = "SIZE", conflicts_with = "id")]
    since: Option<u64>,
}

pub fn prove(args: &ProveArgs, folder: &Path) -> anyhow::Result<ExitCode> {
    let logs = AuditFolder::open(folder)?;
    let proof = match (args.id, args.since) {
        (_, Some(size)) => logs.prove_growth(&args.source, size)?,
        (id, None) => logs.prove(&args.source, id.unwrap_or_default())?,
    };
    print(&format!("{}\n", serde_json::to_string_pretty(&proof)?))?;
    Ok(ExitCode::SUCCESS)
}
