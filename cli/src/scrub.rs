//! `pml scrub`: replaces personal data and secrets in a text.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use clap::Args;
use pml_scrub::{PlaceholderMap, Report, Scrubber};
use serde_json::Value;

use crate::exit::ExitCode;
use crate::{config, diagnostics, exit};

/// Replace personal data and secrets in a text or in JSON
///
/// JSON keeps its structure. Equal values get the same placeholder, such as [EMAIL_1].
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml scrub answer.json\n  \
    some-command | pml scrub - --report\n  \
    pml scrub --entities letter.txt\n\n\
    Exit codes: 0 ok, 1 the policy blocks the text, 2 wrong usage or configuration.")]
pub struct ScrubArgs {
    /// The file to read, or - for standard input
    file: PathBuf,

    /// Report findings on standard error: kind, place and confidence, never the value
    #[arg(long)]
    report: bool,

    /// Find names of people, places and organisations in running text too
    #[arg(long)]
    entities: bool,
}

pub fn run(args: &ScrubArgs, config: Option<&Path>) -> ExitCode {
    scrub(args, config).unwrap_or_else(exit::usage_error)
}

fn scrub(args: &ScrubArgs, config: Option<&Path>) -> anyhow::Result<ExitCode> {
    let mut settings = config::load_settings(config)?;
    if args.entities {
        settings.scrub.entities = Some(true);
    }
    let mut placeholders = PlaceholderMap::new(Arc::new(Scrubber::new(&settings.scrub)?));
    let text = read(&args.file)?;
    let scrubbed = match serde_json::from_str::<Value>(&text) {
        // A bare number or string is treated as text, so that its form stays.
        Ok(value) if value.is_object() || value.is_array() => {
            placeholders.scrub_json(value, None).map(|scrubbed| {
                let (value, report) = scrubbed.into_parts();
                (format!("{value:#}\n"), report)
            })
        }
        _ => placeholders
            .scrub_text(&text, None)
            .map(pml_scrub::Scrubbed::into_parts),
    };
    match scrubbed {
        Ok((text, report)) => {
            let mut out = io::stdout().lock();
            exit::check_pipe(out.write_all(text.as_bytes()).and_then(|()| out.flush()))?;
            if args.report {
                print_report(&report);
            }
            Ok(ExitCode::SUCCESS)
        }
        Err(blocked) => {
            diagnostics::error(blocked);
            Ok(ExitCode::FAILURE)
        }
    }
}

fn read(file: &Path) -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    let shown = file.display();
    if file.as_os_str() == "-" {
        io::stdin().lock().read_to_end(&mut bytes)
    } else if file.is_dir() {
        bail!("{shown} is a folder; name a file in it");
    } else {
        File::open(file).and_then(|mut file| file.read_to_end(&mut bytes))
    }
    .with_context(|| format!("{shown} cannot be read"))?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(error) => bail!(
            "{shown} is not UTF-8 text: byte {} cannot be read; save it as UTF-8",
            error.utf8_error().valid_up_to()
        ),
    }
}

fn print_report(report: &Report) {
    for finding in report.findings() {
        let place = &finding.place;
        let pointer = match place.pointer.as_str() {
            "" => String::new(),
            pointer => format!(" in {pointer}"),
        };
        diagnostics::line(format_args!(
            "{} at line {}, characters {} to {}{pointer}, confidence {:.2}",
            finding.kind, place.line, place.start, place.end, finding.confidence
        ));
    }
    for (kind, count) in report.counts() {
        diagnostics::line(format_args!("{count} {kind}"));
    }
}
