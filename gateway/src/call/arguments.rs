//! The arguments of a call, as they are checked and as they are sent.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::error::{CallError, CallErrorKind};
use crate::effects::Effect;
use crate::registry::{SlowChecks, Tool};

/// The arguments of a call. Where placeholders stand for private values, the written form is checked
/// and the restored form is sent: no error message can contain what was restored. The type has no
/// `Debug`, so that it is not logged.
pub struct CallArguments {
    written: Value,
    restored: Option<Value>,
    idempotency_key: Option<String>,
}

impl From<Value> for CallArguments {
    fn from(written: Value) -> Self {
        Self {
            written,
            restored: None,
            idempotency_key: None,
        }
    }
}

impl CallArguments {
    /// Arguments with placeholders, and the same arguments with the values.
    pub fn with_restored(written: Value, restored: Value) -> Self {
        Self {
            written,
            restored: Some(restored),
            idempotency_key: None,
        }
    }

    /// The key for a tool of the class `keyed`. It is sent as the argument that `pml.effects` names,
    /// unless the script gave that argument itself, and in every attempt of the call. Tools of other
    /// classes do not get it.
    pub fn with_idempotency_key(mut self, key: String) -> Self {
        self.idempotency_key = Some(key);
        self
    }

    /// Whether the script gave the idempotency key that the tool takes.
    pub(super) fn has_own_key(&self, effect: &Effect) -> bool {
        let key = effect.key_argument.as_deref();
        key.is_some_and(|key| self.written.get(key).is_some_and(|own| !own.is_null()))
    }

    /// Converts both forms, before they are checked.
    pub(super) fn convert(&mut self, convert: impl Fn(&mut Value)) {
        let forms = std::iter::once(&mut self.written).chain(&mut self.restored);
        forms.for_each(convert);
    }

    /// The arguments to send, if they fit the schema. A placeholder is a text, so arguments that fit
    /// only with its value (a number, a pattern) are accepted; what does not fit is described by the
    /// written form.
    pub(super) async fn checked(
        self,
        id: &str,
        tool: &Arc<Tool>,
        effect: &Effect,
        turns: &SlowChecks,
    ) -> Result<Value, CallError> {
        let key = effect.key_argument.as_deref().zip(self.idempotency_key);
        let written = with_key(object(id, self.written)?, &key);
        let restored = self.restored.map(|restored| with_key(restored, &key));
        let checked = tool.check_arguments(written, turns).await;
        match (checked, restored) {
            (Ok(written), None) => Ok(written),
            (Ok(_), Some(restored)) => Ok(restored),
            (Err(mistake), None) => Err(does_not_fit(id, &mistake, effect)),
            (Err(mistake), Some(restored)) => {
                let checked = tool.check_arguments(restored, turns).await;
                checked.map_err(|_| does_not_fit(id, &mistake, effect))
            }
        }
    }
}

/// The arguments with the key, unless they have one. `null` is not a key.
fn with_key(mut arguments: Value, key: &Option<(&str, String)>) -> Value {
    if let (Value::Object(arguments), Some((name, key))) = (&mut arguments, key)
        && arguments.get(*name).is_none_or(Value::is_null)
    {
        arguments.insert((*name).to_owned(), key.as_str().into());
    }
    arguments
}

fn does_not_fit(id: &str, mistake: &str, effect: &Effect) -> CallError {
    let key = effect.key_argument.as_deref();
    let about_key = match key.filter(|key| mistake.contains(*key)) {
        Some(key) => format!(
            " (`{key}` is the idempotency key, by the {} in `pml.effects`)",
            effect.source
        ),
        None => String::new(),
    };
    CallError::permanent(
        CallErrorKind::Arguments,
        id,
        format!(
            "the arguments of `{id}` do not fit its schema, and nothing was sent: {mistake}{about_key}"
        ),
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
