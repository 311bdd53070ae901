//! Metrics in the JSON form of OTLP, cumulative.

use std::time::SystemTime;

use serde_json::{Value, json};

use crate::families::{Family, FamilyKind};
use crate::metrics::{Gauge, Metrics};
use crate::otlp::{scope, unix_nanos};
use crate::series::{Point, Series};

/// OTLP's number for values since the start of the process.
const CUMULATIVE: u8 = 2;

/// The body of a request to `/v1/metrics`; `None` if there is nothing to send.
pub fn metrics(resource: &Value, metrics: &Metrics) -> Option<Value> {
    let (from, now) = (unix_nanos(metrics.started()), unix_nanos(SystemTime::now()));
    let mut all = Vec::new();
    metrics.each(|family, series| all.extend(family_json(family, series, &from, &now)));
    all.extend(observed(&metrics.observed(), &from, &now));
    (!all.is_empty()).then(|| {
        json!({ "resourceMetrics": [
            { "resource": resource, "scopeMetrics": [{ "scope": scope(), "metrics": all }] }
        ] })
    })
}

fn family_json(family: &Family, series: &Series, from: &str, now: &str) -> Option<Value> {
    let points: Vec<Value> = series
        .points()
        .map(|(values, point)| {
            let labels = family
                .labels
                .iter()
                .copied()
                .zip(values.iter().map(String::as_str));
            let mut json = json!({
                "attributes": attributes(labels),
                "startTimeUnixNano": from,
                "timeUnixNano": now,
            });
            match (point, family.kind) {
                (Point::Buckets { counts, sum }, FamilyKind::Histogram(bounds)) => {
                    let texts: Vec<String> = counts.iter().map(u64::to_string).collect();
                    json["count"] = counts.iter().sum::<u64>().to_string().into();
                    json["sum"] = (*sum).into();
                    json["bucketCounts"] = texts.into();
                    json["explicitBounds"] = bounds.into();
                }
                (Point::Number(number), _) => json["asDouble"] = (*number).into(),
                (Point::Buckets { .. }, _) => {}
            }
            json
        })
        .collect();
    if points.is_empty() {
        return None;
    }
    let mut json = json!({ "name": family.name, "description": family.help, "unit": family.unit });
    let (key, data) = match family.kind {
        FamilyKind::Histogram(_) => (
            "histogram",
            json!({ "aggregationTemporality": CUMULATIVE, "dataPoints": points }),
        ),
        FamilyKind::Counter => ("sum", sum(points)),
    };
    json[key] = data;
    Some(json)
}

fn sum(points: Vec<Value>) -> Value {
    json!({ "aggregationTemporality": CUMULATIVE, "isMonotonic": true, "dataPoints": points })
}

fn observed(gauges: &[Gauge], from: &str, now: &str) -> Vec<Value> {
    gauges
        .chunk_by(|one, other| one.name == other.name)
        .filter_map(|gauges| {
            let first = gauges.first()?;
            let points = gauges.iter().map(|gauge| {
                let labels = gauge
                    .labels
                    .iter()
                    .map(|(name, value)| (*name, value.as_str()));
                json!({
                    "attributes": attributes(labels),
                    "startTimeUnixNano": from,
                    "timeUnixNano": now,
                    "asDouble": gauge.value,
                })
            });
            let points: Vec<Value> = points.collect();
            let mut json = json!({ "name": first.name, "description": first.help });
            match first.is_counter {
                true => json["sum"] = sum(points),
                false => json["gauge"] = json!({ "dataPoints": points }),
            }
            Some(json)
        })
        .collect()
}

fn attributes<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<Value> {
    pairs
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| json!({ "key": name, "value": { "stringValue": value } }))
        .collect()
}
