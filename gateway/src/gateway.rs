//! The handle to all servers: open it once, clone it freely, shut it down at the end.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use pml_credentials::Reference;
use pml_guards::{Guards, GuardsConfig};
use pml_policy::authorize::{Action, PolicyFile, PolicyFileError};
use pml_policy::labels::LabelRules;
use pml_policy::lock::ObservedServer;
use sha2::{Digest, Sha256};
use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;

use crate::call::{
    CallArguments, CallError, CallOptions, CallValue, Progress, RunLabels, RunLimits, RunScope,
};
use crate::caller::Caller;
use crate::config::{Config, ConfigError, Endpoint, ServerConfig};
use crate::effects::{Effect, EffectRules, FirstSeen};
use crate::guarded::note_refusal;
use crate::health::{self, HealthCheck};
use crate::labels::label_rules;
use crate::oauth::OAuth;
use crate::policy::approval::Approval;
use crate::policy::{CallLimits, Policy, PolicyConfig};
use crate::registry::{RefusedTool, Tool};
use crate::secrets::Secrets;
use crate::server::{Server, ServerContext};
use crate::session_histories::SessionHistories;
use crate::source::FunctionSources;
use crate::transport::{GatewayCount, Login, StartError, TransportContext, reap_orphans};

/// How many servers may start at the same time.
const CONCURRENT_STARTS: usize = 8;

/// Why a gateway cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum GatewayError {
    /// The configuration is invalid.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The policy file is invalid.
    #[error(transparent)]
    PolicyFile(#[from] PolicyFileError),
}

/// What a gateway needs of the program besides its configuration.
#[derive(Default)]
pub struct GatewayParts {
    /// The user's logins to servers that require one.
    pub logins: Option<Arc<OAuth>>,
    /// Opens the entries with `functions`; with `None`, they are not usable.
    pub functions: Option<Arc<dyn FunctionSources>>,
}

/// All configured servers, with one policy. Clones share all state.
///
/// ```no_run
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use pml_gateway::{Config, Gateway, RunLimits};
///
/// let gateway = Gateway::open(Config::load(".mcp.json".as_ref())?)?;
/// let run = gateway.run(RunLimits::default());
/// let arguments = serde_json::json!({ "path": "README.md" });
/// let text = gateway.call(&run, "fs:read_file", arguments).await?.value;
/// gateway.shutdown().await;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Gateway(pub(crate) Arc<Inner>, pub(crate) Arc<Caller>);

pub(crate) struct Inner {
    pub servers: BTreeMap<String, Arc<Server>>,
    pub effects: EffectRules,
    pub first_seen: FirstSeen,
    pub labels: LabelRules,
    pub guards: Guards,
    pub sessions: SessionHistories,
    policy_digest: [u8; 32],
    context: Arc<ServerContext>,
    /// When the tools of all servers were first listed.
    all_listed: OnceLock<Instant>,
    count: GatewayCount,
}

/// The tools of all servers that are usable, and why the others are not.
#[derive(Debug)]
pub struct Listing {
    /// The tools, by server and name.
    pub tools: Vec<Arc<Tool>>,
    /// The servers that are not usable, with the reason.
    pub problems: Vec<(String, StartError)>,
    /// The tools of usable servers that are not usable, with the reason.
    pub refused: Vec<RefusedTool>,
}

impl Gateway {
    /// Prepares the servers of `config` and its policy. No server is started yet.
    ///
    /// # Errors
    /// The policy is invalid.
    ///
    /// # Panics
    /// Panics outside of a tokio runtime.
    pub fn open(config: Config) -> Result<Self, GatewayError> {
        Self::open_with(config, GatewayParts::default())
    }

