//! `pml serve`: the MCP server that AI clients talk to.

mod notebook;
mod print_config;

use std::env::VarError;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use clap::{Args, ValueEnum};
use pml_runtime::{Pool, PoolOptions, Wishes};
use pml_scrub::Scrubber;
use pml_server::log::{self, Format};
use pml_server::{House, HouseOptions, HttpOptions, serve_http, serve_stdio};
use tokio::signal::unix::{SignalKind, signal};

use crate::amounts::parse_time;
use crate::config::{self, Settings};
use crate::exit::ExitCode;
use crate::{exit, searching, servers};
use notebook::RememberedTools;
use print_config::ClientName;

/// The variable that holds the token: an argument could be read by every user of the machine.
const TOKEN: &str = "PML_TOKEN";
/// What the last tasks get to end.
const LAST_TASKS: Duration = Duration::from_millis(500);
const DEFAULT_DRAIN: u64 = 10_000;
/// Agents ask for many things at once, and a worker that waits takes next to nothing.
const WARM: usize = 32;

/// Be an MCP server in front of all others
///
/// An AI client sees three tools: execute_code, search_tools and call_tool. Personal data and
/// secrets are replaced in everything that leaves.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml serve                              over standard input and output\n  \
    pml serve --http 127.0.0.1:8080        over HTTP, at http://127.0.0.1:8080/mcp\n  \
    pml serve --print-config claude-code   how a client starts it\n\n\
    The token for HTTP is read from PML_TOKEN, or from a file with --token-file; it is needed\n\
    unless the address is of this machine only.")]
pub struct ServeArgs {
    /// Serve over HTTP at this address instead
    #[arg(long, value_name = "ADDRESS:PORT")]
    http: Option<SocketAddr>,

    /// Read the bearer token for HTTP from this file
    #[arg(long, value_name = "FILE", requires = "http")]
    token_file: Option<PathBuf>,

    /// A name that clients use for this server, such as tools.example.com
    #[arg(long, value_name = "HOST", requires = "http")]
    allow_host: Vec<String>,

    /// A web page that may talk to this server, such as https://app.example.com:443
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    allow_origin: Vec<String>,

    /// Workers kept ready [default: 32]
    #[arg(long, value_name = "N")]
    warm: Option<usize>,

    /// How long running calls have to end when the server does [default: 10s]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    drain: Option<u64>,

    /// How log lines on standard error are written
    #[arg(long, value_enum, default_value = "text")]
    log_format: LogFormat,

    /// What is logged
    #[arg(long, value_enum, default_value = "info")]
    log_level: LogLevel,

    /// Run scripts without V8's compilers: slower, with less to attack
    #[arg(long)]
    no_jit: bool,

    /// Run scripts even where the kernel lacks landlock or seccomp
    #[arg(long)]
    allow_missing_walls: bool,

    /// Print what to put into the configuration of a client, and do nothing else
    #[arg(long, value_enum, value_name = "CLIENT")]
    print_config: Option<ClientName>,
}

#[derive(Clone, Copy, ValueEnum)]
enum LogFormat {
    Text,
    Json,
}

#[derive(Clone, Copy, ValueEnum)]
enum LogLevel {
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

pub fn run(args: &ServeArgs, config: Option<&Path>) -> ExitCode {
    let done = match args.print_config {
        Some(client) => print_config::print(client, config),
        None => serve(args, config),
    };
    done.unwrap_or_else(exit::mistake)
}

fn serve(args: &ServeArgs, config: Option<&Path>) -> anyhow::Result<ExitCode> {
    servers::check_depth()?;
    let settings = config::load(config)?;
    let scrubber = Arc::new(Scrubber::new(&settings.scrub)?);
    log::init(args.format(), args.level(), scrubber.clone())?;
    let http = args
        .http
        .map(|address| args.http_options(address))
        .transpose()?;
    let pool = Pool::new(args.pool(&settings)?);
    let event_loop = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let served = event_loop.block_on(async {
        let limits = *pool.limits();
        let tool_timeout = settings.limits.tool_timeout();
        let search = searching::open(settings.servers.file.as_deref())?;
        let notebook = Arc::new(RememberedTools::of(&settings.servers));
        let gateway = servers::open(settings.servers)?;
        let house = House::open(HouseOptions {
            pool,
            gateway: gateway.clone(),
            search,
            scrubber,
            limits,
            tool_timeout,
            drain: Duration::from_millis(args.drain.unwrap_or(DEFAULT_DRAIN)),
            notebook,
        });
        close_on_signal(&house)?;
        let served = match http {
            Some(options) => {
                serve_http(house, options, |address| {
                    tracing::info!(url = %format_args!("http://{address}/mcp"), "listening");
                })
                .await
            }
            None => serve_stdio(house).await,
        };
        servers::close(&gateway).await;
        anyhow::Ok(served?)
    });
    // The workers end with what is left of the house. A thread may still wait for standard input;
    // nobody waits for that thread for long.
    event_loop.shutdown_timeout(LAST_TASKS);
    served.map(|()| ExitCode::SUCCESS)
}

/// The first signal lets running calls end; a second one is not waited for.
fn close_on_signal(house: &House) -> anyhow::Result<()> {
    let mut terminated = signal(SignalKind::terminate())?;
    let mut interrupted = signal(SignalKind::interrupt())?;
    let house = house.clone();
    tokio::spawn(async move {
        for last in [false, true] {
            tokio::select! {
                _ = terminated.recv() => {}
                _ = interrupted.recv() => {}
            }
            if last {
                exit::interrupted().leave();
            }
            tracing::info!("shutting down");
            house.close();
        }
    });
    Ok(())
}

impl ServeArgs {
    fn pool(&self, settings: &Settings) -> anyhow::Result<PoolOptions> {
        let default = PoolOptions::new()?;
        Ok(PoolOptions {
            warm: self.warm.or(settings.pool.warm).unwrap_or(WARM),
            limits: settings.limits.limits().lowered(&Wishes::default()),
            jit: !self.no_jit,
            allow_missing_walls: self.allow_missing_walls,
            ..default
        })
    }

    fn http_options(&self, address: SocketAddr) -> anyhow::Result<HttpOptions> {
        let token = match &self.token_file {
            Some(file) => {
                let text = std::fs::read_to_string(file);
                let text = text.with_context(|| format!("{} cannot be read", file.display()))?;
                Some(text.trim().to_owned())
            }
            None => match std::env::var(TOKEN) {
                Ok(token) => Some(token.trim().to_owned()),
                Err(VarError::NotPresent) => None,
                Err(error) => anyhow::bail!("{TOKEN} cannot be used: {error}"),
            },
        };
        Ok(HttpOptions {
            address,
            token,
            hosts: self.allow_host.clone(),
            origins: self.allow_origin.clone(),
        })
    }

    fn format(&self) -> Format {
        match self.log_format {
            LogFormat::Text => Format::Text,
            LogFormat::Json => Format::Json,
        }
    }

    fn level(&self) -> tracing::Level {
        match self.log_level {
            LogLevel::Error => tracing::Level::ERROR,
            LogLevel::Warn => tracing::Level::WARN,
            LogLevel::Info => tracing::Level::INFO,
            LogLevel::Debug => tracing::Level::DEBUG,
            LogLevel::Trace => tracing::Level::TRACE,
        }
    }
}
