//! `pml logout`: deletes the tokens that `pml login` stored.

use std::path::Path;

use clap::Args;
use pml_gateway::oauth::{OAuth, TokenStore};

use crate::exit::ExitCode;
use crate::{config, exit, login};

/// Delete the stored login to a server
#[derive(Args)]
#[command(after_help = "Examples:\n  pml logout api\n\n\
    Exit codes: 0 logged out, or there was no login, 2 wrong usage or configuration.")]
pub struct LogoutArgs {
    /// The name of a configured server
    server: String,
}

pub fn run(args: &LogoutArgs, config: Option<&Path>) -> ExitCode {
    log_out(args, config).unwrap_or_else(exit::usage_error)
}

fn log_out(args: &LogoutArgs, config: Option<&Path>) -> anyhow::Result<ExitCode> {
    let settings = config::require_settings(config)?;
    let url = login::address(&settings.servers, &args.server)?;
    let logins = OAuth::new(TokenStore::of_user()?);
    let event_loop = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    match event_loop.block_on(logins.logout(&url))? {
        true => println!("logged out of {}", args.server),
        false => println!("there was no login to {}", args.server),
    }
    Ok(ExitCode::SUCCESS)
}
