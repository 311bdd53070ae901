//! Calls that were written for a certain version of a tool.

use pml_policy::lock::{PreviousVersion, VersionRequest, breaking_changes};

use super::{CallError, CallErrorKind};
use crate::registry::Tool;
use crate::server::Server;

/// Differences that an error names.
const MAX_NAMED: usize = 5;

/// The version that a call was written for, which is not the one that the tool has.
#[derive(Debug)]
pub(crate) struct EarlierVersion {
    pinned: PreviousVersion,
    now: String,
}

impl EarlierVersion {
    /// The error of arguments that do not fit the tool as it is now.
    pub fn explain(&self, tool: &Tool, error: CallError) -> CallError {
        if error.kind != CallErrorKind::Arguments {
            return error;
        }
        let changes = breaking_changes(&self.pinned.input_schema, &tool.input_schema);
        if changes.is_empty() {
            return error;
        }
        let named: Vec<&str> = changes.iter().take(MAX_NAMED).map(String::as_str).collect();
        let id = tool.id.as_str();
        let message = format!(
            "this call was written for `{id}` {}, which is {} now ({}): {}",
            self.pinned.version,
            self.now,
            named.join("; "),
            error.message
        );
        CallError::permanent(CallErrorKind::Version, id, message)
    }
}

impl Server {
    /// The version that a call asks for; `None` if the tool has it.
    ///
    /// # Errors
    /// There is no such version.
    pub(crate) fn earlier_version(
        &self,
        tool: &Tool,
        version: &str,
    ) -> Result<Option<EarlierVersion>, CallError> {
        let id = tool.id.as_str();
        let refuse = |message: String| CallError::permanent(CallErrorKind::Version, id, message);
        let wanted: VersionRequest = version.parse().map_err(|mistake| {
            refuse(format!("`{id}@{}`: {mistake}", crate::printable(version)))
        })?;
        let Some(pin) = self.pin(tool.id.tool()) else {
            return Err(refuse(format!(
                "`{id}@{wanted}` asks for a version, and versions are counted in pml.lock: run `pml lock`, or leave out `@{wanted}`"
            )));
        };
        if wanted.matches(pin.version, &pin.digest) {
            return Ok(None);
        }
        let mut previous = pin.previous.iter();
        let found = previous.find(|previous| wanted.matches(previous.version, &previous.digest));
        match found {
            Some(previous) => Ok(Some(EarlierVersion {
                pinned: previous.clone(),
                now: pin.version.to_string(),
            })),
            None => {
                let known = pin
                    .previous
                    .iter()
                    .map(|previous| previous.version.to_string());
                let known: Vec<String> = std::iter::once(pin.version.to_string())
                    .chain(known)
                    .collect();
                Err(refuse(format!(
                    "there is no version {wanted} of `{id}` in pml.lock; it has {}",
                    known.join(", ")
                )))
            }
        }
    }
}
