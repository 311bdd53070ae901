//! `pml model`: the embedding model of search.

use std::io::{self, Write};

use anyhow::Context;
use clap::{Args, Subcommand};
use pml_search::{LibraryOrigin, ModelChoice, OnnxLibrary};

use crate::exit::ExitCode;
use crate::{exit, search_setup};

/// Choose the embedding model of search
///
/// The built-in model needs the network once, to download the ONNX Runtime library. Other models
/// are downloaded from a model hub. After a change, the next search indexes all tools again.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml model list\n  \
    pml model use Xenova/bge-small-en-v1.5\n  \
    pml model use ./my-model      a folder with model.onnx, SHA256SUMS and the tokenizer's files\n  \
    pml model path\n\n\
    Exit codes: 0 ok, 2 wrong usage.")]
pub struct ModelArgs {
    #[command(subcommand)]
    command: ModelCommand,
}

#[derive(Subcommand)]
enum ModelCommand {
    /// List the available models; a star marks the one in use
    #[command(after_help = "Examples:\n  pml model list")]
    List,
    /// Use another model
    #[command(after_help = "Examples:\n  \
        pml model use Xenova/bge-small-en-v1.5\n  \
        pml model use ./my-model      a folder with model.onnx, SHA256SUMS and the tokenizer's files")]
    Use {
        /// A name from `pml model list`, or a folder
        name: String,
    },
    /// Print where the model and the ONNX Runtime library are
    #[command(after_help = "Examples:\n  pml model path")]
    Path,
}

pub fn run(args: &ModelArgs) -> ExitCode {
    let done = match &args.command {
        ModelCommand::List => list(),
        ModelCommand::Use { name } => choose(name),
        ModelCommand::Path => path(),
    };
    done.map_or_else(exit::usage_error, |()| ExitCode::SUCCESS)
}

fn list() -> anyhow::Result<()> {
    let used = ModelChoice::load_saved(&search_setup::require_paths()?)
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
    let paths = search_setup::require_paths()?;
    let choice: ModelChoice = name.parse()?;
    choice
        .save(&paths)
        .with_context(|| format!("{} cannot be written", paths.model_choice_file().display()))
}

fn path() -> anyhow::Result<()> {
    let paths = search_setup::require_paths()?;
    let model = match ModelChoice::load_saved(&paths)? {
        ModelChoice::Builtin => "part of this program".to_owned(),
        ModelChoice::Folder(folder) => folder.display().to_string(),
        ModelChoice::Hub(_) => paths.models_folder().display().to_string(),
    };
    let library = match OnnxLibrary::find(Some(&paths)) {
        Some(OnnxLibrary {
            path,
            origin: LibraryOrigin::Environment,
        }) => format!("{} (ORT_DYLIB_PATH)", path.display()),
        Some(OnnxLibrary { path, .. }) => path.display().to_string(),
        None => format!(
            "not downloaded yet; will be in {}",
            paths.library_folder().display()
        ),
    };
    let mut out = io::stdout().lock();
    let printed = writeln!(out, "model    {model}\nlibrary  {library}");
    Ok(exit::check_pipe(printed)?)
}
