//! `pml login`: access to HTTP servers that want a login.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use pml_gateway::config::{Endpoint, ServerConfig};
use pml_gateway::oauth::{ClientIdentity, LoginOptions, OAuth, TokenStore};
use pml_gateway::{Config, StartError};
use url::Url;

use crate::amounts::parse_time;
use crate::exit::ExitCode;
use crate::{diagnostics, config, exit, servers};

/// How long a server may take to say whether it wants a login at all.
const KNOCK: Duration = Duration::from_secs(10);

/// Log in to a server over HTTP (OAuth 2.1)
///
/// Opens the browser, waits for it to come back, and stores the tokens in files that only you can
/// read. They are renewed without asking until the server refuses.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml login api\n  \
    pml login api --scope read --scope write\n  \
    pml login api --client-id my-app --port 8765    where programs cannot register themselves\n  \
    pml login api --no-browser                      only print the address\n\n\
    The client secret of a registered client is read from PML_CLIENT_SECRET.\n\
    Exit codes: 0 logged in, 1 the login failed, 2 wrong usage or configuration.")]
pub struct LoginArgs {
    /// A server of the configuration
    server: String,

    /// Ask for this scope instead of what the server says it needs (repeatable)
    #[arg(long, value_name = "SCOPE")]
    scope: Vec<String>,

    /// The id of a client that was registered by hand
    #[arg(long, value_name = "ID")]
    client_id: Option<String>,

    /// The port the browser comes back to; a registered client may need a certain one
    #[arg(
        long,
        value_name = "PORT",
        default_value_t = 0,
        hide_default_value = true
    )]
    port: u16,

    /// Let the server send you to private addresses, as inside a company
    #[arg(long)]
    private_network: bool,

    /// Only print the address, for a browser on another screen
    #[arg(long)]
    no_browser: bool,

    /// How long to wait for the browser
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = parse_time)]
    wait: u64,
}

pub fn run(args: &LoginArgs, config: Option<&Path>) -> ExitCode {
    log_in(args, config).unwrap_or_else(exit::usage_error)
}

fn log_in(args: &LoginArgs, config: Option<&Path>) -> anyhow::Result<ExitCode> {
    let settings = config::require(config)?;
    let url = address(&settings.servers, &args.server)?;
    let logins = OAuth::new(TokenStore::of_user()?);
    servers::with_gateway(settings.servers, async |gateway| {
        let mut listing = gateway.list(Some(&args.server), KNOCK).await;
        let challenge = match listing.problems.pop() {
            Some((_, StartError::LoginNeeded { challenge, .. })) => challenge,
            // Whatever else is wrong, discovery will say; logging in again is fine, too.
            Some(_) => None,
            None if logins.store().servers()?.contains(&url) => None,
            None => {
                println!("{} needs no login: it answers without one", args.server);
                return Ok(ExitCode::SUCCESS);
            }
        };
        let options = LoginOptions {
            identity: match &args.client_id {
                None => ClientIdentity::Register,
                Some(id) => ClientIdentity::Registered {
                    id: id.clone(),
                    secret: std::env::var("PML_CLIENT_SECRET").ok(),
                },
            },
            scopes: args.scope.clone(),
            challenge,
            redirect_port: args.port,
            timeout: Duration::from_millis(args.wait),
            private_network: args.private_network,
        };
        let show = |address: &Url| {
            show(address, !args.no_browser);
            Ok(())
        };
        match logins.login(&url, &options, show).await {
            Ok(logged_in) if logged_in.scopes.is_empty() => {
                println!("logged in to {}", args.server);
                Ok(ExitCode::SUCCESS)
            }
            Ok(logged_in) => {
                let scopes = logged_in.scopes.join(", ");
                println!("logged in to {} with {scopes}", args.server);
                Ok(ExitCode::SUCCESS)
            }
            Err(error) => {
                diagnostics::error(format_args!("{:#}", anyhow::Error::new(error)));
                Ok(ExitCode::FAILURE)
            }
        }
    })
}

/// The address of a configured server that can be logged in to.
pub fn address(config: &Config, name: &str) -> anyhow::Result<Url> {
    let server: &ServerConfig = config.servers.get(name).with_context(|| {
        let known: Vec<&str> = config.servers.keys().map(String::as_str).collect();
        format!(
            "there is no server `{name}`; the servers are {}",
            known.join(", ")
        )
    })?;
    match &server.endpoint {
        Ok(Endpoint::Http(remote) | Endpoint::Sse(remote)) => Ok(remote.url.clone()),
        Ok(Endpoint::Stdio(_)) => bail!(
            "server `{name}` is a program on this machine, which needs no login: put what it wants into its `env`"
        ),
        Err(error) => Err(error.clone().into()),
    }
}

/// Prints the address in any case: a browser that opens on another screen helps nobody.
fn show(address: &Url, open: bool) {
    diagnostics::line(format_args!("Log in here, and come back:\n\n  {address}\n"));
    if open && let Err(error) = open_browser(address) {
        diagnostics::line(format_args!("(no browser could be opened: {error})"));
    }
}

fn open_browser(address: &Url) -> io::Result<()> {
    let opener = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    let mut browser = Command::new(opener)
        .arg(address.as_str())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    // It ends by itself; somebody has to take note of that.
    std::thread::spawn(move || browser.wait());
    Ok(())
}
