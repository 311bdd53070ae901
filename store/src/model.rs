//! The rows of the store, as their readers and writers see them: values are plain here, and sealed on
//! disk.

use pml_protocol::{EffectClass, RunId, TenantId};

/// Milliseconds since 1970.
pub type UnixMs = u64;

/// The state of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RunState {
    /// A process executes it, or did until it died.
    Running,
    /// It waits for an approval, or to be resumed.
    Waiting,
    /// The outcome of a guarded call is unknown, and a person has to settle it.
    Unknown,
    /// It has a result.
    Done,
    /// It ended with an error.
    Failed,
    /// It was cancelled.
    Cancelled,
}

impl RunState {
    /// All states, from the begin of a run to its end.
    pub const ALL: [Self; 6] = [
        Self::Running,
        Self::Waiting,
        Self::Unknown,
        Self::Done,
        Self::Failed,
        Self::Cancelled,
    ];

    /// The name in replies and in the store.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Unknown => "unknown",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether the run is over and cannot be resumed.
    pub fn is_ended(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Cancelled)
    }
}

/// A run that begins.
#[derive(Debug, Clone)]
pub struct NewRun {
    /// Whose it is.
    pub tenant: TenantId,
    /// Its id, unique within the tenant.
    pub id: RunId,
    /// Who asked for it.
    pub principal: String,
    /// What started it and resumes it at a start: `run`, or `serve` with its configuration.
    pub origin: String,
    /// The name of the script.
    pub script: String,
    /// The blake3 digest of the script's source and arguments.
    pub script_digest: [u8; 32],
    /// All that is needed to execute it again, in a format of the journal's. Sealed at rest.
    pub spec: Vec<u8>,
    /// How many milliseconds it can be read as an MCP task, from its creation; `None` for a run that is
    /// none.
    pub task_ttl: Option<u64>,
}

/// A run in the store.
#[derive(Debug, Clone)]
pub struct StoredRun {
    /// Whose it is.
    pub tenant: TenantId,
    /// Its id.
    pub id: RunId,
    /// Who asked for it.
    pub principal: String,
    /// What started it.
    pub origin: String,
    /// The name of the script.
    pub script: String,
    /// Of the script's source and arguments.
    pub script_digest: [u8; 32],
    /// See [`NewRun::spec`].
    pub spec: Vec<u8>,
    /// The state that was written last. A process that was killed leaves [`RunState::Running`]: see
    /// [`StoredRun::is_owned`].
    pub state: RunState,
    /// Why it waits or failed, in a few words without private data.
    pub reason: Option<String>,
    /// Whether a living process holds its lease.
    pub is_owned: bool,
    /// How it ended, in a format of the journal's. Sealed at rest.
    pub outcome: Option<Vec<u8>>,
    /// See [`NewRun::task_ttl`].
    pub task_ttl: Option<u64>,
    /// When it began.
    pub created: UnixMs,
    /// When it last changed.
    pub updated: UnixMs,
    /// When it ended.
    pub ended: Option<UnixMs>,
}

/// The state of a journaled request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EntryState {
    /// Its intent is on disk; it may have been sent.
    Intended,
    /// It has an answer.
    Answered,
    /// It is to be sent: it waits for an approval, or a person settled that it did not happen.
    Resend,
}

impl EntryState {
    /// All states.
    pub const ALL: [Self; 3] = [Self::Intended, Self::Answered, Self::Resend];

    /// The name in replies and in the store.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Intended => "intended",
            Self::Answered => "answered",
            Self::Resend => "resend",
        }
    }
}

/// A request of a run in its journal.
#[derive(Debug, Clone, PartialEq)]
pub struct JournalEntry {
    /// Its number in the run, from 1, in the order in which the script made the requests.
    pub number: u32,
    /// The blake3 digest of the request in canonical form.
    pub key: [u8; 32],
    /// How many equal requests came before it.
    pub occurrence: u32,
    /// Its kind, and the tool of a call: `call mail:send`, `search`. In the clear.
    pub title: String,
    /// The class of a call when it was sent.
    pub class: Option<EffectClass>,
    /// Where it stands.
    pub state: EntryState,
    /// The request, in the recording's format. Sealed at rest.
    pub request: Vec<u8>,
    /// The answer, in the recording's format. Sealed at rest.
    pub answer: Option<Vec<u8>>,
    /// The place of the answer among the answers of the run, from 1.
    pub answer_order: Option<u32>,
    /// The virtual time of the script when it got the answer.
    pub clock_ms: Option<UnixMs>,
    /// When the row last changed.
    pub at: UnixMs,
}

/// A value that a script keeps over a resume.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// The script's name for it.
    pub key: String,
    /// JSON. Sealed at rest.
    pub value: Vec<u8>,
}

/// A question to a person that outlives the process which asked it.
#[derive(Debug, Clone, PartialEq)]
pub struct NewApproval {
    /// Whose it is.
    pub tenant: TenantId,
    /// The run that waits for it.
    pub run: RunId,
    /// The request that waits for it.
    pub number: u32,
    /// `server:tool`
    pub tool: String,
    /// What the approval is bound to: digests of arguments, script, policy and tool definition. A
    /// request with another digest needs another approval.
    pub bound_to: [u8; 32],
    /// The question as it is shown, with placeholders. Sealed at rest.
    pub shown: Vec<u8>,
    /// When it expires.
    pub expires: UnixMs,
}

/// The state of an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ApprovalState {
    /// It waits for an answer.
    Open,
    /// The call may be sent.
    Allowed,
    /// The call is refused.
    Denied,
    /// Its time was up.
    Expired,
    /// The tool, the policy, the script or the arguments have changed since it was asked.
    Void,
}

impl ApprovalState {
    /// All states.
    pub const ALL: [Self; 5] = [
        Self::Open,
        Self::Allowed,
        Self::Denied,
        Self::Expired,
        Self::Void,
    ];

    /// The name in replies and in the store.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Allowed => "allowed",
            Self::Denied => "denied",
            Self::Expired => "expired",
            Self::Void => "void",
        }
    }
}

/// An approval in the store.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredApproval {
    /// Its id: short enough to type.
    pub id: String,
    /// The question.
    pub asked: NewApproval,
    /// Where it stands. One that is open after its time is [`ApprovalState::Expired`].
    pub state: ApprovalState,
    /// When it was asked.
    pub created: UnixMs,
    /// When it was answered.
    pub answered: Option<UnixMs>,
    /// Who answered it.
    pub answered_by: Option<String>,
}
