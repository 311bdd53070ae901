//! The journal of one run: what it has done, on disk as it goes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use pml_protocol::{
    EffectClass, ErrorKind, Failure, FailureKind, Flow, Outcome, Principal, Request, RequestKey,
    RunContext, RunControl, RunError, RunFlow, RunId, SessionId, TenantId, TimerMode, ToolResult,
    VirtualClock,
};
use pml_store::{
    Checkpoint, ClaimedRun, EntryState, JournalEntry, NewRun, RunState, RunWriter, Store,
    StoreError,
};
use serde_json::value::RawValue;

use super::answer_order::AnswerOrder;
use super::checkpoints::{Checkpoints, SavedCheckpoint};
use super::entry::{self, JournaledRequest};
use super::known_requests::{Identified, Known, KnownRequests, delivered, is_under_way};
use super::settlement::unsettled;
use super::spec::DurableSpec;
use crate::recorded_request::RecordedRequest;
use crate::recording::{Entry, RecordedAnswer, Recording};

/// Why a run cannot be resumed.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    /// The store refuses.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The stored run cannot be read.
    #[error("{0}")]
    Spec(String),
}

/// The journal of one run. The layer [`super::Journal`] answers from it and appends answers; the
/// gateway host appends intents.
pub struct RunJournal {
    writer: RunWriter,
    spec: DurableSpec,
    order: AnswerOrder,
    timers: TimerMode,
    checkpoints: Checkpoints,
    state: Mutex<State>,
}

struct State {
    known: KnownRequests,
    /// Entries that wait for the first request that reaches a server.
    buffered: Vec<JournalEntry>,
    /// Entries in flight: what the intent of a call has to write.
    open: HashMap<u32, OpenEntry>,
}

struct OpenEntry {
    digest: [u8; 32],
    occurrence: u32,
    title: String,
    class: Option<EffectClass>,
    /// Its intent is on disk, and it has no answer.
    is_intended: bool,
}

impl RunJournal {
    /// The journal of a new run. Nothing is written until the run calls a server.
    pub fn begin(store: &Store, run: NewRunInfo, spec: DurableSpec) -> Arc<Self> {
        let writer = store.begin(NewRun {
            tenant: run.tenant,
            id: run.id,
            principal: run.principal,
            origin: run.origin,
            script: spec.script.name.clone(),
            script_digest: spec.script.digest(),
            spec: spec.to_bytes(),
            task_ttl: run.task_ttl,
        });
        Arc::new(Self::new(writer, spec, Vec::new(), Checkpoints::default()))
    }

    /// The journal of a run that this process has taken over.
    ///
    /// # Errors
    ///
    /// A run of another version of pml.
    pub fn resume(claimed: ClaimedRun) -> Result<Arc<Self>, ResumeError> {
        let spec = DurableSpec::from_bytes(&claimed.run.spec).map_err(ResumeError::Spec)?;
        let checkpoints = Checkpoints::stored(claimed.checkpoints);
        let journal = Self::new(claimed.writer, spec, claimed.entries, checkpoints);
        Ok(Arc::new(journal))
    }

    /// The same with another script in the place of the stored one: it continues where it still
    /// matches the journal.
    ///
    /// # Errors
    ///
    /// A run of another version of pml.
    pub fn resume_changed(
        claimed: ClaimedRun,
        script: super::DurableScript,
    ) -> Result<Arc<Self>, ResumeError> {
        let mut spec = DurableSpec::from_bytes(&claimed.run.spec).map_err(ResumeError::Spec)?;
        spec.script = script;
        let mut entries = claimed.entries;
        // The changed script may ask in another order.
        for entry in &mut entries {
            entry.answer_order = None;
        }
        let checkpoints = Checkpoints::stored(claimed.checkpoints);
        let journal = Self::new(claimed.writer, spec, entries, checkpoints);
        // Nor does it have to make the requests that were under way.
        journal.order.asked_again(usize::MAX);
        Ok(Arc::new(journal))
    }

