//! Where telemetry is sent, from the standard variables of OpenTelemetry and a configuration file.

use std::collections::BTreeMap;
use std::time::Duration;

use reqwest::header::{HeaderName, HeaderValue};
use url::Url;

use crate::attribute::Attribute;
use crate::error::TelemetryError;
use crate::sampler::Sampler;

/// Where collectors listen if nothing else is said.
const DEFAULT_ENDPOINT: &str = "http://localhost:4318";
const EXPECTED_URL: &str = "expected an address such as http://127.0.0.1:4318";
const EXPECTED_BASE: &str = "expected the address of the collector, such as http://127.0.0.1:4318: /v1/traces, /v1/metrics and /v1/logs are added to it";
const EXPECTED_HEADER: &str = "expected the name of a header, and a value in one line";
const EXPECTED_NUMBER: &str = "expected a whole number above 0, such as 512";

/// What a configuration file says. The variables of the environment come before it.
#[derive(Debug, Clone, Default)]
pub struct FileSettings {
    /// The address of the collector, to which `/v1/traces` and the like are added.
    pub endpoint: Option<String>,
    /// Headers of every request to it.
    pub headers: BTreeMap<String, String>,
    /// The share of new traces that is recorded.
    pub sampling: Option<f64>,
}

/// The full addresses by kind; `None` where nothing of the kind is sent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Endpoints {
    /// For spans.
    pub traces: Option<Url>,
    /// For metrics.
    pub metrics: Option<Url>,
    /// For log records.
    pub logs: Option<Url>,
}

impl Endpoints {
    /// Whether nothing is sent.
    pub fn is_empty(&self) -> bool {
        self.traces.is_none() && self.metrics.is_none() && self.logs.is_none()
    }
}

/// How telemetry is sent.
#[derive(Debug, Clone)]
pub struct ExportSettings {
    /// Where to.
    pub endpoints: Endpoints,
    /// Headers of every request.
    pub headers: Vec<(String, String)>,
    /// Whether bodies are compressed with gzip.
    pub gzip: bool,
    /// How long one request may take.
    pub timeout: Duration,
    /// Which traces are recorded.
    pub sampler: Sampler,
    /// Spans and log records that wait, at most.
    pub queue: usize,
    /// Spans and log records of one request, at most.
    pub batch: usize,
    /// How long a span waits for others.
    pub delay: Duration,
    /// How often metrics are sent.
    pub metric_interval: Duration,
    /// What sends: `service.name` and the like.
    pub resource: Vec<Attribute>,
    /// Whether `traceparent` and `tracestate` are read and passed on.
    pub passes_trace: bool,
    /// Whether `baggage` is passed on.
    pub passes_baggage: bool,
}

/// Reads variables of the environment.
struct Environment<'a>(&'a dyn Fn(&str) -> Option<String>);

