//! The gateway of one command: opened with the user's logins, closed when the command ends.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

use pml_functions::FunctionPools;
use pml_gateway::config::{Command, Endpoint};
use pml_gateway::oauth::{OAuth, TokenStore};
use pml_gateway::{Config, Gateway, GatewayParts};
use pml_runtime::PoolOptions;

use crate::exit::ExitCode;
use crate::{capability, exit, interrupt};

/// Opens the gateway, without starting a server, bound by the capability token of this process. Functions
/// run in pools with the options `sandboxes`. Must be called inside a Tokio runtime.
pub fn open(mut config: Config, sandboxes: PoolOptions) -> anyhow::Result<Gateway> {
    let capability = capability::of_process(&config)?;
    prepare_commands(&mut config);
    // A user without a home folder has no logins, and may not need any.
    let logins = TokenStore::of_user().ok().map(OAuth::new).map(Arc::new);
    let parts = GatewayParts {
        logins,
        functions: Some(Arc::new(FunctionPools::new(sandboxes))),
    };
    let gateway = Gateway::open_with(config, parts)?;
    Ok(match capability {
        Some(capability) => gateway.with_capability(capability),
        None => gateway,
    })
}

/// The environment variable with the number of `pml` processes above this one.
const DEPTH: &str = "PML_DEPTH";
/// A gateway may be a server of another gateway. One that starts itself would recurse without end.
const MAX_DEPTH: u32 = 3;

/// Fails in a `pml serve` with [`MAX_DEPTH`] or more `pml` processes above it.
pub fn check_depth() -> anyhow::Result<()> {
    anyhow::ensure!(
        depth() < MAX_DEPTH,
        "pml serve starts itself: a server of its configuration runs pml serve with the same configuration; remove that server"
    );
    Ok(())
}

fn depth() -> u32 {
    let depth = std::env::var(DEPTH).ok();
    depth.and_then(|depth| depth.parse().ok()).unwrap_or(0)
}

/// Replaces the command `pml` with the path of this program, so that the demo server needs no
/// installation and always has this version. Removes entries that start `pml serve` as clients do:
/// clients write them into the same file. Sets [`DEPTH`] for all others.
fn prepare_commands(config: &mut Config) {
    let program = std::env::current_exe().ok();
    config.servers.retain(|_, server| {
        let Ok(Endpoint::Stdio(command)) = &mut server.endpoint else {
            return true;
        };
        if is_this_gateway(command) {
            return false;
        }
        let depth = (depth() + 1).to_string();
        command.env.insert(DEPTH.to_owned(), depth);
        if command.program == "pml"
            && let Some(program) = &program
        {
            command.program = program.to_string_lossy().into_owned();
        }
        true
    });
}

/// Whether the command is a gateway that reads the same configuration as this one.
pub fn is_this_gateway(command: &Command) -> bool {
    let is_pml = Path::new(&command.program).file_name() == Some(OsStr::new("pml"));
    let has_own_file = command.args.iter().any(|arg| arg.starts_with("--config"));
    let serves = command.args.iter().any(|arg| arg == "serve");
    is_pml && serves && !has_own_file && command.cwd.is_none()
}

/// Shuts every server down. A second Ctrl-C ends the wait: the servers that are left are killed
/// with the event loop.
pub async fn close(gateway: &Gateway) {
    let _ = interrupt::or(gateway.shutdown()).await;
}

/// Opens the gateway, runs `work` until it ends or is interrupted, and closes the gateway.
pub fn with_gateway(
    config: Config,
    work: impl AsyncFnOnce(&Gateway) -> anyhow::Result<ExitCode>,
) -> anyhow::Result<ExitCode> {
    let event_loop = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    event_loop.block_on(async {
        let sandboxes = PoolOptions {
            warm: 0,
            ..PoolOptions::new()?
        };
        let gateway = open(config, sandboxes)?;
        let done = interrupt::or(work(&gateway)).await;
        close(&gateway).await;
        done?.unwrap_or_else(|| Ok(exit::interrupted()))
    })
}