    fn new(
        writer: RunWriter,
        spec: DurableSpec,
        entries: Vec<JournalEntry>,
        checkpoints: Checkpoints,
    ) -> Self {
        let last = |of: fn(&JournalEntry) -> Option<u64>| entries.iter().filter_map(of).max();
        // An answer without a time was settled, or came too late: no execution has delivered it.
        let last_place = last(|entry| delivered(entry).map(|(place, _)| place.into()));
        let last_place = last_place.unwrap_or_default();
        // The clock is written down without its fraction: a timer of that millisecond had fired.
        let until_ms = last(|entry| entry.clock_ms).map_or(0, |ms| ms.saturating_add(1));
        let timers = match last(|entry| Some(entry.at)) {
            Some(at) => TimerMode::CatchUp {
                until_ms,
                slept_ms: unix_ms().saturating_sub(at),
            },
            None => TimerMode::Real,
        };
        Self {
            order: AnswerOrder::new(
                spec.clock.time_ms,
                u32::try_from(last_place).unwrap_or(u32::MAX),
                entries.iter().filter(|entry| is_under_way(entry)).count(),
            ),
            timers,
            checkpoints,
            state: Mutex::new(State {
                known: KnownRequests::new(entries),
                buffered: Vec::new(),
                open: HashMap::new(),
            }),
            writer,
            spec,
        }
    }

    /// The id of the run.
    pub fn id(&self) -> &RunId {
        self.writer.id()
    }

    /// The run as one of the local user, in a session of its own.
    pub fn local_context(&self, principal: Principal) -> RunContext {
        RunContext::with_id(
            self.id().clone(),
            SessionId::random(),
            TenantId::local(),
            principal,
        )
        .with_flow(RunFlow::of_session(&self.spec.session))
    }

    /// What the run executes.
    pub fn spec(&self) -> &DurableSpec {
        &self.spec
    }

    /// The deterministic clock of the script.
    pub fn clock(&self) -> VirtualClock {
        self.spec.clock
    }

    /// The secret that the script's `crypto` draws from.
    pub fn entropy(&self) -> [u8; 32] {
        self.spec.entropy
    }

    /// What timers do: a resumed run does not wait for those that have fired before.
    pub fn timers(&self) -> TimerMode {
        self.timers
    }

    /// Whether the run has left anything in the store.
    pub fn is_stored(&self) -> bool {
        self.writer.has_begun()
    }

    /// Keeps a value for a further execution, which skips nothing when it reads it, and what the run had
    /// `read` by then. A value that does not fit is not kept.
    pub fn keep(&self, key: &str, value: Box<RawValue>, read: Flow) {
        let saved = SavedCheckpoint {
            value,
            clock: None,
            requests: 0,
            answers: 0,
            read,
        };
        // Plain fields always become JSON.
        let value = serde_json::to_vec(&saved).unwrap_or_default();
        if self.checkpoints.keep(key, saved).is_ok() {
            let key = key.to_owned();
            self.writer.checkpoint(Checkpoint { key, value });
        }
    }

    /// A value that an execution has kept, which the run of `flow` reads.
    pub fn kept(&self, key: &str, flow: &RunFlow) -> Option<Box<RawValue>> {
        let saved = self.checkpoints.find(key)?;
        flow.read(&saved.read);
        Some(saved.value)
    }

    pub(super) fn order(&self) -> &AnswerOrder {
        &self.order
    }

    pub(super) fn checkpoints(&self) -> &Checkpoints {
        &self.checkpoints
    }

    pub(super) fn writer(&self) -> &RunWriter {
        &self.writer
    }

    /// Gives a request its identity, and says what the journal knows of it.
    pub(super) fn identify(&self, request: &JournaledRequest) -> (RequestKey, Known) {
        let mut state = self.lock();
        let Identified {
            key,
            known,
            class,
            was_under_way,
        } = state.known.identify(request.digest);
        if was_under_way {
            self.order.asked_again(1);
        }
        let is_delivered = matches!(known, Known::Answer { place: Some(_), .. });
        if !is_delivered {
            let open = OpenEntry {
                digest: key.digest,
                occurrence: key.occurrence,
                title: request.title.clone(),
                is_intended: matches!(known, Known::Unknown),
                class,
            };
            state.open.insert(key.number, open);
        }
        (key, known)
    }

    /// How many requests the script has made, for a checkpoint.
    pub(super) fn progress(&self) -> u32 {
        self.lock().known.made()
    }

    /// The script continues behind a checkpoint that was made after this many requests: those are
    /// not made again.
    pub(super) fn skip_requests(&self, requests: u32) {
        let under_way = self.lock().known.skip(requests);
        self.order.asked_again(under_way);
    }