    /// [`Gateway::open`] with what the program adds to the configuration.
    ///
    /// # Errors
    /// The policy is invalid.
    ///
    /// # Panics
    /// Panics outside of a tokio runtime.
    pub fn open_with(mut config: Config, parts: GatewayParts) -> Result<Self, GatewayError> {
        let GatewayParts { logins, functions } = parts;
        config.refuse_unpinned();
        let policy: PolicyConfig = config.section("policy")?;
        let effects = EffectRules::new(&config, &policy.retry.idempotent)?;
        let labels = label_rules(&config)?;
        let guards = guards(&config)?;
        let file = config.policy_file(&policy)?;
        let policy_digest = policy.digest(file.as_ref().map(PolicyFile::text));
        let secrets = config.secrets().clone();
        let credentials = config.credentials()?;
        let context = Arc::new(ServerContext {
            secrets: secrets.clone(),
            credentials,
            lock: config.lock().cloned(),
            transports: TransportContext::default(),
            functions,
            policy: Policy::new(&policy).with_file(file, &policy),
            start_permits: Semaphore::new(CONCURRENT_STARTS),
            shutdown: CancellationToken::new(),
            generation: watch::Sender::new(0),
        });
        let servers: BTreeMap<_, _> = config
            .servers
            .into_iter()
            .map(|(name, server)| {
                let login = logins
                    .as_ref()
                    .and_then(|logins| login(logins, &server, &secrets));
                (name, Arc::new(Server::new(server, context.clone(), login)))
            })
            .collect();
        tokio::spawn(health::watch(
            servers.values().cloned().collect(),
            context.shutdown.clone(),
            HealthCheck::default(),
        ));
        tokio::spawn(reap_orphans(context.shutdown.clone()));
        let inner = Inner {
            servers,
            effects,
            first_seen: FirstSeen::default(),
            labels,
            guards,
            sessions: SessionHistories::default(),
            policy_digest,
            context,
            all_listed: OnceLock::new(),
            count: GatewayCount::new(),
        };
        Ok(Self(Arc::new(inner), Arc::new(Caller::local())))
    }

    /// The names of all configured servers.
    pub fn servers(&self) -> impl Iterator<Item = &str> {
        self.0.servers.keys().map(String::as_str)
    }

    /// The servers that are not used because the user does not trust the file that names them.
    pub fn untrusted_servers(&self) -> impl Iterator<Item = &str> {
        let is_untrusted = |server: &&Arc<Server>| {
            matches!(server.config.endpoint, Err(ConfigError::Untrusted { .. }))
        };
        let servers = self.0.servers.values().filter(is_untrusted);
        servers.map(|server| server.config.name.as_str())
    }

    /// The title of a running server.
    pub fn server_title(&self, server: &str) -> Option<String> {
        let connection = self.0.servers.get(server)?.live()?;
        let title = connection.source().info().title?;
        Some(self.0.secrets().hide(title).into_owned())
    }

    /// The references to secrets in the entry of each server that has some: a call of a server uses all
    /// of them.
    pub fn credentials(&self) -> BTreeMap<String, Vec<Reference>> {
        let servers = self.0.servers.iter();
        let named = servers.filter(|(_, server)| !server.config.references.is_empty());
        named
            .map(|(name, server)| (name.clone(), server.config.references.clone()))
            .collect()
    }

    /// Starts every server that is not disabled. Returns when each is ready or has failed.
    pub async fn warm(&self) {
        let starts = self
            .0
            .servers
            .values()
            .filter(|server| !server.config.disabled);
        futures::future::join_all(starts.map(|server| server.connection())).await;
    }

    /// The tools that are listed so far and that the principal may see. Starts no server.
    pub fn tools(&self) -> Vec<Arc<Tool>> {
        self.0.known_tools(&self.1)
    }

    /// The tools that are listed so far and that the globs of `pml.policy` allow, whoever may see them:
    /// what a search index has. Starts no server.
    pub fn indexed_tools(&self) -> Vec<Arc<Tool>> {
        self.0.indexed_tools()
    }

