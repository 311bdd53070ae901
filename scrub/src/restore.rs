//! Restores placeholders in the arguments of a tool.

use serde_json::Value;

use crate::placeholder_map::Original;
use crate::{PlaceholderMap, WrittenPlaceholders, placeholder};

/// A value that goes to a server which it did not come from, as `pml.scrub.restore` allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignValue {
    /// The placeholder that stands for it.
    pub placeholder: String,
    /// The servers that it came from.
    pub from: Vec<String>,
}

/// Why a placeholder that the model wrote is not restored, and the call not made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RestoreRefusal {
    /// The value came from another server than that of the tool.
    #[error(
        "`{tool}` was not called: {placeholder} stands for a value from {from}, which this tool may \
         not receive; the operator can allow it with `pml.scrub.restore`: {{ \"{tool}\": [{setting}] }}"
    )]
    Foreign {
        /// The tool.
        tool: String,
        /// The placeholder.
        placeholder: String,
        /// The servers that the value came from, in words.
        from: String,
        /// What the operator would write to allow it.
        setting: String,
    },
    /// The placeholder also stands in data that the run has received.
    #[error(
        "`{tool}` was not called: {placeholder} also stands in data that this script received, and \
         placeholders in data are not replaced by their values; use it in a script that does not \
         read this data, or with call_tool"
    )]
    Received {
        /// The tool.
        tool: String,
        /// The placeholder.
        placeholder: String,
    },
}

/// The tool that receives the values, and what the model wrote.
pub(crate) struct Destination<'a> {
    pub(crate) tool: &'a str,
    pub(crate) written: &'a WrittenPlaceholders,
}

impl PlaceholderMap {
    /// The placeholders of this map in a text that the model wrote: the source of a script, or the
    /// arguments of a call.
    pub fn written_in(&self, text: &str) -> WrittenPlaceholders {
        let names = placeholder::spans(text).map(|span| &text[span]);
        let known = names.filter(|name| self.original(name).is_some());
        WrittenPlaceholders::new(known.map(str::to_owned).collect())
    }

    /// What [`restore_args`](Self::restore_args) would do: the values that would go to a server which
    /// they did not come from.
    ///
    /// # Errors
    ///
    /// [`RestoreRefusal`] if a placeholder that the model wrote may not be restored for this tool.
    pub fn check_args(
        &self,
        args: &Value,
        tool: &str,
        written: &WrittenPlaceholders,
    ) -> Result<Vec<ForeignValue>, RestoreRefusal> {
        let mut foreign = Vec::new();
        if !written.is_empty() {
            let destination = Destination { tool, written };
            self.check(args, &destination, &mut foreign)?;
        }
        Ok(foreign)
    }

    /// Replaces placeholders that the model wrote by their values in a tool's arguments, right
    /// before the call is sent to its server. Other placeholders stay text. Returns the number of
    /// replacements. The restored arguments must not be logged.
    ///
    /// # Errors
    ///
    /// [`RestoreRefusal`] if a placeholder that the model wrote may not be restored for this tool;
    /// then nothing is replaced.
    pub fn restore_args(
        &mut self,
        args: &mut Value,
        tool: &str,
        written: &WrittenPlaceholders,
    ) -> Result<usize, RestoreRefusal> {
        self.check_args(args, tool, written)?;
        if written.is_empty() {
            return Ok(0);
        }
        let mut restored = Vec::new();
        self.restore(args, &Destination { tool, written }, &mut restored);
        for placeholder in &restored {
            self.mark_restored(placeholder);
        }
        Ok(restored.len())
    }

    fn check(
        &self,
        value: &Value,
        destination: &Destination<'_>,
        foreign: &mut Vec<ForeignValue>,
    ) -> Result<(), RestoreRefusal> {
        match value {
            Value::String(text) => self.check_text(text, destination, foreign),
            Value::Array(items) => items
                .iter()
                .try_for_each(|item| self.check(item, destination, foreign)),
            Value::Object(fields) => fields.iter().try_for_each(|(key, value)| {
                self.check_text(key, destination, foreign)?;
                self.check(value, destination, foreign)
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
        }
    }

    fn check_text(
        &self,
        text: &str,
        destination: &Destination<'_>,
        foreign: &mut Vec<ForeignValue>,
    ) -> Result<(), RestoreRefusal> {
        let tool = destination.tool;
        for span in placeholder::spans(text) {
            let name = &text[span];
            let Some(original) = self.original_for(name, destination) else {
                continue;
            };
            if destination.written.is_received(name) {
                return Err(RestoreRefusal::Received {
                    tool: tool.to_owned(),
                    placeholder: name.to_owned(),
                });
            }
            let restore = self.scrubber().restore_policy();
            let Some(from) = restore.crossing(&original.origins, tool) else {
                return Err(refusal(name, original, tool));
            };
            let is_listed = |known: &ForeignValue| known.placeholder == name;
            if !from.is_empty() && !foreign.iter().any(is_listed) {
                foreign.push(ForeignValue {
                    placeholder: name.to_owned(),
                    from,
                });
            }
        }
        Ok(())
    }

    fn restore(
        &self,
        value: &mut Value,
        destination: &Destination<'_>,
        restored: &mut Vec<String>,
    ) {
        match value {
            Value::String(text) => {
                let number = self
                    .original_for(text, destination)
                    .filter(|original| original.number)
                    .and_then(|original| serde_json::from_str(&original.value).ok());
                if let Some(number) = number {
                    restored.push(std::mem::take(text));
                    *value = Value::Number(number);
                } else if let Some(new) = self.restored_text(text, destination, restored) {
                    *text = new;
                }
            }
            Value::Array(items) => items
                .iter_mut()
                .for_each(|item| self.restore(item, destination, restored)),
            Value::Object(fields) => {
                for (key, mut value) in std::mem::take(fields) {
                    self.restore(&mut value, destination, restored);
                    let key = self
                        .restored_text(&key, destination, restored)
                        .unwrap_or(key);
                    fields.insert(key, value);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn restored_text(
        &self,
        text: &str,
        destination: &Destination<'_>,
        restored: &mut Vec<String>,
    ) -> Option<String> {
        let mut out = String::new();
        let mut at = 0;
        for span in placeholder::spans(text) {
            if let Some(original) = self.original_for(&text[span.clone()], destination) {
                out.push_str(&text[at..span.start]);
                out.push_str(&original.value);
                at = span.end;
                restored.push(text[span].to_owned());
            }
        }
        (at > 0).then(|| out + &text[at..])
    }
}

fn refusal(placeholder: &str, original: &Original, tool: &str) -> RestoreRefusal {
    let own = crate::restore_policy::server_of(tool);
    // The first origin is as good an explanation as the others.
    let servers: Vec<&str> = original
        .origins
        .first()
        .map(|origin| origin.servers().filter(|server| *server != own).collect())
        .unwrap_or_default();
    let list = |quote: &str| {
        let quoted = servers.iter().map(|name| format!("{quote}{name}{quote}"));
        quoted.collect::<Vec<_>>().join(", ")
    };
    let (from, setting) = match servers.is_empty() {
        true => ("an unknown server".to_owned(), "\"*\"".to_owned()),
        false => (list("`"), list("\"")),
    };
    RestoreRefusal::Foreign {
        tool: tool.to_owned(),
        placeholder: placeholder.to_owned(),
        from,
        setting,
    }
}
