//! What guards know about a call and its answer.

use std::time::Duration;

use pml_protocol::EffectClass;
use serde_json::Value;

use crate::history::{CallKey, History};
use crate::in_flight::CallShape;

/// A call that is about to be sent.
pub struct GuardedCall<'a> {
    /// `server:tool`.
    pub tool: &'a str,
    /// What a call of the tool does to the world.
    pub effect: EffectClass,
    /// The script chose the idempotency key: the same key again changes nothing more.
    pub has_own_key: bool,
    /// It is a request for a resource or a prompt.
    pub is_offer: bool,
    /// The JSON Schema of the arguments.
    pub input_schema: &'a Value,
    /// The arguments as they are sent: placeholders are restored.
    pub arguments: &'a mut Value,
    /// The digest of tool and arguments, without an idempotency key that pml chose.
    pub key: CallKey,
    /// What the session has done so far.
    pub history: &'a History,
    /// Where the call is in its run.
    pub shape: CallShape,
    /// Nothing is sent, and answers are made up.
    pub is_dry_run: bool,
}

/// The answer of a call.
pub struct Answer<'a> {
    /// `server:tool`.
    pub tool: &'a str,
    /// The digest of tool and arguments.
    pub key: CallKey,
    /// The value of the call.
    pub value: &'a mut Value,
    /// From the dispatch to the answer.
    pub took: Duration,
    /// What the session has done so far.
    pub history: &'a History,
    /// Says where a value does not fit the output schema of the tool.
    pub contract: &'a (dyn Fn(&Value) -> Result<(), String> + Sync),
}