    /// Puts the intent of a call on disk, directly before the call is sent.
    ///
    /// # Errors
    ///
    /// If it cannot be written, or the run belongs to another process now: the call must not be sent.
    pub(crate) async fn intend(
        &self,
        number: u32,
        request: &Request,
        class: EffectClass,
        control: &RunControl,
    ) -> Result<(), Failure> {
        let entry = {
            let mut state = self.lock();
            let Some(open) = state.open.get_mut(&number) else {
                return Ok(());
            };
            open.class = Some(class);
            open.is_intended = class.needs_intent();
            match class.needs_intent() {
                true => {
                    self.flush_buffered(&mut state);
                    state.open.get(&number).map(|open| JournalEntry {
                        clock_ms: Some(self.order.now_ms()),
                        ..open.entry(number, entry::request_to_bytes(request))
                    })
                }
                false => None,
            }
        };
        let Some(entry) = entry else {
            // From its first call on, the run can be found and resumed.
            let begun = self.writer.begin().await;
            return begun.map_err(|error| self.failed(&error, control));
        };
        let written = self.writer.append_durable(entry).await;
        if let Err(error) = written {
            return Err(self.failed(&error, control));
        }
        // A process that was stopped for longer than its lease has lost the run without noticing.
        match self.writer.holds_lease() {
            true => Ok(()),
            false => Err(self.failed(
                &StoreError::LostOwnership {
                    id: self.id().clone(),
                },
                control,
            )),
        }
    }

