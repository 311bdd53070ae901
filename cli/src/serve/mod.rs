//! `pml serve`: the MCP server that AI clients talk to.

mod cached_tools;
mod durable_runs;
mod print_config;
mod token_source;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use pml_gateway::Config;
use pml_protocol::RequestedLimits;
use pml_runtime::{Pool, PoolOptions};
use pml_scrub::Scrubber;
use pml_server::log::{self, Format};
use pml_server::{
    Authentication, HttpOptions, ListenAddress, ServerOptions, ServerState, WorkflowOptions,
    serve_http, serve_status, serve_stdio,
};
use tokio::signal::unix::{SignalKind, signal};

use crate::amounts::parse_time;
use crate::audit_setup::AuditSetup;
use crate::config::{self, Settings, SpeculationMode};
use crate::exit::ExitCode;
use crate::store_setup::StoreArgs;
use crate::{capability, control, exit, search_setup, servers, suspensions};
use cached_tools::CachedTools;
use print_config::ClientName;

/// How long background tasks have to end after the server.
const TASK_TIMEOUT: Duration = Duration::from_millis(500);
const DEFAULT_DRAIN: u64 = 10_000;
/// Agents send many calls at once, and an idle worker costs less than 1 MB.
const WARM: usize = 32;

/// Serve all tools to AI clients as one MCP server
///
/// An AI client sees three tools: execute_code, search_tools and call_tool; and execute_workflow, if
/// `pml.workflows.tool` is true. Personal data and
/// secrets are replaced in everything that leaves.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml serve                              over standard input and output\n  \
    pml serve --http 127.0.0.1:8080        over HTTP, at http://127.0.0.1:8080/mcp\n  \
    pml serve --http unix:/tmp/pml.sock    over HTTP, for processes of this user only\n  \
    pml serve --metrics 127.0.0.1:9464     with /metrics for Prometheus\n  \
    pml serve --print-config claude-code   how a client starts it\n  \
    pml serve --capability @token.txt      only the tools that a token permits\n\n\
    The token for HTTP is read from PML_TOKEN, or from a file with --token-file. Without either, a\n\
    token is made and printed on standard error, unless other machines can connect: then one must\n\
    be set. Clients may also send tokens of `pml token mint`, if there is a root key.")]
pub struct ServeArgs {
    /// Serve over HTTP at this address instead, or at a Unix socket (unix:PATH)
    #[arg(long, value_name = "ADDRESS:PORT")]
    http: Option<ListenAddress>,

    /// Read the bearer tokens for HTTP from this file, one per line; it is created with a new token
    /// if it does not exist
    #[arg(long, value_name = "FILE", requires = "http")]
    token_file: Option<PathBuf>,

    /// Let every process of this machine in without a token
    #[arg(long, requires = "http", conflicts_with = "token_file")]
    no_token: bool,

    /// A name that clients use for this server, such as tools.example.com
    #[arg(long, value_name = "HOST", requires = "http")]
    allow_host: Vec<String>,

    /// A web page that may talk to this server, such as http://localhost:5173; no page may by default
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    allow_origin: Vec<String>,

    /// Workers kept ready [default: 32]
    #[arg(long, value_name = "N")]
    warm: Option<usize>,

    /// How long calls in flight have to end when the server shuts down [default: 10s]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    drain: Option<u64>,

    /// Serve /metrics for Prometheus and the probes /healthz, /readyz and /startupz at this address, to
    /// everyone who reaches it; --http serves them too, /metrics only to clients with a token
    #[arg(long, value_name = "ADDRESS:PORT")]
    metrics: Option<ListenAddress>,

    /// The format of log lines on standard error
    #[arg(long, value_enum, default_value = "text")]
    log_format: LogFormat,

    /// The lowest level that is logged
    #[arg(long, value_enum, default_value = "info")]
    log_level: LogLevel,

    /// Make no call before a script makes it
    #[arg(long)]
    no_speculate: bool,

    /// Run scripts without V8's compilers: slower, with less to attack
    #[arg(long)]
    no_jit: bool,

    /// Run scripts even where the kernel lacks landlock or seccomp
    #[arg(long)]
    allow_missing_walls: bool,

    #[command(flatten)]
    store: StoreArgs,

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
        Some(client) => print_config::print(client, config, args.http.as_ref()),
        None => serve(args, config),
    };
    done.unwrap_or_else(exit::usage_error)
}

