//! The journals of the runs of `pml serve`.

use std::path::Path;

use pml_server::DurableOptions;

use crate::config::Settings;
use crate::store_setup::{self, StoreArgs};

/// Opens the store, unless `pml.runs.durable` is false. A server whose operator did not ask for journals
/// also starts without them.
pub async fn open(args: &StoreArgs, settings: &Settings) -> anyhow::Result<Option<DurableOptions>> {
    let is_wanted = args.is_given() || settings.runs.durable == Some(true);
    if !is_wanted && settings.runs.durable == Some(false) {
        return Ok(None);
    }
    let store = match store_setup::open(args, settings).await {
        Ok(store) => store,
        Err(error) if is_wanted => return Err(error),
        Err(error) => {
            tracing::warn!(
                error = format!("{error:#}"),
                "runs have no journals, and are lost if this server ends; name a store with --store, or set `pml.runs.durable` to false"
            );
            return Ok(None);
        }
    };
    // The run may be resumed from another folder.
    let config = settings.servers.file.as_deref();
    let config = config.and_then(|file| std::path::absolute(file).ok());
    Ok(Some(DurableOptions {
        approvals: settings.approvals.open(store),
        origin: origin(config.as_deref()),
        config,
        // Who asked for durable runs wants no outcome to be guessed; a client alone gets the failure at once.
        settles: settings.runs.durable == Some(true),
    }))
}

/// What the runs of this server are stored as: a server with the same configuration resumes them.
fn origin(config: Option<&Path>) -> String {
    match config {
        Some(file) => format!("serve {}", file.display()),
        None => "serve".to_owned(),
    }
}
