//! `pml model`: which model search embeds with.

use std::io::{self, Write};

use anyhow::Context;
use clap::{Args, Subcommand};
use pml_search::{Library, LibraryOrigin, ModelChoice};

use crate::exit::ExitCode;
use crate::{exit, searching};

/// Choose the model that search uses
///
/// The one that is part of pml needs no network but for the ONNX Runtime library, once. Others
/// come from a model hub. After a change, tools are indexed anew at the next search.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml model list\n  \
    pml model use Xenova/bge-small-en-v1.5\n  \
    pml model use ./my-model      a folder with model.onnx, SHA256SUMS and the tokenizer's files\n  \
    pml model path                where the model and its library are\n\n\
    Exit codes: 0 ok, 2 wrong usage.")]
pub struct ModelArgs {
    #[command(subcommand)]
    command: ModelCommand,
}

#[derive(Subcommand)]
enum ModelCommand {
    /// The models there are; the one in use has a star
    List,
    /// Use another model
    Use {
        /// A name of the list, or a folder
        name: String,
    },
    /// Where the model and its library are
    Path,
}

pub fn run(args: &ModelArgs) -> ExitCode {
    let done = match &args.command {
        ModelCommand::List => list(),
        ModelCommand::Use { name } => choose(name),
        ModelCommand::Path => path(),
    };
    done.map_or_else(exit::mistake, |()| ExitCode::SUCCESS)
}

fn list() -> anyhow::Result<()> {
    let used = ModelChoice::of_user(&searching::place()?)
        .map(|model| model.to_string())
        .unwrap_or_default();
    let models = ModelChoice::list();
    let mut out = io::stdout().lock();
    let printed = models.iter().try_for_each(|model| {
        let star = if model.name == used { "*" } else { " " };
        writeln!(
            out,
            "{star} {}  {} dimensions  {}",
            model.name, model.width, model.description
        )
    });
    Ok(exit::check_pipe(printed)?)
}

fn choose(name: &str) -> anyhow::Result<()> {
    let place = searching::place()?;
    let choice: ModelChoice = name.parse()?;
    choice
        .remember(&place)
        .with_context(|| format!("{} cannot be written", place.choice().display()))
}

fn path() -> anyhow::Result<()> {
    let place = searching::place()?;
    let model = match ModelChoice::of_user(&place)? {
        ModelChoice::Builtin => "part of this program".to_owned(),
        ModelChoice::Folder(folder) => folder.display().to_string(),
        ModelChoice::Hub(_) => place.models().display().to_string(),
    };
    let library = match Library::find(Some(&place)) {
        Some(Library {
            path,
            origin: LibraryOrigin::Environment,
        }) => format!("{} (ORT_DYLIB_PATH)", path.display()),
        Some(Library { path, .. }) => path.display().to_string(),
        None => format!("not there yet; will be in {}", place.library().display()),
    };
    let mut out = io::stdout().lock();
    let printed = writeln!(out, "model    {model}\nlibrary  {library}");
    Ok(exit::check_pipe(printed)?)
}
