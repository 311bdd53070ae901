//! Restores placeholders in the arguments of a tool.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::placeholder_map::Original;
use crate::restore_policy::{UNKNOWN_SERVER, server_of};
use crate::{PlaceholderMap, WrittenPlaceholders, placeholder};

/// The bytes of all values that are restored in the arguments of one call. A placeholder of 16 bytes
/// can stand for 4,096, so that arguments grow 256 times.
const MAX_RESTORED_BYTES: usize = 16 * 1024 * 1024;

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
    /// The values are too long together.
    #[error(
        "`{tool}` was not called: the values of its placeholders have more than {} MiB together; pass \
         fewer placeholders, or several parts",
        MAX_RESTORED_BYTES / (1024 * 1024)
    )]
    TooLarge {
        /// The tool.
        tool: String,
    },
}

/// The tool that receives the values, and what the model wrote.
pub(crate) struct Destination<'a> {
    pub(crate) tool: &'a str,
    pub(crate) written: &'a WrittenPlaceholders,
}

/// What a check of arguments has found so far.
#[derive(Default)]
struct Checked<'v> {
    foreign: Vec<ForeignValue>,
    /// The placeholders that may be restored, and the lengths of their values. Each is checked once.
    lengths: HashMap<&'v str, usize>,
    /// The bytes of the values at every place of a placeholder.
    bytes: usize,
}

/// The placeholders that were replaced.
#[derive(Default)]
struct Replaced {
    names: HashSet<String>,
    /// The replacements, of which several can be of one placeholder.
    count: usize,
}

impl Replaced {
    fn add(&mut self, name: &str) {
        self.count += 1;
        if !self.names.contains(name) {
            self.names.insert(name.to_owned());
        }
    }
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
    /// [`RestoreRefusal`] if a placeholder that the model wrote may not be restored for this tool, or
    /// if the values are too long together.
    pub fn check_args(
        &self,
        args: &Value,
        tool: &str,
        written: &WrittenPlaceholders,
    ) -> Result<Vec<ForeignValue>, RestoreRefusal> {
        let mut checked = Checked::default();
        if !written.is_empty() {
            let destination = Destination { tool, written };
            self.check(args, &destination, &mut checked)?;
        }
        Ok(checked.foreign)
    }

    /// Replaces placeholders that the model wrote by their values in a tool's arguments, right
    /// before the call is sent to its server. Other placeholders stay text. Returns the number of
    /// replacements. The restored arguments must not be logged.
    ///
    /// # Errors
    ///
    /// [`RestoreRefusal`] if a placeholder that the model wrote may not be restored for this tool, or
    /// if the values are too long together; then nothing is replaced.
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
        let mut replaced = Replaced::default();
        self.restore(args, &Destination { tool, written }, &mut replaced);
        for placeholder in &replaced.names {
            self.mark_restored(placeholder);
        }
        Ok(replaced.count)
    }

    fn check<'v>(
        &self,
        value: &'v Value,
        destination: &Destination<'_>,
        checked: &mut Checked<'v>,
    ) -> Result<(), RestoreRefusal> {
        match value {
            Value::String(text) => self.check_text(text, destination, checked),
            Value::Array(items) => items
                .iter()
                .try_for_each(|item| self.check(item, destination, checked)),
            Value::Object(fields) => fields.iter().try_for_each(|(key, value)| {
                self.check_text(key, destination, checked)?;
                self.check(value, destination, checked)
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
        }
    }

    fn check_text<'v>(
        &self,
        text: &'v str,
        destination: &Destination<'_>,
        checked: &mut Checked<'v>,
    ) -> Result<(), RestoreRefusal> {
        for span in placeholder::spans(text) {
            let name = &text[span];
            let length = match checked.lengths.get(name) {
                Some(length) => *length,
                None => {
                    let Some(original) = self.original_for(name, destination) else {
                        continue;
                    };
                    let foreign = self.check_original(name, original, destination)?;
                    checked.foreign.extend(foreign);
                    checked.lengths.insert(name, original.value.len());
                    original.value.len()
                }
            };
            checked.bytes += length;
            if checked.bytes > MAX_RESTORED_BYTES {
                return Err(RestoreRefusal::TooLarge {
                    tool: destination.tool.to_owned(),
                });
            }
        }
        Ok(())
    }

    /// Whether a value may go to the tool, and if it does not come from there, that it is foreign.
    fn check_original(
        &self,
        name: &str,
        original: &Original,
        destination: &Destination<'_>,
    ) -> Result<Option<ForeignValue>, RestoreRefusal> {
        let tool = destination.tool;
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
        Ok((!from.is_empty()).then(|| ForeignValue {
            placeholder: name.to_owned(),
            from,
        }))
    }

    fn restore(&self, value: &mut Value, destination: &Destination<'_>, replaced: &mut Replaced) {
        match value {
            Value::String(text) => {
                let number = self
                    .original_for(text, destination)
                    .filter(|original| original.number)
                    .and_then(|original| serde_json::from_str(&original.value).ok());
                if let Some(number) = number {
                    replaced.add(text);
                    *value = Value::Number(number);
                } else if let Some(new) = self.restored_text(text, destination, replaced) {
                    *text = new;
                }
            }
            Value::Array(items) => items
                .iter_mut()
                .for_each(|item| self.restore(item, destination, replaced)),
            Value::Object(fields) => {
                for (key, mut value) in std::mem::take(fields) {
                    self.restore(&mut value, destination, replaced);
                    let key = self
                        .restored_text(&key, destination, replaced)
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
        replaced: &mut Replaced,
    ) -> Option<String> {
        let mut out = String::new();
        let mut at = 0;
        for span in placeholder::spans(text) {
            if let Some(original) = self.original_for(&text[span.clone()], destination) {
                out.push_str(&text[at..span.start]);
                out.push_str(&original.value);
                at = span.end;
                replaced.add(&text[span]);
            }
        }
        (at > 0).then(|| out + &text[at..])
    }
}

fn refusal(placeholder: &str, original: &Original, tool: &str) -> RestoreRefusal {
    let own = server_of(tool);
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
    // A server without a name is an unknown one, which only `*` allows.
    let is_unknown = servers.is_empty() || servers.contains(&"");
    let (from, setting) = match is_unknown {
        true => (UNKNOWN_SERVER.to_owned(), "\"*\"".to_owned()),
        false => (list("`"), list("\"")),
    };
    RestoreRefusal::Foreign {
        tool: tool.to_owned(),
        placeholder: placeholder.to_owned(),
        from,
        setting,
    }
}
