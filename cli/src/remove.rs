//! `pml remove`: removes a server from the configuration file.

use std::io::{self, Write};
use std::path::Path;

use clap::Args;
use pml_client_import::remove_server;
use pml_gateway::Config;
use pml_gateway::config::{ConfigFile, ConfigOrigin};

use crate::exit::ExitCode;
use crate::{exit, trust};

/// Remove a server from the configuration file
///
/// The server is taken out of the file that pml reads: the one named with --config, else .mcp.json of
/// this folder, else your own configuration. Comments in the file are kept. A stored login stays:
/// `pml logout` deletes it.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml remove fs\n  \
    pml --config servers.json remove api\n\n\
    Exit codes: 0 removed, 2 the file has no such server, is invalid or cannot be written.")]
pub struct RemoveArgs {
    /// The name of the server
    name: String,
}

pub fn run(args: &RemoveArgs, config: Option<&Path>) -> ExitCode {
    remove(args, config).unwrap_or_else(exit::usage_error)
}

fn remove(args: &RemoveArgs, config: Option<&Path>) -> anyhow::Result<ExitCode> {
    let ConfigFile { path: file, origin } = Config::locate(config, Path::new(""))?;
    // A project's file that the user does not trust stays untrusted.
    let is_trusted = origin == ConfigOrigin::Project && trust::is_trusted(&file);
    remove_server(&file, &args.name)?;
    if is_trusted {
        trust::trust_own(&file);
    }
    let printed = writeln!(
        io::stdout(),
        "Removed `{}` from {}.",
        args.name,
        file.display()
    );
    exit::check_pipe(printed)?;
    Ok(ExitCode::SUCCESS)
}
