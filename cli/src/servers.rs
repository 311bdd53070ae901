//! The servers of one command: opened with the user's logins, gone when the command ends.

use std::sync::Arc;

use pml_gateway::config::Endpoint;
use pml_gateway::oauth::{OAuth, TokenStore};
use pml_gateway::{Config, Gateway, GatewayError};

use crate::exit::ExitCode;
use crate::{exit, interrupt};

/// Must be called inside the event loop. No server is started yet.
pub fn open(mut config: Config) -> Result<Gateway, GatewayError> {
    name_ourselves(&mut config);
    // A user without a home folder has no logins, and may not need any.
    let logins = TokenStore::of_user().ok().map(OAuth::new).map(Arc::new);
    Gateway::open_with(config, logins)
}

/// The command `pml` is this very program, installed or not: the demo server is found from the
/// build folder too, and is never of another version.
fn name_ourselves(config: &mut Config) {
    let Some(program) = std::env::current_exe().ok() else {
        return;
    };
    for server in config.servers.values_mut() {
        if let Ok(Endpoint::Stdio(command)) = &mut server.usable
            && command.program == "pml"
        {
            command.program = program.to_string_lossy().into_owned();
        }
    }
}

/// Stops every server, gently. A second Ctrl-C ends the wait: what is left is killed together
/// with the event loop.
pub async fn close(gateway: &Gateway) {
    let _ = interrupt::or(gateway.shutdown()).await;
}

/// Opens the gateway, lets `work` use it until it is done or interrupted, and closes it.
pub fn with(
    config: Config,
    work: impl AsyncFnOnce(&Gateway) -> anyhow::Result<ExitCode>,
) -> anyhow::Result<ExitCode> {
    let event_loop = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    event_loop.block_on(async {
        let gateway = open(config)?;
        let done = interrupt::or(work(&gateway)).await;
        close(&gateway).await;
        done?.unwrap_or_else(|| Ok(exit::interrupted()))
    })
}