fn serve(args: &ServeArgs, config: Option<&Path>) -> anyhow::Result<ExitCode> {
    servers::check_depth()?;
    let settings = config::load(config)?;
    let scrubber = Arc::new(Scrubber::new(&settings.scrub)?);
    let secrets = settings.servers.secrets().clone();
    let lines = log::init(
        args.format(),
        args.level(),
        scrubber.clone(),
        secrets.clone(),
    )?;
    warn_without_servers(&settings.servers, config);
    let http = args
        .http
        .as_ref()
        .map(|address| args.http_options(address, &settings.servers))
        .transpose()?;
    let pool = Pool::new(args.pool(&settings)?);
    let event_loop = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let served = event_loop.block_on(async {
        let limits = *pool.limits();
        let tool_timeout = settings.limits.tool_timeout();
        let speculate = settings.speculate == SpeculationMode::Script && !args.no_speculate;
        let search = search_setup::open(settings.servers.file.as_deref())?;
        let observer = Arc::new(CachedTools::for_settings(&settings));
        let durable = durable_runs::open(&args.store, &settings).await?;
        let store = durable
            .as_ref()
            .map(|durable| durable.approvals.store().clone());
        let telemetry = settings.telemetry.start(&scrubber, &secrets)?;
        let mut audit = AuditSetup::open(&settings, args.http.is_none())?;
        let suspensions = suspensions::open(&settings)?;
        if let Some(telemetry) = &telemetry {
            lines.send_to(telemetry);
        }
        let gateway = servers::open(settings.servers, pool.options_for_children())?;
        let state = ServerState::open(ServerOptions {
            pool,
            gateway: gateway.clone(),
            search,
            scrubber,
            limits,
            tool_timeout,
            speculate,
            drain: Duration::from_millis(args.drain.unwrap_or(DEFAULT_DRAIN)),
            approval_rules: settings.approvals.rules(),
            durable,
            observer,
            audit: audit.trail(&gateway),
            telemetry: telemetry.clone(),
            costs: settings.workflows.call_costs(),
            suspensions,
            workflows: WorkflowOptions {
                limits: settings.workflows.limits(),
                tool: settings.workflows.tool,
            },
        });
        close_on_signal(&state)?;
        let _control = control::listen(&gateway);
        if let Some(address) = &args.metrics {
            let address = serve_status(state.clone(), address).await?;
            tracing::info!(address = %StatusUrl(&address), "metrics are served");
        }
        let served = match http {
            Some(options) => {
                serve_http(state, options, |address| {
                    tracing::info!(url = %address, "listening");
                })
                .await
            }
            None => serve_stdio(state).await,
        };
        servers::close(&gateway).await;
        if let Some(telemetry) = telemetry {
            telemetry.shutdown().await;
        }
        audit.close().await;
        if let Some(store) = store {
            store.close().await;
        }
        anyhow::Ok(served?)
    });
    // The workers end with the last reference to the state. A thread may still block on standard
    // input; it is not joined.
    event_loop.shutdown_timeout(TASK_TIMEOUT);
    served.map(|()| ExitCode::SUCCESS)
}

/// A client shows a server without tools and no reason. The log has it, and so have the instructions.
fn warn_without_servers(servers: &Config, named: Option<&Path>) {
    if let Err(missing) = Config::locate(named, Path::new("")) {
        tracing::warn!("there are no tools: {missing}");
    } else if servers.servers.is_empty() {
        tracing::warn!("there are no tools: the configuration has no servers; run `pml add`");
    }
}

/// The address of the metrics.
struct StatusUrl<'a>(&'a ListenAddress);

impl fmt::Display for StatusUrl<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            ListenAddress::Tcp(address) => write!(f, "http://{address}/metrics"),
            ListenAddress::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// The first signal drains calls in flight; the second one exits at once.
fn close_on_signal(state: &ServerState) -> anyhow::Result<()> {
    let mut terminated = signal(SignalKind::terminate())?;
    let mut interrupted = signal(SignalKind::interrupt())?;
    let state = state.clone();
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
            state.close();
        }
    });
    Ok(())
}

impl ServeArgs {
    fn pool(&self, settings: &Settings) -> anyhow::Result<PoolOptions> {
        let default = PoolOptions::new()?;
        Ok(PoolOptions {
            warm: self.warm.or(settings.pool.warm).unwrap_or(WARM),
            limits: settings
                .limits
                .limits()
                .lowered(&RequestedLimits::default()),
            jit: !self.no_jit,
            allow_missing_walls: self.allow_missing_walls,
            ..default
        })
    }

    fn http_options(
        &self,
        address: &ListenAddress,
        config: &Config,
    ) -> anyhow::Result<HttpOptions> {
        let plain = token_source::read(&token_source::TokenOptions {
            file: self.token_file.as_deref(),
            without: self.no_token,
            address,
            format: self.format(),
        })?;
        Ok(HttpOptions {
            address: address.clone(),
            authentication: Authentication {
                plain,
                capabilities: capability::for_clients(config)?,
            },
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