    /// The tools of all servers, or of one, that the principal may see. Starts servers that are not
    /// running, and waits at most `timeout` for each.
    pub async fn list(&self, server: Option<&str>, timeout: Duration) -> Listing {
        self.0.list(&self.1, server, timeout).await
    }

    /// The servers as they are now, for the lock file: what they say of themselves, and all their
    /// tools. Starts those that are not running, and waits at most `timeout` for each. Those that are
    /// disabled are left out.
    pub async fn observe(
        &self,
        timeout: Duration,
    ) -> BTreeMap<String, Result<ObservedServer, StartError>> {
        let listing = self.0.list(&self.1, None, timeout).await;
        let mut observed = BTreeMap::new();
        for (name, problem) in listing.problems {
            observed.insert(name, Err(problem));
        }
        for (name, server) in &self.0.servers {
            if let Some(tools) = server.known_tools()
                && !observed.contains_key(name)
            {
                let tools = tools
                    .iter()
                    .map(|tool| (tool.id.tool().to_owned(), tool.definition()));
                let server = ObservedServer {
                    identity: server.config.identity.clone(),
                    instructions: server.instructions(),
                    tools: tools.collect(),
                };
                observed.insert(name.clone(), Ok(server));
            }
        }
        observed
    }

    /// A number that grows whenever the tools change, for search indexes.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.0.context.generation.subscribe()
    }

    /// One tool with its schemas.
    ///
    /// # Errors
    /// The tool does not exist, is denied, or its server is not usable.
    pub async fn describe(&self, id: &str) -> Result<Arc<Tool>, CallError> {
        self.known_for(Action::Describe, id).await
    }

    /// The id of the tool that `id` means, if it is spelled as an identifier: `s:echo_tool` for the tool
    /// `s:echo-tool`. `None` if a tool has this very id, or if it is not clear which is meant.
    pub async fn spelled(&self, id: &str) -> Option<String> {
        self.0.spelled(&self.1, id).await
    }

    /// One tool that is to be called.
    ///
    /// # Errors
    /// As [`Gateway::describe`].
    pub async fn describe_for_call(&self, id: &str) -> Result<Arc<Tool>, CallError> {
        self.known_for(Action::Call, id).await
    }

    async fn known_for(&self, action: Action, id: &str) -> Result<Arc<Tool>, CallError> {
        self.0.check_id(&self.1, id)?;
        let resolved = self.0.resolve(&self.1, id).await;
        let tool = resolved.map_err(|error| error.hidden(self.0.secrets()))?.1;
        let labels = RunLabels::default();
        self.0.check_tool(&self.1, action, &tool, None, labels)?;
        Ok(tool)
    }

    /// What a call of this tool does to the world.
    pub fn effect(&self, tool: &Tool) -> Effect {
        match self.0.servers.get(tool.id.server()) {
            Some(server) => self.0.effects.class_of(tool, &server.config),
            None => Effect::unknown(),
        }
    }

    /// Whether calls of the tool may be made ahead of time: they have no effect, and the tool has not
    /// changed since this was asked first.
    pub fn may_speculate(&self, tool: &Tool) -> bool {
        self.0.is_unchanged_read(tool, &self.effect(tool))
    }

    /// Whether calls of the tool with this id need an idempotency key.
    pub fn is_keyed(&self, id: &str) -> bool {
        let listed = || {
            let id: crate::ToolId = id.parse().ok()?;
            let server = self.0.servers.get(id.server())?;
            let tool = server.known_tools()?.get(id.tool())?.clone();
            Some(self.0.effects.class_of(&tool, &server.config))
        };
        match self.0.effects.is_keyed(id) {
            Some(is_keyed) => is_keyed,
            None => listed().is_some_and(|effect| effect.key_argument.is_some()),
        }
    }

    /// Whether the user has to approve requests for `server:resources` or `server:prompts`.
    pub fn approval_of_resources(&self, id: &str) -> Approval {
        self.0.policy().ask.verdict(id, None)
    }

    /// What of the operator's policy slows or refuses calls of a tool. Spends nothing.
    pub fn limits_of(&self, id: &str) -> CallLimits {
        let principal = self.1.requester.entity_id();
        self.0.policy().limits_of(&principal, id)
    }

    /// A digest of the operator's policy and of the way to a server: what an approval of a call of it
    /// is bound to, besides the call.
    pub fn policy_digest(&self, server: &str) -> [u8; 32] {
        let mut digest = Sha256::new_with_prefix(self.0.policy_digest);
        let server = self.0.servers.get(server);
        if let Some(endpoint) = server.and_then(|server| server.config.endpoint.as_ref().ok()) {
            digest.update(endpoint.digest());
        }
        digest.finalize().into()
    }

    /// How long the user has to answer.
    pub fn approval_time(&self) -> Duration {
        self.0.policy().ask.time()
    }

    /// Begins a run.
    pub fn run(&self, limits: RunLimits) -> RunScope {
        RunScope::new(self.1.clone(), self.0.policy().budget(), limits, None)
    }

    /// Begins a run that reports the progress of its tools to `progress`.
    pub fn run_with_progress(
        &self,
        limits: RunLimits,
        progress: impl Fn(Progress) + Send + Sync + 'static,
    ) -> RunScope {
        let progress = Some(Arc::new(progress) as Arc<_>);
        RunScope::new(self.1.clone(), self.0.policy().budget(), limits, progress)
    }

    /// Calls a tool. `id` is `server:tool`, as the script wrote it. `arguments` are a JSON value, or
    /// [`CallArguments`] if something in them was restored.
    ///
    /// # Errors
    /// See [`CallErrorKind`](crate::CallErrorKind).
    ///
    /// # Cancel safety
    /// Dropping the future cancels the call at the server.
    pub async fn call(
        &self,
        scope: &RunScope,
        id: &str,
        arguments: impl Into<CallArguments>,
    ) -> Result<CallValue, CallError> {
        self.call_with(scope, id, arguments, CallOptions::default())
            .await
    }

    /// [`Gateway::call`] with options.
    ///
    /// # Errors
    /// As [`Gateway::call`], or the error of [`CallOptions::before_send`].
    ///
    /// # Cancel safety
    /// As [`Gateway::call`].
    pub async fn call_with(
        &self,
        scope: &RunScope,
        id: &str,
        arguments: impl Into<CallArguments>,
        options: CallOptions<'_>,
    ) -> Result<CallValue, CallError> {
        let secrets = self.0.secrets();
        let mut answer = self
            .0
            .call(scope, id, arguments.into(), options)
            .await
            .map_err(|error| self.refused(scope, error.hidden(secrets)))?;
        secrets.hide_value(&mut answer.value);
        Ok(answer)
    }

    /// Runs the checks of a call without sending it, and spends its budget. Returns the tool that
    /// would have been called.
    ///
    /// # Errors
    /// The error that the call would have got before it was sent.
    pub async fn check_call(
        &self,
        scope: &RunScope,
        id: &str,
        arguments: impl Into<CallArguments>,
        version: Option<&str>,
    ) -> Result<Arc<Tool>, CallError> {
        let checked = self
            .0
            .check_call(scope, id, arguments.into(), version)
            .await;
        checked.map_err(|error| self.refused(scope, error.hidden(self.0.secrets())))
    }

    /// Notes what refused a call, if it is a rule that a guard shows.
    fn refused(&self, scope: &RunScope, error: CallError) -> CallError {
        if let Some(request) = scope.request() {
            note_refusal(request, &error);
        }
        error
    }

    /// Stops every server, first with SIGTERM. Returns when all of them have ended, and all processes
    /// that they started.
    pub async fn shutdown(&self) {
        self.0.context.shutdown.cancel();
        futures::future::join_all(self.0.servers.values().map(|server| server.stop())).await;
        self.0.count.end_all_orphans().await;
    }

    pub(crate) fn inner(&self) -> &Inner {
        &self.0
    }
}

