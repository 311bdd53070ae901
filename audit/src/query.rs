//! Reads events.

use serde_json::Value;

use crate::bundle::{self, Bundle};
use crate::error::AuditError;
use crate::files::LogFiles;
use crate::tile::TILE_WIDTH;

/// Which events are wanted. An empty filter wants all.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// The beginning of the type, such as `pml.call`.
    pub kind: Option<String>,
    /// What the event is about, such as `fs:write_file`.
    pub subject: Option<String>,
    /// Who asked for it.
    pub principal: Option<String>,
    /// Whose data it is about.
    pub tenant: Option<String>,
    /// The run.
    pub run: Option<String>,
    /// The session of a client.
    pub session: Option<String>,
    /// The id of a trace, hexadecimal.
    pub trace: Option<String>,
    /// From this time on (RFC 3339, UTC).
    pub since: Option<String>,
    /// Before this time.
    pub until: Option<String>,
    /// At most this many, the newest.
    pub last: Option<usize>,
}

impl Filter {
    fn wants(&self, event: &Value) -> bool {
        let is = |wanted: &Option<String>, key: &str| {
            wanted
                .as_ref()
                .is_none_or(|wanted| event[key].as_str() == Some(wanted))
        };
        let text = |key: &str| event[key].as_str().unwrap_or_default();
        self.kind
            .as_ref()
            .is_none_or(|kind| text("type").starts_with(kind))
            && is(&self.subject, "subject")
            && is(&self.principal, "principal")
            && is(&self.tenant, "tenant")
            && is(&self.run, "runid")
            && is(&self.session, "session")
            // `00-TRACE-SPAN-FLAGS`
            && self
                .trace
                .as_ref()
                .is_none_or(|trace| text("traceparent").split('-').nth(1) == Some(trace))
            && self
                .since
                .as_ref()
                .is_none_or(|since| text("time") >= since.as_str())
            && self
                .until
                .as_ref()
                .is_none_or(|until| text("time") < until.as_str())
    }
}

/// An event of a log.
#[derive(Debug, Clone)]
pub struct LogEntry {
    /// The event as it is stored, which is what is hashed.
    pub text: String,
    /// The event.
    pub event: Value,
}

impl LogEntry {
    /// When it happened.
    pub fn time(&self) -> &str {
        self.event["time"].as_str().unwrap_or_default()
    }
}

/// Adds the events of a log that the filter wants. Removed bundles are passed over.
pub fn read(
    files: &LogFiles,
    filter: &Filter,
    found: &mut Vec<LogEntry>,
) -> Result<(), AuditError> {
    let covered = files
        .checkpoint(&files.verifying_key()?)?
        .map_or(0, |known| known.size);
    for index in 0_u64.. {
        let bytes = match bundle::read(&files.folder, index)? {
            Bundle::Full(bytes)
            | Bundle::Archived { bytes, .. }
            | Bundle::Partial { bytes, .. } => bytes,
            Bundle::Missing if index < covered / TILE_WIDTH => continue,
            Bundle::Missing => return Ok(()),
        };
        for entry in bundle::entries(&bytes).0 {
            let Ok(event) = serde_json::from_slice::<Value>(entry) else {
                continue;
            };
            if filter.wants(&event) {
                let text = String::from_utf8_lossy(entry).into_owned();
                found.push(LogEntry { text, event });
            }
        }
    }
    Ok(())
}
