//! `pml.telemetry`: what is observed, and where it is sent.

use std::collections::BTreeMap;
use std::sync::Arc;

use pml_gateway::Secrets;
use pml_scrub::{PlaceholderMap, Scrubber};
use pml_telemetry::{
    AnomalyRules, Attribute, AttributeValue, ExportSettings, FileSettings, Telemetry,
    TelemetryOptions,
};
use pml_units::HumanDuration;
use serde::Deserialize;

/// Tools that metrics name, at most: with all histograms, `/metrics` stays below 1 MB.
const MAX_TOOLS: usize = 200;

/// `pml.telemetry`: a missing key keeps its default.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct TelemetrySettings {
    /// Whether anything is observed. If absent, `pml serve` does.
    enabled: Option<bool>,
    /// The collector.
    endpoint: Option<String>,
    /// Headers of requests to it.
    headers: BTreeMap<String, String>,
    /// The share of new traces that is recorded.
    sampling: Option<f64>,
    /// Attributes of every span.
    attributes: BTreeMap<String, Scalar>,
    /// Whether spans show arguments and results, scrubbed.
    values: bool,
    /// Tools that metrics name.
    max_tools: Option<usize>,
    /// When a change of a tool is sudden. If absent, tools are not watched.
    anomalies: Option<AnomalySettings>,
}

/// `pml.telemetry.anomalies`: a missing key keeps its default.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
struct AnomalySettings {
    window: Option<HumanDuration>,
    min_calls: Option<u32>,
    sensitivity: Option<f64>,
    action: AnomalyAction,
}

/// What happens when a tool changes suddenly.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum AnomalyAction {
    /// It is reported.
    #[default]
    Event,
    /// It is reported, and the tool is withdrawn.
    Suspend,
}

impl AnomalySettings {
    fn rules(&self) -> AnomalyRules {
        let default = AnomalyRules::default();
        AnomalyRules {
            window: self.window.map_or(default.window, HumanDuration::get),
            min_calls: self.min_calls.unwrap_or(default.min_calls).max(1),
            sensitivity: self.sensitivity.unwrap_or(default.sensitivity),
            suspends: self.action == AnomalyAction::Suspend,
        }
    }
}

/// The value of an attribute.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum Scalar {
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
}

impl From<Scalar> for AttributeValue {
    fn from(scalar: Scalar) -> Self {
        match scalar {
            Scalar::Bool(is) => is.into(),
            Scalar::Int(number) => number.into(),
            Scalar::Float(number) => number.into(),
            Scalar::Text(text) => text.into(),
        }
    }
}

impl TelemetrySettings {
    /// Starts to observe; `None` if the operator does not want it. A setting of the environment that
    /// pml cannot follow is a warning: it may be meant for the program that started this one.
    pub fn start(
        &self,
        scrubber: &Arc<Scrubber>,
        secrets: &Secrets,
    ) -> anyhow::Result<Option<Telemetry>> {
        if self.enabled == Some(false) {
            return Ok(None);
        }
        let file = FileSettings {
            endpoint: self.endpoint.clone(),
            headers: self.headers.clone(),
            sampling: self.sampling,
        };
        let export = match ExportSettings::new(&file, &|name| std::env::var(name).ok()) {
            Ok(export) => export,
            Err(error) => {
                tracing::warn!(%error, "no telemetry is sent");
                ExportSettings::new(&FileSettings::default(), &|_| None)?
            }
        };
        pml_gateway::install_tls();
        let (scrubber, secrets) = (scrubber.clone(), secrets.clone());
        let scrub = move |text: &str| {
            let text = secrets.hide_for_people(text);
            let mut placeholders = PlaceholderMap::new(scrubber.clone());
            let scrubbed = placeholders.scrub_text(&text, None).ok()?;
            Some(scrubbed.into_inner())
        };
        let attributes = self.attributes.clone().into_iter();
        let attributes: Vec<Attribute> = attributes
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        let telemetry = Telemetry::start(TelemetryOptions {
            export,
            attributes,
            max_tools: self.max_tools.unwrap_or(MAX_TOOLS),
            shows_values: self.values,
            scrub: Arc::new(scrub),
            anomalies: self.anomalies.as_ref().map(AnomalySettings::rules),
        })?;
        Ok(Some(telemetry))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_texts_numbers_or_booleans() {
        let json = r#"{ "endpoint": "http://c:4318", "sampling": 0.1, "values": true,
            "attributes": { "a": "b", "n": 3, "f": 0.5, "is": true } }"#;
        let settings: TelemetrySettings = serde_json::from_str(json).unwrap();
        let values: Vec<AttributeValue> = settings
            .attributes
            .into_values()
            .map(AttributeValue::from)
            .collect();
        let expected: [AttributeValue; 4] = ["b".into(), 0.5.into(), true.into(), 3.into()];
        assert_eq!(values, expected);
        let error = serde_json::from_str::<TelemetrySettings>(r#"{ "endpont": "x" }"#).unwrap_err();
        assert!(error.to_string().contains("unknown field"), "{error}");
    }
}
