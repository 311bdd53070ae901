//! What scrubbing replaced in a reply, for the metrics and the audit log.

use pml_reply::RunReply;
use pml_telemetry::Telemetry;
use serde_json::{Map, Value};

/// Counts the replaced values in the metrics, and returns them by kind.
pub fn count_redactions(telemetry: Option<&Telemetry>, reply: &RunReply) -> Map<String, Value> {
    let mut counts = Map::new();
    for (kind, count) in reply.redactions() {
        if let Some(telemetry) = telemetry {
            telemetry.metrics().redacted(&kind, count as u64);
        }
        counts.insert(kind, count.into());
    }
    counts
}
