//! One call as the guards see it: before it is sent, while it is under way, and when it is answered.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pml_guards::{
    Answer, Blocked, CallKey, GuardedCall, Guards, History, InFlight, InForce, Lookups, Preset,
};
use pml_protocol::{EffectClass, GuardNote, GuardVerdict, RunContext};
use serde_json::Value;

use crate::call::{CallError, RunScope};
use crate::gateway::{Gateway, Inner};
use crate::off_loop::{SMALL_TEXT, off_loop};
use crate::registry::Tool;

/// Values, or kilobytes of text, that guards walk through at once.
const QUICK_VALUES: usize = 2_000;

/// What guards look at.
pub(crate) struct Guarding<'a> {
    pub id: &'a str,
    /// `None` for a request for resources or prompts.
    pub tool: Option<&'a Arc<Tool>>,
    pub effect: EffectClass,
    /// The idempotency key in the arguments that pml chose.
    pub chosen_key: Option<&'a str>,
    pub is_dry_run: bool,
}

/// A call that the guards let pass, until it is dropped.
pub(crate) struct GuardPass<'a> {
    guards: &'a Guards,
    scope: &'a RunScope,
    id: String,
    tool: Option<Arc<Tool>>,
    effect: EffectClass,
    key: CallKey,
    history: History,
    lookups: Option<Lookups>,
    is_repaired: bool,
    began: Instant,
    _in_flight: InFlight,
}

impl Gateway {
    /// The rules of the guards that are in force for a tool.
    pub fn guards_of(&self, id: &str) -> Vec<InForce> {
        self.inner().guards.in_force(id)
    }

    /// The preset of the guards.
    pub fn guard_preset(&self) -> Preset {
        self.inner().guards.preset()
    }

    /// Notes that a call of a session was answered before it was interrupted: a guard that asks whether
    /// a tool has answered, or had a value, remembers it.
    pub fn answered_before(
        &self,
        id: &str,
        arguments: &Value,
        answer: &mut Value,
        run: &RunContext,
    ) {
        let history = self.inner().sessions.of(run.session());
        let mut answered = Answer {
            tool: id,
            key: CallKey::new(id, arguments),
            value: answer,
            took: Duration::ZERO,
            history: &history,
            contract: &|_| Ok(()),
        };
        // What a guard says about an old answer was said when it was new.
        let _ = self.inner().guards.after(&mut answered, &mut Vec::new());
    }
}

impl Inner {
    /// Asks the guards about a call. They may repair its arguments.
    pub(crate) async fn guard<'a>(
        &'a self,
        scope: &'a RunScope,
        guarding: Guarding<'_>,
        arguments: &mut Value,
    ) -> Result<GuardPass<'a>, CallError> {
        let Guarding {
            id,
            tool,
            effect,
            chosen_key,
            is_dry_run,
        } = guarding;
        let mut history = match scope.request() {
            Some(request) => self.sessions.of(request.session()),
            None => scope.history().clone(),
        };
        if is_dry_run {
            history = scope.forecast(&history).clone();
        }
        let (shape, in_flight) = scope.shape().begin();
        let mut notes = Vec::new();
        let any = Value::Bool(true);
        let (checked, lookups, key) = off_loop(id, text_size(arguments), || {
            let key = CallKey::without(id, arguments, chosen_key);
            let mut call = GuardedCall {
                tool: id,
                effect,
                has_own_key: effect == EffectClass::Keyed && chosen_key.is_none(),
                is_offer: tool.is_none(),
                input_schema: tool.map_or(&any, |tool| &tool.input_schema),
                arguments,
                key,
                history: &history,
                shape,
                is_dry_run,
            };
            let checked = self.guards.before(&mut call, &mut notes);
            // A dry run sends nothing, not even a question to a DNS server.
            let lookups = match checked.is_ok() && !is_dry_run {
                true => self.guards.lookups(&call),
                false => None,
            };
            (checked, lookups, key)
        });
        let mut checked = checked;
        if let (Ok(()), Some(lookups)) = (&checked, &lookups) {
            checked = self.guards.look_up(lookups, &mut notes).await;
        }
        let is_repaired = notes
            .iter()
            .any(|note| note.verdict == GuardVerdict::Repair);
        note(scope, id, notes);
        checked.map_err(|blocked| CallError::blocked(id, &blocked))?;
        if is_dry_run {
            history.succeeded(id);
        }
        Ok(GuardPass {
            guards: &self.guards,
            scope,
            id: id.to_owned(),
            tool: tool.cloned(),
            effect,
            key,
            history,
            lookups,
            is_repaired,
            began: Instant::now(),
            _in_flight: in_flight,
        })
    }

    /// Converts arguments whose type nearly fits the schema, where the operator wants that.
    pub(crate) fn coerce(&self, scope: &RunScope, tool: &Tool, arguments: &mut Value) {
        let id = tool.id.as_str();
        let converted = self.guards.coerce(id, &tool.input_schema, arguments);
        note(scope, id, converted.into_iter().collect());
    }
}

