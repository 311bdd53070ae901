//! `pml.telemetry`: what is observed, and where it is sent.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::ensure;
use pml_gateway::Secrets;
use pml_scrub::{ScrubConfig, Scrubber};
use pml_telemetry::{
    AnomalyRules, Attribute, AttributeValue, ExportSettings, FileSettings, Suspends, Telemetry,
    TelemetryOptions,
};
use pml_units::HumanDuration;
use serde::Deserialize;

use crate::diagnostics;
use crate::value_scrubber::value_scrubber;

/// The variables that name a collector.
const ENDPOINTS: [&str; 4] = [
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
    "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT",
];

/// Tools that metrics name, at most: with all histograms, `/metrics` stays below 1 MB.
const MAX_TOOLS: usize = 200;

/// `pml.telemetry`: a missing key keeps its default.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct TelemetrySettings {
    /// Whether anything is observed. If absent, `pml serve` does.
    enabled: Option<bool>,
    /// Whether `pml run` and the like are observed, too. If absent, they are where a variable of the
    /// environment names a collector.
    commands: Option<bool>,
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
    /// What `"action": "suspend"` withdraws.
    suspend: Option<SuspendTarget>,
}

/// What happens when a tool changes suddenly.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum AnomalyAction {
    /// It is reported.
    #[default]
    Event,
    /// It is reported, and the tool or the principal is withdrawn.
    Suspend,
}

/// What is withdrawn until a person has looked at it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SuspendTarget {
    /// The tool that has changed.
    #[default]
    Tool,
    /// Who made most of the calls, or of those that failed.
    Principal,
    /// The tool and the principal.
    Both,
}