impl Environment<'_> {
    /// A variable that is set and not empty: empty ones count as unset.
    fn text(&self, name: &str) -> Option<String> {
        let text = (self.0)(name)?.trim().to_owned();
        (!text.is_empty()).then_some(text)
    }

    fn number(&self, name: &str, default: u64) -> Result<u64, TelemetryError> {
        let Some(text) = self.text(name) else {
            return Ok(default);
        };
        let number = text.parse().ok().filter(|number| *number > 0);
        number.ok_or_else(|| TelemetryError::invalid(name, &text, EXPECTED_NUMBER))
    }

    /// A variable of one kind (`OTEL_EXPORTER_OTLP_TRACES_…`), else that of all kinds.
    fn of_kind(&self, kind: &str, name: &str) -> Option<String> {
        self.text(&format!("OTEL_EXPORTER_OTLP_{kind}_{name}"))
            .or_else(|| self.text(&format!("OTEL_EXPORTER_OTLP_{name}")))
    }

    fn endpoint(&self, kind: &str, file: &FileSettings) -> Result<Option<Url>, TelemetryError> {
        let exporter = self.text(&format!("OTEL_{kind}_EXPORTER"));
        match exporter.as_deref() {
            Some("none") => return Ok(None),
            Some("otlp") | None => {}
            Some(other) => {
                let expected = "pml sends `otlp`, or `none`; Prometheus reads /metrics";
                return Err(TelemetryError::invalid(
                    &format!("OTEL_{kind}_EXPORTER"),
                    other,
                    expected,
                ));
            }
        }
        let own = format!("OTEL_EXPORTER_OTLP_{kind}_ENDPOINT");
        if let Some(url) = self.text(&own) {
            return parse_url(&own, &url).map(Some);
        }
        let (name, base) = match (self.text("OTEL_EXPORTER_OTLP_ENDPOINT"), &file.endpoint) {
            (Some(base), _) => ("OTEL_EXPORTER_OTLP_ENDPOINT", base),
            (None, Some(base)) => ("pml.telemetry.endpoint", base.clone()),
            (None, None) if exporter.is_some() => ("", DEFAULT_ENDPOINT.to_owned()),
            (None, None) => return Ok(None),
        };
        let path = kind.to_lowercase();
        let url = parse_url(name, &base)?;
        let is_whole = ["/v1/traces", "/v1/metrics", "/v1/logs"]
            .iter()
            .any(|end| url.path().trim_end_matches('/').ends_with(end));
        if is_whole {
            return Err(TelemetryError::invalid(name, &base, EXPECTED_BASE));
        }
        let url = format!("{}/v1/{path}", url.as_str().trim_end_matches('/'));
        parse_url(name, &url).map(Some)
    }

    fn check_protocol(&self, kind: &str) -> Result<(), TelemetryError> {
        match self.of_kind(kind, "PROTOCOL").as_deref() {
            // Collectors read both forms at the same address.
            None | Some("http/json" | "http/protobuf") => Ok(()),
            Some(other) => Err(TelemetryError::invalid(
                "OTEL_EXPORTER_OTLP_PROTOCOL",
                other,
                "pml sends http/json: name the HTTP port of the collector, which is 4318 by default",
            )),
        }
    }
}

fn parse_url(name: &str, text: &str) -> Result<Url, TelemetryError> {
    let url = Url::parse(text).ok();
    url.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
        .ok_or_else(|| TelemetryError::invalid(name, text, EXPECTED_URL))
}

/// `key=value,key=value` with percent-encoded values, as the variables have it.
fn pairs(name: &str, text: &str) -> Result<Vec<(String, String)>, TelemetryError> {
    text.split(',')
        .map(str::trim)
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (key, value) = pair.split_once('=').ok_or_else(|| {
                // The value may be a credential, and is not repeated.
                TelemetryError::invalid(name, "…", "expected key=value, separated by commas")
            })?;
            Ok((key.trim().to_owned(), decoded(value.trim())))
        })
        .collect()
}

