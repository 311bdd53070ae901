//! `pml audit`: reads, verifies and exports the audit log.

mod export;
mod filter;
mod prove;
mod reconcile;
mod replay;
mod show;
mod verify;

use std::io::{self, Write};
use std::path::Path;

use clap::{Args, Subcommand};

use crate::config;
use crate::exit::{self, ExitCode};

/// Read and verify the log of what agents did
///
/// `pml serve` records every call that reaches a server, before it is sent and when it ends, every
/// question to a person and its answer, and every run. Arguments and results are digests.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml audit tail --follow                    events as they happen\n  \
    pml audit query --tool fs:write_file       who wrote files\n  \
    pml audit verify                           is anything changed or missing?\n  \
    pml audit replay nightly-1                 does a run give the same again?\n  \
    pml audit export --format csv > audit.csv")]
pub struct AuditArgs {
    #[command(subcommand)]
    command: AuditCommand,
}

#[derive(Subcommand)]
enum AuditCommand {
    Tail(show::TailArgs),
    Query(show::QueryArgs),
    Verify(verify::VerifyArgs),
    Checkpoint(verify::CheckpointArgs),
    Prove(prove::ProveArgs),
    Export(export::ExportArgs),
    Reconcile(reconcile::ReconcileArgs),
    Replay(replay::ReplayArgs),
}

pub fn run(args: &AuditArgs, config: Option<&Path>) -> ExitCode {
    let folder = config::load_settings(config)
        .map_err(anyhow::Error::from)
        .and_then(|settings| crate::audit_setup::folder(&settings));
    let done = folder.and_then(|folder| match &args.command {
        AuditCommand::Tail(args) => show::tail(args, &folder),
        AuditCommand::Query(args) => show::query(args, &folder),
        AuditCommand::Verify(args) => verify::verify(args, &folder),
        AuditCommand::Checkpoint(_) => verify::checkpoint(&folder),
        AuditCommand::Prove(args) => prove::prove(args, &folder),
        AuditCommand::Export(args) => export::export(args, &folder),
        AuditCommand::Reconcile(args) => reconcile::reconcile(args, config),
        AuditCommand::Replay(args) => replay::replay(args, config),
    });
    done.unwrap_or_else(exit::usage_error)
}

/// Writes to standard output.
fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    let printed = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    Ok(exit::check_pipe(printed)?)
}
