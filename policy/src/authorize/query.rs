//! Questions to the decision function.

use std::fmt;
use std::time::SystemTime;

use serde_json::{Map, Value};

use crate::labels::Label;

/// Who asks: the Cedar principal.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Requester {
    /// The tenant, `local` in an installation without tenants.
    pub tenant: String,
    /// `local`, or the name of a token of `pml serve --http`.
    pub name: String,
}

impl Requester {
    /// The user of this machine.
    pub fn local() -> Self {
        Self::named("local", "local")
    }

    /// A principal of a tenant.
    pub fn named(tenant: &str, name: &str) -> Self {
        Self {
            tenant: tenant.to_owned(),
            name: name.to_owned(),
        }
    }

    /// The id of the Cedar entity: `ci`, or `acme/ci` for a tenant of its own. Different requesters have
    /// different ids.
    pub fn entity_id(&self) -> String {
        match self.tenant == "local" && !self.name.contains('/') {
            true => self.name.clone(),
            false => format!("{}/{}", self.tenant.replace('/', "%2F"), self.name),
        }
    }
}

impl fmt::Display for Requester {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.entity_id())
    }
}

/// What somebody wants to do. `List`, `Search` and `Describe` follow from `Call`: a principal sees
/// what it may call, and a policy can only take sight away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// See a tool in a list or in generated types.
    List,
    /// Find a tool.
    Search,
    /// Read the description of a tool.
    Describe,
    /// Call a tool.
    Call,
    /// List or read the resources of a server.
    ReadResource,
    /// List or get the prompts of a server.
    GetPrompt,
    /// Store a value in the session.
    Store,
    /// Load a value of the session.
    Load,
}

impl Action {
    /// The name in policies.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Search => "search",
            Self::Describe => "describe",
            Self::Call => "call",
            Self::ReadResource => "readResource",
            Self::GetPrompt => "getPrompt",
            Self::Store => "store",
            Self::Load => "load",
        }
    }
}

/// The hints of a server about its tool, with the defaults of MCP. They may be wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Hints {
    /// `readOnlyHint`
    pub read_only: bool,
    /// `destructiveHint`
    pub destructive: bool,
    /// `idempotentHint`
    pub idempotent: bool,
    /// `openWorldHint`
    pub open_world: bool,
}

impl Default for Hints {
    fn default() -> Self {
        Self {
            read_only: false,
            destructive: true,
            idempotent: false,
            open_world: true,
        }
    }
}

impl Hints {
    /// The hints of MCP annotations; the default for what they do not say.
    pub fn of(annotations: Option<&Value>) -> Self {
        let hint = |name: &str| annotations.and_then(|known| known.get(name)?.as_bool());
        let default = Self::default();
        Self {
            read_only: hint("readOnlyHint").unwrap_or(default.read_only),
            destructive: hint("destructiveHint").unwrap_or(default.destructive),
            idempotent: hint("idempotentHint").unwrap_or(default.idempotent),
            open_world: hint("openWorldHint").unwrap_or(default.open_world),
        }
    }
}

/// What policies know about a tool.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ToolFacts {
    /// `server:tool`
    pub id: String,
    /// The effect class: `read`, `idempotent`, `keyed` or `guarded`.
    pub effect: String,
    /// The hints of its server.
    pub hints: Hints,
}

/// What a server offers besides tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OfferKind {
    /// Its resources.
    Resources,
    /// Its prompts.
    Prompts,
}

impl OfferKind {
    /// The name in ids such as `fs:resources`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Resources => "resources",
            Self::Prompts => "prompts",
        }
    }
}

/// What an action is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Resource<'a> {
    /// A tool.
    Tool(&'a ToolFacts),
    /// The resources or prompts of a server.
    Offers {
        /// The server.
        server: &'a str,
        /// What of it.
        kind: OfferKind,
    },
    /// The stored values of the session.
    Storage,
}

impl Resource<'_> {
    /// `server:tool`, `server:resources`, `server:prompts` or `session`.
    pub fn id(&self) -> String {
        match self {
            Self::Tool(tool) => tool.id.clone(),
            Self::Offers { server, kind } => format!("{server}:{}", kind.as_str()),
            Self::Storage => "session".to_owned(),
        }
    }
}

/// The circumstances of one request.
#[derive(Debug, Clone)]
pub struct CallContext<'a> {
    /// The arguments of a call or a prompt.
    pub args: Option<&'a Map<String, Value>>,
    /// The URI of a resource, the name of a prompt, or the key of a stored value.
    pub name: Option<&'a str>,
    /// When the request is made.
    pub time: SystemTime,
    /// What the run has read so far.
    pub run: &'a Label,
    /// What the model of the session has read so far.
    pub session: &'a Label,
}

/// One question.
#[derive(Debug, Clone, Copy)]
pub struct Query<'a> {
    /// Who asks.
    pub requester: &'a Requester,
    /// What for.
    pub action: Action,
    /// About what.
    pub resource: Resource<'a>,
    /// The circumstances. Without them the answer is whether some circumstances permit it.
    pub context: Option<&'a CallContext<'a>>,
}