impl AnomalySettings {
    fn rules(&self) -> anyhow::Result<AnomalyRules> {
        let default = AnomalyRules::default();
        let rules = AnomalyRules {
            window: self.window.map_or(default.window, HumanDuration::get),
            min_calls: self.min_calls.unwrap_or(default.min_calls),
            sensitivity: self.sensitivity.unwrap_or(default.sensitivity),
            suspends: match (self.action, self.suspend.unwrap_or_default()) {
                (AnomalyAction::Event, _) => Suspends::Nothing,
                (AnomalyAction::Suspend, SuspendTarget::Tool) => Suspends::Tool,
                (AnomalyAction::Suspend, SuspendTarget::Principal) => Suspends::Principal,
                (AnomalyAction::Suspend, SuspendTarget::Both) => Suspends::Both,
            },
        };
        let name = "pml.telemetry.anomalies";
        ensure!(
            !rules.window.is_zero(),
            "invalid {name}.window `0`: expected a time above 0, such as 1m"
        );
        ensure!(
            rules.min_calls > 0,
            "invalid {name}.minCalls `0`: expected a whole number above 0, such as 20"
        );
        ensure!(
            rules.sensitivity > 0.0,
            "invalid {name}.sensitivity `{}`: expected a number of standard deviations above 0, such as 4",
            rules.sensitivity
        );
        ensure!(
            self.suspend.is_none() || self.action == AnomalyAction::Suspend,
            "{name}.suspend says what is withdrawn, and nothing is: add \"action\": \"suspend\", or remove it"
        );
        Ok(rules)
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
    ///
    /// # Errors
    ///
    /// A key of the configuration has a value that it cannot have.
    pub fn start(
        &self,
        scrubber: &Arc<Scrubber>,
        secrets: &Secrets,
    ) -> anyhow::Result<Option<Telemetry>> {
        let file = self.file();
        // What the file says is checked without the environment, which comes before it.
        ExportSettings::new(&file, &|_| None)?;
        let anomalies = self.anomalies.as_ref();
        let anomalies = anomalies.map(AnomalySettings::rules).transpose()?;
        if self.enabled == Some(false) {
            return Ok(None);
        }
        let export = match ExportSettings::new(&file, &|name| std::env::var(name).ok()) {
            Ok(export) => export,
            Err(error) => {
                tracing::warn!(%error, "no telemetry is sent");
                ExportSettings::new(&FileSettings::default(), &|_| None)?
            }
        };
        self.start_with(export, anomalies, scrubber.clone(), secrets)
            .map(Some)
    }

    /// Starts to observe a command such as `pml run`; `None` unless it is wanted there, and a collector is
    /// named.
    ///
    /// # Errors
    ///
    /// As with [`TelemetrySettings::start`].
    pub fn start_for_command(
        &self,
        scrub: &ScrubConfig,
        secrets: &Secrets,
    ) -> anyhow::Result<Option<Telemetry>> {
        let variable = |name: &str| std::env::var(name).ok();
        if !self.observes_commands(&variable) {
            return Ok(None);
        }
        let file = self.file();
        ExportSettings::new(&file, &|_| None)?;
        let export = match ExportSettings::new(&file, &variable) {
            Ok(export) if export.endpoints.is_empty() => return Ok(None),
            Ok(export) => export,
            Err(error) => {
                diagnostics::warning(format_args!("no telemetry is sent: {error}"));
                return Ok(None);
            }
        };
        let scrubber = Arc::new(Scrubber::new(scrub)?);
        // One run is no series of windows.
        self.start_with(export, None, scrubber, secrets).map(Some)
    }

    fn observes_commands(&self, variable: &dyn Fn(&str) -> Option<String>) -> bool {
        let is_named = |name: &&str| variable(name).is_some_and(|value| !value.is_empty());
        match (self.enabled, self.commands) {
            (Some(false), _) => false,
            (_, Some(is_wanted)) => is_wanted,
            (_, None) => ENDPOINTS.iter().any(is_named),
        }
    }

    fn file(&self) -> FileSettings {
        FileSettings {
            endpoint: self.endpoint.clone(),
            headers: self.headers.clone(),
            sampling: self.sampling,
        }
    }

    fn start_with(
        &self,
        export: ExportSettings,
        anomalies: Option<AnomalyRules>,
        scrubber: Arc<Scrubber>,
        secrets: &Secrets,
    ) -> anyhow::Result<Telemetry> {
        pml_gateway::install_tls();
        let attributes = self.attributes.clone().into_iter();
        let attributes: Vec<Attribute> = attributes
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        Ok(Telemetry::start(TelemetryOptions {
            export,
            attributes,
            max_tools: self.max_tools.unwrap_or(MAX_TOOLS),
            shows_values: self.values,
            scrub: value_scrubber(scrubber, secrets.clone()),
            anomalies,
        })?)
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

    #[test]
    fn commands_are_observed_where_the_file_or_a_variable_wants_that() {
        let wanted = |json: &str, set: &str| {
            let settings: TelemetrySettings = serde_json::from_str(json).unwrap();
            let variable = |name: &str| (name == set).then(|| "http://c:4318".to_owned());
            settings.observes_commands(&variable)
        };
        let endpoint = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
        assert!(!wanted(r#"{ "endpoint": "http://c:4318" }"#, ""));
        assert!(wanted(r#"{ "commands": true }"#, ""));
        assert!(wanted("{}", endpoint));
        assert!(!wanted(r#"{ "commands": false }"#, endpoint));
        assert!(!wanted(
            r#"{ "enabled": false, "commands": true }"#,
            endpoint
        ));
    }

    #[test]
    fn rules_of_anomalies_that_cannot_be_meant_are_one_sentence() {
        let rules = |json: &str| {
            let settings: AnomalySettings = serde_json::from_str(json).unwrap();
            settings
                .rules()
                .map(|rules| rules.suspends)
                .map_err(|error| error.to_string())
        };
        assert_eq!(rules("{}"), Ok(Suspends::Nothing));
        assert_eq!(rules(r#"{ "action": "suspend" }"#), Ok(Suspends::Tool));
        let both = r#"{ "action": "suspend", "suspend": "both" }"#;
        assert_eq!(rules(both), Ok(Suspends::Both));
        for (json, expected) in [
            (
                r#"{ "sensitivity": -1 }"#,
                "expected a number of standard deviations",
            ),
            (r#"{ "minCalls": 0 }"#, "above 0"),
            (r#"{ "window": "0s" }"#, "such as 1m"),
            (r#"{ "suspend": "tool" }"#, "add \"action\""),
        ] {
            let error = rules(json).unwrap_err();
            assert!(error.contains(expected), "{json}: {error}");
        }
    }
}