/// The text with `%20` and the like replaced.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let digits = text.get(at + 1..at + 3).filter(|_| *byte == b'%');
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(*byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

impl ExportSettings {
    /// The settings of a file and of the environment, which `variable` reads. Without an address, nothing
    /// is sent.
    ///
    /// # Errors
    ///
    /// A variable or a key has a value that it cannot have.
    pub fn new(
        file: &FileSettings,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, TelemetryError> {
        let environment = Environment(variable);
        let text = |name: &str| environment.text(name);
        let is_disabled =
            text("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"));
        let mut endpoints = Endpoints::default();
        if !is_disabled {
            for (kind, endpoint) in [
                ("TRACES", &mut endpoints.traces),
                ("METRICS", &mut endpoints.metrics),
                ("LOGS", &mut endpoints.logs),
            ] {
                *endpoint = environment.endpoint(kind, file)?;
                if endpoint.is_some() {
                    environment.check_protocol(kind)?;
                }
            }
        }
        let mut headers = BTreeMap::new();
        let own = text("OTEL_EXPORTER_OTLP_HEADERS");
        let own = own.map(|own| pairs("OTEL_EXPORTER_OTLP_HEADERS", &own));
        let of_file = file.headers.clone().into_iter().collect();
        for (from, all) in [
            ("pml.telemetry.headers", of_file),
            (
                "OTEL_EXPORTER_OTLP_HEADERS",
                own.transpose()?.unwrap_or_default(),
            ),
        ] {
            for (name, value) in all {
                let is_name = HeaderName::from_bytes(name.as_bytes()).is_ok();
                if !is_name || HeaderValue::from_str(&value).is_err() {
                    // The value may be a credential, and is not repeated.
                    return Err(TelemetryError::invalid(from, &name, EXPECTED_HEADER));
                }
                headers.insert(name, value);
            }
        }
        let sampler = match (text("OTEL_TRACES_SAMPLER"), file.sampling) {
            (Some(name), _) => Sampler::named(&name, text("OTEL_TRACES_SAMPLER_ARG").as_deref())?,
            (None, Some(share)) => {
                let share = Sampler::share("pml.telemetry.sampling", &share.to_string())?;
                Sampler::parent_based(share)
            }
            (None, None) => Sampler::default(),
        };
        let propagators = text("OTEL_PROPAGATORS");
        let passes = |name: &str| {
            let named = propagators.as_deref();
            named.is_none_or(|all| all.split(',').any(|one| one.trim() == name))
        };
        let millis = |name: &str, default: u64| {
            let number = environment.number(name, default);
            number.map(Duration::from_millis)
        };
        let count = |name: &str, default: u64| {
            let number = environment.number(name, default)?;
            Ok::<_, TelemetryError>(usize::try_from(number).unwrap_or(usize::MAX))
        };
        Ok(Self {
            endpoints,
            headers: headers.into_iter().collect(),
            gzip: text("OTEL_EXPORTER_OTLP_COMPRESSION").as_deref() == Some("gzip"),
            timeout: millis("OTEL_EXPORTER_OTLP_TIMEOUT", 10_000)?,
            sampler,
            queue: count("OTEL_BSP_MAX_QUEUE_SIZE", 2_048)?,
            batch: count("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 512)?,
            delay: millis("OTEL_BSP_SCHEDULE_DELAY", 5_000)?,
            metric_interval: millis("OTEL_METRIC_EXPORT_INTERVAL", 60_000)?,
            resource: resource(&environment)?,
            passes_trace: passes("tracecontext"),
            passes_baggage: passes("baggage"),
        })
    }
}

/// What sends.
fn resource(environment: &Environment<'_>) -> Result<Vec<Attribute>, TelemetryError> {
    let mut named = BTreeMap::from([
        ("service.name".to_owned(), "pml".to_owned()),
        (
            "service.version".to_owned(),
            env!("CARGO_PKG_VERSION").to_owned(),
        ),
        ("process.pid".to_owned(), std::process::id().to_string()),
        ("telemetry.sdk.language".to_owned(), "rust".to_owned()),
        ("telemetry.sdk.name".to_owned(), "pml".to_owned()),
        (
            "telemetry.sdk.version".to_owned(),
            env!("CARGO_PKG_VERSION").to_owned(),
        ),
    ]);
    if let Some(own) = environment.text("OTEL_RESOURCE_ATTRIBUTES") {
        named.extend(pairs("OTEL_RESOURCE_ATTRIBUTES", &own)?);
    }
    if let Some(name) = environment.text("OTEL_SERVICE_NAME") {
        named.insert("service.name".to_owned(), name);
    }
    Ok(named
        .into_iter()
        .map(|(name, value)| match name.as_str() {
            "process.pid" => (name.into(), i64::from(std::process::id()).into()),
            _ => (name.into(), value.into()),
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(
        file: &FileSettings,
        variables: &[(&str, &str)],
    ) -> Result<ExportSettings, TelemetryError> {
        let find = |name: &str| {
            let found = variables.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        ExportSettings::new(file, &find)
    }

    fn urls(endpoints: &Endpoints) -> [Option<&str>; 3] {
        let all = [&endpoints.traces, &endpoints.metrics, &endpoints.logs];
        all.map(|url| url.as_ref().map(Url::as_str))
    }

    #[test]
    fn without_an_address_nothing_is_sent() {
        let none = settings(&FileSettings::default(), &[]).unwrap();
        assert!(none.endpoints.is_empty());
        let disabled = [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318"),
            ("OTEL_SDK_DISABLED", "TRUE"),
        ];
        let disabled = settings(&FileSettings::default(), &disabled).unwrap();
        assert!(disabled.endpoints.is_empty());
    }

    #[test]
    fn the_standard_variables_come_before_the_file() {
        let file = FileSettings {
            endpoint: Some("http://file:4318/".to_owned()),
            headers: BTreeMap::from([("x-key".to_owned(), "file".to_owned())]),
            sampling: Some(0.5),
        };
        let from_file = settings(&file, &[]).unwrap();
        assert_eq!(
            urls(&from_file.endpoints)[0],
            Some("http://file:4318/v1/traces")
        );
        assert_eq!(from_file.sampler, Sampler::parent_based(0.5));
        let variables = [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "https://env/otlp"),
            ("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "http://logs:1/as-it-is"),
            ("OTEL_METRICS_EXPORTER", "none"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "x-key=a%20b, x-other=c"),
            ("OTEL_TRACES_SAMPLER", "always_off"),
            ("OTEL_SERVICE_NAME", "tools"),
            ("OTEL_RESOURCE_ATTRIBUTES", "team=a,service.name=other"),
            ("OTEL_PROPAGATORS", "tracecontext"),
            ("OTEL_BSP_MAX_QUEUE_SIZE", "7"),
        ];
        let all = settings(&file, &variables).unwrap();
        assert_eq!(
            urls(&all.endpoints),
            [
                Some("https://env/otlp/v1/traces"),
                None,
                Some("http://logs:1/as-it-is")
            ]
        );
        let headers = [("x-key", "a b"), ("x-other", "c")];
        assert_eq!(
            all.headers,
            headers.map(|(key, value)| (key.to_owned(), value.to_owned()))
        );
        assert_eq!(all.sampler, Sampler::named("always_off", None).unwrap());
        assert!(all.passes_trace && !all.passes_baggage);
        assert_eq!(all.queue, 7);
        let name = ("service.name".into(), "tools".into());
        assert!(all.resource.contains(&name), "{:?}", all.resource);
    }

    #[test]
    fn a_wrong_key_of_the_file_is_an_error_that_names_it() {
        let file = |endpoint: &str, header: &str, sampling| FileSettings {
            endpoint: Some(endpoint.to_owned()),
            headers: BTreeMap::from([(header.to_owned(), "s3cret".to_owned())]),
            sampling: Some(sampling),
        };
        for (file, expected) in [
            (file("collector:4318", "x", 1.0), "pml.telemetry.endpoint"),
            (file("http://c:4318/v1/traces", "x", 1.0), "are added to it"),
            (
                file("http://c:4318", "x y", 1.0),
                "pml.telemetry.headers `x y`",
            ),
            (file("http://c:4318", "x", 1.5), "pml.telemetry.sampling"),
        ] {
            let error = settings(&file, &[]).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
            assert!(!error.contains("s3cret"), "{error}");
        }
    }

    #[test]
    fn what_cannot_be_sent_is_an_error_that_says_what_to_write() {
        let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318");
        for (variable, expected) in [
            (("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"), "4318"),
            (
                ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "collector"),
                "such as http://",
            ),
            (("OTEL_BSP_MAX_QUEUE_SIZE", "many"), "such as 512"),
            (("OTEL_TRACES_EXPORTER", "zipkin"), "`otlp`"),
        ] {
            let error = settings(&FileSettings::default(), &[endpoint, variable]).unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
        }
        let secret = [endpoint, ("OTEL_EXPORTER_OTLP_HEADERS", "s3cret")];
        let error = settings(&FileSettings::default(), &secret).unwrap_err();
        assert!(!error.to_string().contains("s3cret"), "{error}");
    }
}
