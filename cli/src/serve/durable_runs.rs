//! The journals of the runs of `pml serve`.

use std::path::Path;

use pml_server::DurableOptions;

use crate::config::Settings;
use crate::store_setup::{self, StoreArgs};

/// Opens the store, if `pml.runs.durable` or `--store` asks for journals.
pub async fn open(args: &StoreArgs, settings: &Settings) -> anyhow::Result<Option<DurableOptions>> {
    if !settings.runs.durable && !args.is_given() {
        return Ok(None);
    }
    let store = store_setup::open(args, settings).await?;
    // The run may be resumed from another folder.
    let config = settings.servers.file.as_deref();
    let config = config.and_then(|file| std::path::absolute(file).ok());
    Ok(Some(DurableOptions {
        store,
        origin: origin(config.as_deref()),
        config,
    }))
}

/// What the runs of this server are stored as: a server with the same configuration resumes them.
fn origin(config: Option<&Path>) -> String {
    match config {
        Some(file) => format!("serve {}", file.display()),
        None => "serve".to_owned(),
    }
}
