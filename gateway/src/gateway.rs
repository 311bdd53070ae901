//! The handle that everything else holds: open it once, clone it freely, shut it down at the end.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;

use crate::call::{CallError, CallValue, Progress, RunLimits, RunScope};
use crate::config::{Config, ConfigError, Endpoint, ServerConfig};
use crate::health::{self, Pace};
use crate::oauth::OAuth;
use crate::policy::approval::Approval;
use crate::policy::{Policy, PolicyConfig};
use crate::registry::Tool;
use crate::server::{Server, ServerContext};
use crate::transport::{Facilities, Login, StartError};

/// How many servers may start at the same moment.
const CONCURRENT_STARTS: usize = 8;

/// Why a gateway cannot be opened at all.
#[derive(Debug, thiserror::Error)]
pub enum GatewayError {
    #[error(transparent)]
    Config(#[from] ConfigError),
}

/// All configured servers behind one door. Clones share everything.
#[derive(Clone)]
pub struct Gateway(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub servers: BTreeMap<String, Arc<Server>>,
    context: Arc<ServerContext>,
    /// When every server was first asked for its tools.
    all_asked: OnceLock<Instant>,
}

/// The tools of all servers that could be asked, and why the others could not.
#[derive(Debug)]
pub struct Listing {
    pub tools: Vec<Arc<Tool>>,
    pub problems: Vec<(String, StartError)>,
}

impl Gateway {
    /// Reads the policy of `config` and prepares its servers; none of them is started yet.
    /// Must be called inside a tokio runtime.
    pub fn open(config: Config) -> Result<Self, GatewayError> {
        Self::open_with(config, None)
    }

    /// The same, with the user's logins to servers that want one.
    pub fn open_with(config: Config, logins: Option<Arc<OAuth>>) -> Result<Self, GatewayError> {
        let policy: PolicyConfig = config.section("policy")?;
        let context = Arc::new(ServerContext {
            facilities: Facilities::default(),
            policy: Policy::new(&policy),
            start_permits: Semaphore::new(CONCURRENT_STARTS),
            shutdown: CancellationToken::new(),
            generation: watch::Sender::new(0),
        });
        let servers: BTreeMap<_, _> = config
            .servers
            .into_iter()
            .map(|(name, server)| {
                let login = logins.as_ref().and_then(|logins| login(logins, &server));
                (name, Arc::new(Server::new(server, context.clone(), login)))
            })
            .collect();
        tokio::spawn(health::watch(
            servers.values().cloned().collect(),
            context.shutdown.clone(),
            Pace::default(),
        ));
        Ok(Self(Arc::new(Inner {
            servers,
            context,
            all_asked: OnceLock::new(),
        })))
    }

    /// The names of all configured servers.
    pub fn servers(&self) -> impl Iterator<Item = &str> {
        self.0.servers.keys().map(String::as_str)
    }

    /// What a running server calls itself for people to read.
    pub fn server_title(&self, server: &str) -> Option<String> {
        let connection = self.0.servers.get(server)?.live()?;
        let info = connection.info.server_info.as_ref()?;
        info.title.clone()
    }

    /// Starts every server that is not disabled and waits until each is ready or has failed.
    pub async fn warm(&self) {
        let starts = self
            .0
            .servers
            .values()
            .filter(|server| !server.config.disabled);
        futures::future::join_all(starts.map(|server| server.connection())).await;
    }

    /// The tools that are known now and that policy lets a script see. Starts nothing.
    pub fn tools(&self) -> Vec<Arc<Tool>> {
        self.0.known_tools()
    }

    /// The tools of all servers, or of one: starts what was not started, and waits no longer than
    /// `patience` for any of them.
    pub async fn list(&self, server: Option<&str>, patience: Duration) -> Listing {
        self.0.list(server, patience).await
    }

    /// A number that grows whenever the set of tools changed: a search index follows it.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.0.context.generation.subscribe()
    }

    /// One tool, with its schemas.
    pub async fn describe(&self, id: &str) -> Result<Arc<Tool>, CallError> {
        let verdict = self.0.policy().filter.verdict(id);
        verdict.map_err(|refusal| CallError::refused(id, refusal))?;
        Ok(self.0.resolve(id).await?.1)
    }

