//! Spans and log records in the JSON form of OTLP.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::attribute::{Attribute, to_otlp};
use crate::log_record::LogRecord;
use crate::span::{EndedSpan, SpanKind};

/// The scope of everything that is sent.
pub fn scope() -> Value {
    json!({ "name": "pml", "version": env!("CARGO_PKG_VERSION") })
}

/// What sends: the `resource` of every message.
pub fn resource(attributes: &[Attribute]) -> Value {
    json!({ "attributes": pairs(attributes) })
}

fn pairs(attributes: &[Attribute]) -> Vec<Value> {
    to_otlp(attributes.iter().map(|(key, value)| (&**key, value)))
}

/// Nanoseconds since 1970, as OTLP writes them.
pub fn unix_nanos(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_nanos().to_string()
}

/// The body of a request to `/v1/traces`.
pub fn traces(resource: &Value, spans: &[EndedSpan]) -> Value {
    let spans: Vec<Value> = spans.iter().map(span).collect();
    json!({ "resourceSpans": [
        { "resource": resource, "scopeSpans": [{ "scope": scope(), "spans": spans }] }
    ] })
}

fn span(span: &EndedSpan) -> Value {
    let mut json = json!({
        "traceId": span.context.trace_id().to_string(),
        "spanId": span.context.span_id().to_string(),
        "flags": span.context.flags(),
        "name": span.name,
        "kind": match span.kind {
            SpanKind::Internal => 1,
            SpanKind::Server => 2,
            SpanKind::Client => 3,
        },
        "startTimeUnixNano": unix_nanos(span.started),
        "endTimeUnixNano": unix_nanos(span.started + span.took),
        "attributes": pairs(&span.attributes),
        "status": match span.is_failed {
            true => json!({ "code": 2 }),
            false => json!({}),
        },
    });
    if let Some(parent) = span.parent {
        json["parentSpanId"] = parent.to_string().into();
    }
    if let Some(state) = span.context.tracestate() {
        json["traceState"] = state.into();
    }
    json
}

/// The body of a request to `/v1/logs`.
pub fn logs(resource: &Value, records: &[LogRecord]) -> Value {
    let records: Vec<Value> = records.iter().map(record).collect();
    json!({ "resourceLogs": [
        { "resource": resource, "scopeLogs": [{ "scope": scope(), "logRecords": records }] }
    ] })
}

/// Log records as the body of a request to `/v1/logs`, for senders that wait until they arrived.
pub fn encode_logs(records: &[LogRecord]) -> Value {
    let attributes: [Attribute; 2] = [
        ("service.name".into(), "pml".into()),
        ("service.version".into(), env!("CARGO_PKG_VERSION").into()),
    ];
    logs(&resource(&attributes), records)
}

fn record(record: &LogRecord) -> Value {
    let (number, word) = record.severity.otlp();
    let time = unix_nanos(record.time);
    let mut json = json!({
        "timeUnixNano": time,
        "observedTimeUnixNano": time,
        "severityNumber": number,
        "severityText": word,
        "body": { "stringValue": record.body },
        "attributes": pairs(&record.attributes),
    });
    if let Some(event) = &record.event {
        json["eventName"] = event.as_str().into();
    }
    if let Some(trace) = &record.trace {
        json["traceId"] = trace.trace_id().to_string().into();
        json["spanId"] = trace.span_id().to_string().into();
        json["flags"] = trace.flags().into();
    }
    json
}
