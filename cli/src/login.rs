//! `pml login`: OAuth logins to HTTP servers.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use pml_gateway::config::{Endpoint, ServerConfig};
use pml_gateway::oauth::{ClientIdentity, LoginOptions, OAuth, TokenStore};
use pml_gateway::{Config, StartError};
use serde_json::json;
use url::Url;

use crate::amounts::parse_time;
use crate::audit_setup::CommandAudit;
use crate::confirm::confirm;
use crate::exit::ExitCode;
use crate::{config, diagnostics, exit, servers};

/// How long a server may take to answer the request that shows whether it needs a login.
const PROBE_TIMEOUT: Duration = Duration::from_secs(10);

/// Log in to a server over HTTP (OAuth 2.1)
///
/// Opens the browser, waits for the redirect, and stores the tokens in files that only you can
/// read. Tokens are refreshed automatically until the server refuses.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml login api\n  \
    pml login api --scope read --scope write\n  \
    pml login api --client-id my-app --port 8765    for servers without client registration\n  \
    pml login api --no-browser                      print the address only\n  \
    pml login api --auth-host login.example.com     the login is at another site\n\n\
    The client secret of a registered client is read from PML_CLIENT_SECRET.\n\
    Exit codes: 0 logged in, 1 the login failed, 2 wrong usage or configuration.")]
pub struct LoginArgs {
    /// The name of a configured server
    server: String,

    /// Request this scope instead of those that the server asks for (repeatable)
    #[arg(long, value_name = "SCOPE")]
    scope: Vec<String>,

    /// The client id, if you registered a client by hand
    #[arg(long, value_name = "ID")]
    client_id: Option<String>,

    /// The port of the redirect address [default: a free one]
    ///
    /// A client that you registered by hand may need a certain port.
    #[arg(
        long,
        value_name = "PORT",
        default_value_t = 0,
        hide_default_value = true
    )]
    port: u16,

    /// Allow private addresses in the server's metadata, as inside a company
    #[arg(long)]
    private_network: bool,

    /// A host of another site that the login may go through, as the error names it (repeatable)
    #[arg(long, value_name = "HOST")]
    auth_host: Vec<String>,

    /// Print the address and open no browser, for example over SSH
    #[arg(long)]
    no_browser: bool,

    /// How long to wait for the login
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
    let audit = CommandAudit::of(&settings);
    servers::with_gateway(settings.servers, async |gateway| {
        let mut listing = gateway.list(Some(&args.server), PROBE_TIMEOUT).await;
        let challenge = match listing.problems.pop() {
            Some((_, StartError::LoginNeeded { challenge, .. })) => challenge,
            // Discovery reports any other problem. Logging in again is allowed.
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
            allowed_hosts: args.auth_host.clone(),
            confirm_hosts: Some(confirm_hosts),
        };
        let show = |address: &Url| {
            show(address, !args.no_browser);
            Ok(())
        };
        let logged_in = logins.login(&url, &options, show).await;
        let data = match &logged_in {
            Ok(logged_in) => json!({ "ok": true, "scopes": logged_in.scopes }),
            Err(_) => json!({ "ok": false }),
        };
        audit.record("pml.login", &args.server, &data);
        match logged_in {
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

/// The address of a configured server, which must be an HTTP server.
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
        Ok(Endpoint::OpenApi(service)) => service.base_url.clone().with_context(|| {
            format!(
                "server `{name}` has no `baseUrl`: write the address of the service into its entry"
            )
        }),
        Ok(Endpoint::Functions(_)) => {
            bail!("server `{name}` has functions, which pml runs itself: there is no login")
        }
        Ok(Endpoint::Stdio(_)) => bail!(
            "server `{name}` is a local program, which has no login: pass its credentials in `env`"
        ),
        Err(error) => Err(error.clone().into()),
    }
}

/// Asks on a terminal whether the login may go through other sites. `false` elsewhere.
fn confirm_hosts(server: &Url, hosts: &[String]) -> bool {
    let server = server.host_str().unwrap_or_default();
    let about = format!(
        "The login to {server} goes through another site: {}",
        hosts.join(", ")
    );
    confirm(about, "Do you know it, and want to log in there?")
}

/// Prints the address even if a browser opens: that may happen on another screen.
fn show(address: &Url, open: bool) {
    let host = address.host_str().unwrap_or_default();
    diagnostics::line(format_args!("Log in at {host}:\n\n  {address}\n"));
    if open && let Err(error) = open_browser(address) {
        diagnostics::line(format_args!("(no browser could be opened: {error})"));
    }
}

/// Starts the browser without a shell. The address begins with `http`, so it cannot be an option, and
/// the opener is not taken from the working folder.
fn open_browser(address: &Url) -> io::Result<()> {
    let opener = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    let program = pml_files::find_executable(opener)
        .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, format!("there is no {opener}")))?;
    let mut browser = Command::new(program)
        .envs(pml_files::absolute_search_path().map(|path| ("PATH", path)))
        .arg(address.as_str())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    // Waits for the child so that it does not stay a zombie.
    std::thread::spawn(move || browser.wait());
    Ok(())
}
