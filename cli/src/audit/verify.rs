//! `pml audit verify` and `pml audit checkpoint`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use pml_audit::{AuditFolder, Verified, verify_folder};
use serde_json::json;

use super::print;
use crate::exit::ExitCode;

const NOT_PROVED: &str = "Not proved: that events behind the last checkpoint are whole; that no holder of the key (the file `key`) \
wrote the log anew or cut it back. Keep checkpoints elsewhere (`pml audit checkpoint`) and compare with --checkpoint.";

/// Check that no event was changed, removed, added or moved
///
/// Every event is hashed and compared with the hash tiles, the tiles with all checkpoints, and the
/// checkpoints with the key of the log.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml audit verify\n  \
    pml audit verify --checkpoint kept.txt   also compare with a checkpoint kept elsewhere\n\n\
    Exit codes: 0 whole, 1 damaged, 2 wrong usage or configuration.")]
pub struct VerifyArgs {
    /// A checkpoint that `pml audit checkpoint` printed earlier
    #[arg(long, value_name = "FILE")]
    checkpoint: Vec<PathBuf>,

    /// Print the result as JSON on standard output
    #[arg(long)]
    json: bool,
}

/// Print the newest signed checkpoint of every log, to be kept elsewhere
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml audit checkpoint > /mnt/elsewhere/checkpoint.txt")]
pub struct CheckpointArgs {}

pub fn checkpoint(folder: &Path) -> anyhow::Result<ExitCode> {
    let checkpoints = AuditFolder::open(folder)?.checkpoints()?;
    print(&checkpoints.join("\n"))?;
    Ok(ExitCode::SUCCESS)
}

/// The checkpoints of a file: name, size, root, an empty line and the signature, each.
fn read_checkpoints(file: &Path) -> anyhow::Result<Vec<String>> {
    let text = std::fs::read_to_string(file).with_context(|| {
        format!(
            "{} cannot be read: expected a file with what `pml audit checkpoint` printed",
            file.display()
        )
    })?;
    let mut notes = Vec::new();
    let mut note = String::new();
    for line in text.lines() {
        if note.is_empty() && line.is_empty() {
            continue;
        }
        note += line;
        note.push('\n');
        if line.starts_with('\u{2014}') {
            notes.push(std::mem::take(&mut note));
        }
    }
    anyhow::ensure!(
        !notes.is_empty() && note.is_empty(),
        "{} has no whole checkpoint",
        file.display()
    );
    Ok(notes)
}

pub fn verify(args: &VerifyArgs, folder: &Path) -> anyhow::Result<ExitCode> {
    let mut kept = Vec::new();
    for file in &args.checkpoint {
        kept.extend(read_checkpoints(file)?);
    }
    let verified = verify_folder(folder, &kept)?;
    let text = match args.json {
        true => format!(
            "{}\n",
            json!({ "ok": verified.is_whole(), "folder": folder, "logs": verified.logs, "damage": verified.damage })
        ),
        false => report(&verified, folder),
    };
    print(&text)?;
    Ok(match verified.is_whole() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

fn report(verified: &Verified, folder: &Path) -> String {
    let mut text = String::new();
    if verified.logs.is_empty() && verified.is_whole() {
        return format!("there is no audit log in {}\n", folder.display());
    }
    // Writing to a string cannot fail.
    for log in &verified.logs {
        let state = if log.damage.is_empty() {
            "whole"
        } else {
            "DAMAGED"
        };
        let _ = writeln!(
            text,
            "{} {}: {state}, {} events, {} behind the checkpoint, {} checkpoints",
            log.folder.display(),
            log.origin,
            log.size,
            log.uncovered,
            log.checkpoints
        );
        if log.pruned > 0 {
            let _ = writeln!(
                text,
                "  {} events are not kept any more; their hashes are",
                log.pruned
            );
        }
    }
    for damage in verified.all_damage() {
        let _ = writeln!(text, "  {}: {}", damage.path.display(), damage.what);
    }
    let _ = writeln!(text, "{NOT_PROVED}");
    text
}