impl GuardPass<'_> {
    /// Whether a guard has changed the arguments.
    pub fn is_repaired(&self) -> bool {
        self.is_repaired
    }

    /// The cache has the answer, which the guards have seen when it was new.
    pub fn answered_by_cache(self) {
        self.history.succeeded(&self.id);
    }

    /// Asks the guards about the answer. They may repair it.
    pub async fn answered(&self, value: &mut Value) -> Result<(), CallError> {
        let mut notes = Vec::new();
        let size = text_size(value);
        let tool = self.tool.clone();
        let contract = move |value: &Value| match &tool {
            Some(tool) => tool.check_answer(value),
            None => Ok(()),
        };
        let mut checked = off_loop(&self.id, size, || {
            let mut answer = Answer {
                tool: &self.id,
                key: self.key,
                value,
                took: self.began.elapsed(),
                history: &self.history,
                contract: &contract,
            };
            self.guards.after(&mut answer, &mut notes)
        });
        if let (Ok(()), Some(lookups)) = (&checked, &self.lookups) {
            checked = self.guards.look_up_again(lookups, &mut notes).await;
        }
        note(self.scope, &self.id, notes);
        checked.map_err(|blocked: Blocked| CallError::withheld(&self.id, &blocked))
    }
}

impl Drop for GuardPass<'_> {
    /// A call that was sent and has no answer may have had its effect, also when its run was cancelled.
    fn drop(&mut self) {
        let is_lost = || {
            let request = self.scope.request();
            request.is_some_and(|request| request.notes().is_unanswered())
        };
        if self.effect.needs_intent() && is_lost() {
            self.history.answer_lost(self.key);
        }
    }
}

/// Notes what a rule has refused that a guard shows.
pub(crate) fn note_refusal(request: &RunContext, error: &CallError) {
    // A guard that has a rule of its own has said so itself.
    if let Some(guard) = error.guard.filter(|_| !error.is_blocked_by_guard()) {
        request.notes().add_guard(GuardNote {
            guard: guard.to_string(),
            verdict: GuardVerdict::Block,
            reason: error.message.clone(),
        });
    }
}

fn note(scope: &RunScope, id: &str, notes: Vec<GuardNote>) {
    for note in notes {
        tracing::debug!(tool = %id, guard = %note.guard, verdict = note.verdict.as_str(), reason = %note.reason, "a guard does not just allow a call");
        if let Some(request) = scope.request() {
            request.notes().add_guard(note);
        }
    }
}

/// An estimate of the text in a value: exact where it is small.
fn text_size(value: &Value) -> usize {
    let mut left = QUICK_VALUES;
    match is_quick(value, &mut left) {
        true => 0,
        false => SMALL_TEXT + 1,
    }
}

fn is_quick(value: &Value, left: &mut usize) -> bool {
    let cost = match value {
        Value::String(text) => 1 + text.len() / 1024,
        _ => 1,
    };
    let Some(rest) = left.checked_sub(cost) else {
        return false;
    };
    *left = rest;
    match value {
        Value::Array(items) => items.iter().all(|item| is_quick(item, left)),
        Value::Object(fields) => fields.values().all(|value| is_quick(value, left)),
        _ => true,
    }
}