impl Inner {
    pub fn secrets(&self) -> &Secrets {
        &self.context.secrets
    }

    pub fn policy(&self) -> &Policy {
        &self.context.policy
    }

    /// The tools that are listed so far and that a principal may see.
    pub fn known_tools(&self, caller: &Caller) -> Vec<Arc<Tool>> {
        let mut tools = self.indexed_tools();
        if self.engine().is_some() || !caller.capabilities.is_empty() {
            tools.retain(|tool| self.sees(caller, Action::List, tool));
        }
        tools
    }

    /// The tools that are listed so far and that the globs of the policy allow.
    pub fn indexed_tools(&self) -> Vec<Arc<Tool>> {
        self.servers
            .values()
            .filter_map(|server| server.known_tools())
            .flat_map(|tools| tools.iter().cloned().collect::<Vec<_>>())
            .filter(|tool| self.policy().filter.allows(tool.id.as_str()))
            .collect()
    }

    /// How long ago the tools of all servers were first listed.
    pub(crate) fn since_all_listed(&self) -> Duration {
        self.all_listed
            .get()
            .map_or(Duration::ZERO, Instant::elapsed)
    }

    pub(crate) async fn list(
        &self,
        caller: &Caller,
        server: Option<&str>,
        timeout: Duration,
    ) -> Listing {
        if server.is_none() {
            self.all_listed.get_or_init(Instant::now);
        }
        let listed = self
            .servers
            .values()
            .filter(|candidate| server.is_none_or(|name| candidate.config.name == name));
        let answers = futures::future::join_all(listed.map(|server| async move {
            let tools = match tokio::time::timeout(timeout, server.current_tools()).await {
                Ok(Ok(tools)) => Ok(tools),
                Ok(Err(unavailable)) => Err(unavailable.error),
                Err(_) => Err(StartError::TimedOut {
                    after: timeout,
                    stderr: Vec::new(),
                }),
            };
            (server.config.name.clone(), tools)
        }))
        .await;
        let mut listing = Listing {
            tools: Vec::new(),
            problems: Vec::new(),
            refused: Vec::new(),
        };
        for (name, answer) in answers {
            match answer {
                Ok(tools) => {
                    let allowed = |tool: &&Arc<Tool>| self.sees(caller, Action::List, tool);
                    listing.tools.extend(tools.iter().filter(allowed).cloned());
                    let refused = tools
                        .refused()
                        .filter(|tool| caller.refusal(&tool.tool).is_none());
                    listing.refused.extend(refused.cloned());
                }
                Err(StartError::Disabled) => {}
                Err(error) => listing.problems.push((name, error)),
            }
        }
        listing
    }
}

/// The login of a remote server; none if an `Authorization` header is configured.
/// The guards of a configuration.
fn guards(config: &Config) -> Result<Guards, ConfigError> {
    let written: GuardsConfig = config.section("guards")?;
    Guards::new(&written)
        .map_err(|error| config.section_error(&["guards", &error.guard], error.to_string()))
}

fn login(logins: &Arc<OAuth>, server: &ServerConfig, secrets: &Secrets) -> Option<Login> {
    let (url, headers) = match &server.endpoint {
        Ok(Endpoint::Http(remote) | Endpoint::Sse(remote)) => (&remote.url, &remote.headers),
        Ok(Endpoint::OpenApi(service)) => (service.base_url.as_ref()?, &service.access.headers),
        Ok(Endpoint::Stdio(_) | Endpoint::Functions(_)) | Err(_) => return None,
    };
    let has_header = headers
        .keys()
        .any(|name| name.eq_ignore_ascii_case("authorization"));
    (!has_header).then(|| Login::new(logins.clone(), url.clone(), secrets.clone()))
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.context.shutdown.cancel();
    }
}
