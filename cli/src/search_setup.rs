//! The search handle of one command: the user's model, and the index of the configuration.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use pml_search::{ModelChoice, Search, SearchOptions, SearchPaths};

use crate::diagnostics;

/// Opens the search for the servers of the configuration `file`. Model and index are loaded when the
/// first tools are set.
pub fn open(file: Option<&Path>) -> anyhow::Result<Search> {
    let paths = SearchPaths::for_user();
    let model = match &paths {
        Some(paths) => ModelChoice::load_saved(paths)
            .with_context(|| format!("invalid model in {}", paths.model_choice_file().display()))?,
        None => ModelChoice::default(),
    };
    Ok(Search::new(SearchOptions {
        paths,
        configuration: file.map(Path::to_owned),
        model,
        on_status: Some(Arc::new(|text| diagnostics::line(text))),
    }))
}

/// The files of search, for commands that cannot do without them.
pub fn require_paths() -> anyhow::Result<SearchPaths> {
    SearchPaths::for_user().context("there is no home folder: set HOME or XDG_DATA_HOME")
}

/// The path as text, with `~` for the home folder.
pub fn with_tilde(path: &Path) -> String {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    match home.and_then(|home| Some(path.strip_prefix(home).ok()?.to_owned())) {
        Some(below) => format!("~/{}", below.display()),
        None => path.display().to_string(),
    }
}
