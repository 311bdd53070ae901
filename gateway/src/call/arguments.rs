//! The arguments of a call, as they are checked and as they are sent.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::error::{CallError, CallErrorKind};
use crate::registry::{SlowChecks, Tool};

/// The arguments of a call. Where placeholders stand for private values, the written form is checked
/// and the restored form is sent: no error message can contain what was restored. The type has no
/// `Debug`, so that it is not logged.
pub struct CallArguments {
    written: Value,
    restored: Option<Value>,
}

impl From<Value> for CallArguments {
    fn from(written: Value) -> Self {
        Self {
            written,
            restored: None,
        }
    }
}

impl CallArguments {
    /// Arguments with placeholders, and the same arguments with the values.
    pub fn with_restored(written: Value, restored: Value) -> Self {
        Self {
            written,
            restored: Some(restored),
        }
    }

    /// The arguments to send, if they fit the schema. A placeholder is a text, so arguments that fit
    /// only with its value (a number, a pattern) are accepted; what does not fit is described by the
    /// written form.
    pub(super) async fn checked(
        self,
        id: &str,
        tool: &Arc<Tool>,
        turns: &SlowChecks,
    ) -> Result<Value, CallError> {
        let written = object(id, self.written)?;
        let checked = tool.check_arguments(written, turns).await;
        match (checked, self.restored) {
            (Ok(written), None) => Ok(written),
            (Ok(_), Some(restored)) => Ok(restored),
            (Err(mistake), None) => Err(does_not_fit(id, &mistake)),
            (Err(mistake), Some(restored)) => {
                let checked = tool.check_arguments(restored, turns).await;
                checked.map_err(|_| does_not_fit(id, &mistake))
            }
        }
    }
}

fn does_not_fit(id: &str, mistake: &str) -> CallError {
    CallError::permanent(
        CallErrorKind::Arguments,
        id,
        format!("the arguments of `{id}` do not fit its schema, and nothing was sent: {mistake}"),
    )
}

fn object(id: &str, arguments: Value) -> Result<Value, CallError> {
    match arguments {
        Value::Object(_) => Ok(arguments),
        // A call without arguments.
        Value::Null => Ok(Value::Object(Map::new())),
        other => Err(CallError::permanent(
            CallErrorKind::Arguments,
            id,
            format!(
                "the arguments of `{id}` must be an object, not {}",
                kind_of(&other)
            ),
        )),
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
