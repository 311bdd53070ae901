//! The search of one command: with the user's model, and the index of its configuration.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use pml_search::{ModelChoice, Place, Search, SearchOptions};

use crate::complain;

/// Loads nothing yet. `file` is the configuration that the servers come from.
pub fn open(file: Option<&Path>) -> anyhow::Result<Search> {
    let place = Place::of_user();
    let model = match &place {
        Some(place) => ModelChoice::of_user(place)
            .with_context(|| format!("{} names no model", place.choice().display()))?,
        None => ModelChoice::default(),
    };
    Ok(Search::new(SearchOptions {
        paths: place,
        configuration: file.map(Path::to_owned),
        model,
        on_status: Some(Arc::new(|text| complain::line(text))),
    }))
}

/// The user's data folder, for commands that are about what lies in it.
pub fn place() -> anyhow::Result<Place> {
    Place::of_user().context("there is no home folder: set HOME or XDG_DATA_HOME")
}

/// A path for people: below the home folder with `~`.
pub fn shown(path: &Path) -> String {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    match home.and_then(|home| Some(path.strip_prefix(home).ok()?.to_owned())) {
        Some(below) => format!("~/{}", below.display()),
        None => path.display().to_string(),
    }
}