    /// Puts a request that waits for a person on disk, with the run and what it has done so far: a
    /// further execution gives it the same number, and somebody who answers finds it.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub(crate) async fn wait(&self, number: u32, request: &Request) -> Result<(), StoreError> {
        let entry = {
            let mut state = self.lock();
            self.flush_buffered(&mut state);
            state.open.get(&number).map(|open| JournalEntry {
                // It is to be sent, as far as the journal knows.
                state: EntryState::Resend,
                clock_ms: Some(self.order.now_ms()),
                ..open.entry(number, entry::request_to_bytes(request))
            })
        };
        match entry {
            Some(entry) => self.writer.append_durable(entry).await,
            None => self.writer.persist().await,
        }
    }

    /// Puts the run and what it has done so far on disk: somebody who asks for it finds it.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub async fn persist(&self) -> Result<(), StoreError> {
        self.flush_buffered(&mut self.lock());
        self.writer.persist().await
    }

    /// Whether the intent of the request is on disk.
    pub(super) fn has_intent(&self, number: u32) -> bool {
        let state = self.lock();
        let class = state.open.get(&number).and_then(|open| open.class);
        class.is_some_and(EffectClass::needs_intent)
    }

    /// Whether the request was intended and must not be sent again: if it gets no answer, its outcome is
    /// unknown.
    pub(super) fn must_be_settled(&self, number: u32) -> bool {
        let state = self.lock();
        self.spec.settles
            && state
                .open
                .get(&number)
                .is_some_and(OpenEntry::may_have_happened)
    }

    /// The error of a run that has ended otherwise while calls of it may have happened: a person says what became of
    /// them, and the run is resumed. `None` if there are none, or if the run can be resumed anyway.
    pub fn left_unknown(&self, ended: &RunError) -> Option<RunError> {
        let is_resumable = matches!(
            ended.kind,
            ErrorKind::Unknown | ErrorKind::Waiting | ErrorKind::Internal | ErrorKind::Cancelled
        );
        if is_resumable || !self.spec.settles {
            return None;
        }
        let state = self.lock();
        let open = state
            .open
            .iter()
            .filter(|(_, open)| open.may_have_happened());
        let (number, open) = open.min_by_key(|(number, _)| **number)?;
        let why = format!(
            "it was sent, and no answer had come when the run ended: {}",
            ended.message
        );
        Some(unsettled(self.id(), *number, &open.title, &why))
    }

    /// Appends the answer of a request that was sent, as the answer with this place.
    pub(super) fn answered(
        &self,
        request: &Request,
        number: u32,
        (result, read): (&ToolResult, &Flow),
        place: Option<u32>,
    ) {
        let mut state = self.lock();
        let open = match place {
            Some(_) => state.open.remove(&number),
            // It is appended again with its place.
            None => state.open.get(&number).map(OpenEntry::copied),
        };
        let Some(open) = open else { return };
        let entry = JournalEntry {
            state: EntryState::Answered,
            answer: Some(entry::answer_to_bytes(result, read)),
            answer_order: place,
            clock_ms: Some(self.order.now_ms()),
            ..open.entry(number, entry::answered_to_bytes(request))
        };
        if entry::reaches_server(request) || self.writer.has_begun() {
            self.flush_buffered(&mut state);
            self.writer.append(entry);
        } else {
            state.buffered.push(entry);
        }
    }

    fn flush_buffered(&self, state: &mut State) {
        for entry in state.buffered.drain(..) {
            self.writer.append(entry);
        }
    }

    /// The failure of a request whose journal cannot be written. The run ends: what it does from here
    /// on would be lost.
    pub(crate) fn failed(&self, error: &StoreError, control: &RunControl) -> Failure {
        let kind = match error {
            StoreError::LostOwnership { .. } => ErrorKind::Cancelled,
            _ => ErrorKind::Internal,
        };
        let message = format!("the journal of the run cannot be written: {error}");
        control.end(RunError::new(kind, message.clone()));
        Failure::new(FailureKind::Internal, message)
    }

    /// Stores how the execution ended. An interrupted or suspended run stays resumable.
    ///
    /// # Errors
    ///
    /// If the outcome cannot be written. What the journal has stays.
    pub async fn finish(&self, outcome: &Outcome) -> Result<(), StoreError> {
        if !self.is_stored() {
            return Ok(());
        }
        let kind = outcome.error.as_ref().map(|error| error.kind);
        let reason = outcome
            .error
            .as_ref()
            .map(|error| format!("{}", error.kind));
        match kind {
            Some(ErrorKind::Unknown) => self.writer.set_state(RunState::Unknown, None).await,
            Some(ErrorKind::Waiting) => {
                let reason = Some("approval");
                self.writer.set_state(RunState::Waiting, reason).await
            }
            // A fault of pml or of the machine: the script may go on where it was.
            Some(ErrorKind::Internal) => self.writer.release().await,
            // Another process has the run, or somebody has cancelled it: the store knows.
            Some(ErrorKind::Cancelled) => Ok(()),
            kind => {
                let state = match kind {
                    None => RunState::Done,
                    Some(_) => RunState::Failed,
                };
                // Plain fields always become JSON.
                let bytes = serde_json::to_vec(outcome).unwrap_or_default();
                self.writer.finish(state, reason.as_deref(), &bytes).await
            }
        }
    }

    /// Stops executing the run, so that another process can resume it.
    ///
    /// # Errors
    ///
    /// If the store cannot be written; the lease of this process ends by itself then.
    pub async fn interrupt(&self) -> Result<(), StoreError> {
        match self.is_stored() {
            true => self.writer.release().await,
            false => Ok(()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Entries are added and taken in one step each.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// For whom a run is journaled.
#[derive(Debug, Clone)]
pub struct NewRunInfo {
    /// Whose data it works on.
    pub tenant: TenantId,
    /// Its id.
    pub id: RunId,
    /// Who asked for it.
    pub principal: String,
    /// What started it and resumes it at a start.
    pub origin: String,
    /// How many milliseconds it can be read as an MCP task; `None` for a run that is none.
    pub task_ttl: Option<u64>,
}

impl OpenEntry {
    fn copied(&self) -> Self {
        Self {
            title: self.title.clone(),
            ..*self
        }
    }

    fn may_have_happened(&self) -> bool {
        self.is_intended && self.class.is_none_or(|class| !class.is_repeatable())
    }

    fn entry(&self, number: u32, request: Vec<u8>) -> JournalEntry {
        JournalEntry {
            number,
            key: self.digest,
            occurrence: self.occurrence,
            title: self.title.clone(),
            class: self.class,
            state: EntryState::Intended,
            request,
            answer: None,
            answer_order: None,
            clock_ms: None,
            at: unix_ms(),
        }
    }
}

/// The tool of a journaled call, or the title of another request.
pub fn called_tool(entry: &JournalEntry) -> &str {
    entry.title.strip_prefix("call ").unwrap_or(&entry.title)
}

/// The request of a journal entry; `None` if it is damaged.
pub fn journaled_request(entry: &JournalEntry) -> Option<RecordedRequest> {
    entry::request_from_bytes(&entry.request)
}

/// Milliseconds since 1970.
pub(crate) fn unix_ms() -> u64 {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}

/// The answered requests of a journal as a recording.
pub fn journaled_recording(spec: &DurableSpec, entries: &[JournalEntry]) -> Recording {
    let entries = entries.iter().filter_map(|entry| {
        let answer = entry::answer_from_bytes(entry.answer.as_deref()?);
        Some(Entry {
            request: entry::request_from_bytes(&entry.request)?,
            after_ms: 0,
            answer: RecordedAnswer::of(&answer),
        })
    });
    Recording::new(&spec.script.name, spec.clock, entries.collect())
}
