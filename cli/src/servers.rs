//! The servers of one command: opened with the user's logins, gone when the command ends.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

use pml_gateway::config::{Command, Endpoint};
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

/// How many `pml` stand above this one.
const DEPTH: &str = "PML_DEPTH";
/// One gateway may stand behind another; one that stands behind itself goes on without end.
const MAX_DEPTH: u32 = 3;

/// Fails in a `pml serve` that was started by one that was started by one, and so on.
pub fn check_depth() -> anyhow::Result<()> {
    anyhow::ensure!(
        depth() < MAX_DEPTH,
        "pml serve was started by pml serve, again and again: a server of its configuration starts it with the same configuration; take that server out"
    );
    Ok(())
}

fn depth() -> u32 {
    let depth = std::env::var(DEPTH).ok();
    depth.and_then(|depth| depth.parse().ok()).unwrap_or(0)
}

/// The command `pml` is this very program, installed or not: the demo server is found from the
/// build folder too, and is never of another version. An entry that starts `pml serve` as clients
/// do is left out: they write it into the file that it reads.
fn name_ourselves(config: &mut Config) {
    let program = std::env::current_exe().ok();
    config.servers.retain(|_, server| {
        let Ok(Endpoint::Stdio(command)) = &mut server.endpoint else {
            return true;
        };
        if is_this_gateway(command) {
            return false;
        }
        let below = (depth() + 1).to_string();
        command.env.insert(DEPTH.to_owned(), below);
        if command.program == "pml"
            && let Some(program) = &program
        {
            command.program = program.to_string_lossy().into_owned();
        }
        true
    });
}

/// Whether the command is a gateway that reads what this one reads.
fn is_this_gateway(command: &Command) -> bool {
    let is_pml = Path::new(&command.program).file_name() == Some(OsStr::new("pml"));
    let has_own_file = command.args.iter().any(|arg| arg.starts_with("--config"));
    let serves = command.args.iter().any(|arg| arg == "serve");
    is_pml && serves && !has_own_file && command.cwd.is_none()
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
