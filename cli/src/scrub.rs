//! `pml scrub`: replaces personal data and secrets in a text.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use clap::Args;
use pml_scrub::{Action, Explanation, Place, PlaceholderMap, Report, ScrubError, Scrubber};
use serde_json::Value;

use crate::exit::ExitCode;
use crate::{config, confirm, diagnostics, exit};

/// Replace personal data and secrets in a text or in JSON
///
/// JSON keeps its structure. Equal values get the same placeholder, such as [EMAIL_1].
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml scrub answer.json\n  \
    some-command | pml scrub - --report\n  \
    pml scrub --entities letter.txt\n  \
    pml scrub --explain answer.json > /dev/null\n\n\
    Exit codes: 0 ok, 1 the policy blocks the text, 2 wrong usage or configuration.")]
pub struct ScrubArgs {
    /// The file to read, or - for standard input
    file: PathBuf,

    /// Report findings on standard error: kind, place and confidence, never the value
    #[arg(long)]
    report: bool,

    /// Report on standard error why each value is replaced: the rule, the words nearby that decided, and a
    /// fingerprint for `pml.scrub.allow.fingerprints`; never the value
    #[arg(long)]
    explain: bool,

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
    let scrubber = Arc::new(Scrubber::new(&settings.scrub)?);
    let mut placeholders = PlaceholderMap::new(scrubber.clone());
    let text = read(&args.file)?;
    let structured = serde_json::from_str::<Value>(&text).ok();
    let structured = structured.filter(|value| value.is_object() || value.is_array());
    if args.explain {
        print_explanations(&match &structured {
            Some(value) => scrubber.explain_json(value),
            None => scrubber.explain(&text, None),
        });
    }
    let scrubbed = loop {
        let scrubbed = scrub_once(&mut placeholders, &text, structured.as_ref());
        match &scrubbed {
            Err(ScrubError::Undecided { kind, .. }) if confirm::can_ask() => {
                let about = format!("{} contains {kind} data.", args.file.display());
                placeholders.decide(*kind, confirm::confirm(about, "Show it?"));
            }
            _ => break scrubbed,
        }
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

/// The scrubbed text or JSON with its report.
fn scrub_once(
    placeholders: &mut PlaceholderMap,
    text: &str,
    structured: Option<&Value>,
) -> Result<(String, Report), ScrubError> {
    // A bare number or string is treated as text, so that its form stays.
    match structured {
        Some(value) => {
            let scrubbed = placeholders.scrub_json(value.clone(), None)?;
            let (value, report) = scrubbed.into_parts();
            Ok((format!("{value:#}\n"), report))
        }
        None => Ok(placeholders.scrub_text(text, None)?.into_parts()),
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

fn print_explanations(explanations: &[Explanation]) {
    for explanation in explanations {
        let finding = &explanation.finding;
        let reason = match explanation.context.as_slice() {
            _ if explanation.by_form => "by its form alone".to_owned(),
            [] => "in its context".to_owned(),
            words => format!("because of {}", words.join(", ")),
        };
        let decided = match explanation.action {
            Action::Redact => "redacted",
            Action::Mask => "masked",
            Action::Hash => "hashed",
            Action::Allow => "allowed",
            Action::Ask => "asked about",
            Action::Block => "blocked",
        };
        diagnostics::line(format_args!(
            "{} at {}: found by the detector `{}` {reason}, confidence {:.2}; {decided} by {}; \
             to allow this value: \"fingerprints\": [\"{}\"]",
            finding.kind,
            place(&finding.place),
            finding.detector,
            finding.confidence,
            explanation.rule,
            explanation.fingerprint
        ));
    }
}

fn place(place: &Place) -> String {
    let pointer = match place.pointer.as_str() {
        "" => String::new(),
        pointer => format!(" in {pointer}"),
    };
    format!(
        "line {}, characters {} to {}{pointer}",
        place.line, place.start, place.end
    )
}

fn print_report(report: &Report) {
    for finding in report.findings() {
        diagnostics::line(format_args!(
            "{} at {}, confidence {:.2}",
            finding.kind,
            place(&finding.place),
            finding.confidence
        ));
    }
    for (kind, count) in report.counts() {
        diagnostics::line(format_args!("{count} {kind}"));
    }
}