    /// Whether a person has to allow calls of this tool.
    pub fn approval(&self, tool: &Tool) -> Approval {
        let annotations = tool.annotations.as_ref();
        self.0.policy().ask.verdict(tool.id.as_str(), annotations)
    }

    /// The same for what a server offers besides tools: `server:resources`, `server:prompts`.
    pub fn approval_of_offer(&self, id: &str) -> Approval {
        self.0.policy().ask.verdict(id, None)
    }

    /// How long the person has to answer.
    pub fn approval_time(&self) -> Duration {
        self.0.policy().ask.time()
    }

    /// Begins a run.
    pub fn run(&self, limits: RunLimits) -> RunScope {
        RunScope::new(self.0.policy().budget(), limits, None)
    }

    /// Begins a run whose tools' progress is reported to `progress`.
    pub fn run_with_progress(
        &self,
        limits: RunLimits,
        progress: impl Fn(Progress) + Send + Sync + 'static,
    ) -> RunScope {
        RunScope::new(self.0.policy().budget(), limits, Some(Arc::new(progress)))
    }

    /// Calls a tool. `id` is `server:tool`, as the script wrote it.
    pub async fn call(
        &self,
        scope: &RunScope,
        id: &str,
        arguments: Value,
    ) -> Result<CallValue, CallError> {
        self.0.call(scope, id, arguments).await
    }

    /// Does everything that a call does before it is sent: the policy, the budget of the run and
    /// the schema may refuse it. The tool that would have been called is the answer.
    pub async fn rehearse(
        &self,
        scope: &RunScope,
        id: &str,
        arguments: Value,
    ) -> Result<Arc<Tool>, CallError> {
        self.0.rehearse(scope, id, arguments).await
    }

    /// Stops every server, gently first, and returns when none is left.
    pub async fn shutdown(&self) {
        self.0.context.shutdown.cancel();
        futures::future::join_all(self.0.servers.values().map(|server| server.stop())).await;
    }

    pub(crate) fn inner(&self) -> &Inner {
        &self.0
    }
}

impl Inner {
    pub fn policy(&self) -> &Policy {
        &self.context.policy
    }

    pub fn known_tools(&self) -> Vec<Arc<Tool>> {
        self.servers
            .values()
            .filter_map(|server| server.known_tools())
            .flat_map(|tools| tools.iter().cloned().collect::<Vec<_>>())
            .filter(|tool| self.policy().filter.allows(tool.id.as_str()))
            .collect()
    }

    /// How long ago every server was asked for its tools for the first time.
    pub(crate) fn since_all_asked(&self) -> Duration {
        self.all_asked
            .get()
            .map_or(Duration::ZERO, Instant::elapsed)
    }

    pub(crate) async fn list(&self, server: Option<&str>, patience: Duration) -> Listing {
        if server.is_none() {
            self.all_asked.get_or_init(Instant::now);
        }
        let asked = self
            .servers
            .values()
            .filter(|candidate| server.is_none_or(|name| candidate.config.name == name));
        let answers = futures::future::join_all(asked.map(|server| async move {
            let tools = match tokio::time::timeout(patience, server.current_tools()).await {
                Ok(Ok(tools)) => Ok(tools),
                Ok(Err(unavailable)) => Err(unavailable.error),
                Err(_) => Err(StartError::TimedOut {
                    after: patience,
                    stderr: Vec::new(),
                }),
            };
            (server.config.name.clone(), tools)
        }))
        .await;
        let mut listing = Listing {
            tools: Vec::new(),
            problems: Vec::new(),
        };
        for (name, answer) in answers {
            match answer {
                Ok(tools) => listing.tools.extend(
                    tools
                        .iter()
                        .filter(|tool| self.policy().filter.allows(tool.id.as_str()))
                        .cloned(),
                ),
                Err(StartError::Disabled) => {}
                Err(error) => listing.problems.push((name, error)),
            }
        }
        listing
    }
}

/// A server with an `Authorization` header of its own needs no login.
fn login(logins: &Arc<OAuth>, server: &ServerConfig) -> Option<Login> {
    let Ok(Endpoint::Http(remote) | Endpoint::Sse(remote)) = &server.usable else {
        return None;
    };
    let has_header = remote
        .headers
        .keys()
        .any(|name| name.eq_ignore_ascii_case("authorization"));
    (!has_header).then(|| Login::new(logins.clone(), remote.url.clone()))
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.context.shutdown.cancel();
    }
}
