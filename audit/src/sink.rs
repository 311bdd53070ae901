//! Where events go besides the log: a file, standard output, an HTTP endpoint, a collector.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use pml_telemetry::{LogRecord, Severity, encode_logs};
use reqwest::Url;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

use crate::error::AuditError;
use crate::timestamp::parse_timestamp;

/// How long one request may take: a sink that hangs is away after this time.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The media type of a batch of CloudEvents in JSON.
const CLOUDEVENTS: &str = "application/cloudevents-batch+json";

/// A place to which every event is sent at least once. The `source` and `id` of an event say whether it
/// came before.
pub struct Sink {
    /// The name under which its position is kept.
    pub name: String,
    /// What it is.
    pub target: SinkTarget,
    /// What happens while it is away.
    pub away: WhileAway,
}

/// What happens while a sink does not take events. They stay in the log, which is the spool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WhileAway {
    /// Calls go on, and all events wait, as long as the log keeps them.
    #[default]
    Wait,
    /// Calls go on; beyond this many events, the sink does not get the oldest ones.
    Skip(u64),
    /// Beyond this many events, [`SinkGate::check`](crate::SinkGate::check) fails, and calls are refused.
    Block(u64),
}

/// What a sink is.
pub enum SinkTarget {
    /// A file to which events are appended, a line each.
    File(PathBuf),
    /// A writer that gets a line per event, such as standard output.
    Lines(Box<dyn Write + Send>),
    /// Batches of CloudEvents by POST.
    Http(HttpSink),
    /// Log records over OTLP/HTTP.
    Otlp(HttpSink),
}

/// An address, and what is sent along.
pub struct HttpSink {
    url: Url,
    headers: HeaderMap,
    client: reqwest::Client,
}

impl Sink {
    /// Hands over a batch. It returns when the sink has it.
    pub(crate) async fn send(&mut self, events: &[String]) -> Result<(), String> {
        match &mut self.target {
            SinkTarget::File(path) => {
                append(path, events).map_err(|error| format!("{}: {error}", path.display()))
            }
            SinkTarget::Lines(out) => write_lines(out, events).map_err(|error| error.to_string()),
            SinkTarget::Http(http) => {
                let batch = format!("[{}]", events.join(","));
                http.post(CLOUDEVENTS, batch).await
            }
            SinkTarget::Otlp(http) => {
                let records: Vec<LogRecord> = events.iter().map(|event| record(event)).collect();
                let body = encode_logs(&records).to_string();
                http.post("application/json", body).await
            }
        }
    }
}

fn append(path: &Path, events: &[String]) -> io::Result<()> {
    let mut file = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)?;
    write_lines(&mut file, events)
}

fn write_lines(out: &mut dyn Write, events: &[String]) -> io::Result<()> {
    let mut lines = events.join("\n");
    lines.push('\n');
    out.write_all(lines.as_bytes())?;
    out.flush()
}

impl HttpSink {
    /// An address that gets every event. The TLS of the process must be installed.
    ///
    /// # Errors
    ///
    /// A header cannot be sent, or there is no HTTP client.
    pub fn new(url: Url, headers: Vec<(String, String)>) -> Result<Self, AuditError> {
        let headers = headers.into_iter().map(|(name, value)| {
            let key = HeaderName::from_bytes(name.as_bytes()).ok();
            // The value may be a credential, and is not repeated.
            key.zip(HeaderValue::from_str(&value).ok())
                .ok_or_else(|| AuditError::invalid("header of a sink", format!("`{name}` cannot be sent: expected the name of a header, and a value in one line")))
        });
        let headers = headers.collect::<Result<HeaderMap, _>>()?;
        let client = reqwest::Client::builder()
            .user_agent(concat!("pml/", env!("CARGO_PKG_VERSION")))
            // Headers with credentials go to the address that was named, and nowhere else.
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| AuditError::invalid("sink", error.to_string()))?;
        Ok(Self {
            url,
            headers,
            client,
        })
    }

    async fn post(&self, kind: &str, body: String) -> Result<(), String> {
        let request = self
            .client
            .post(self.url.clone())
            .timeout(TIMEOUT)
            .header(CONTENT_TYPE, kind)
            .headers(self.headers.clone());
        let response = request.body(body).send().await;
        let response = response.map_err(|error| error.without_url().to_string())?;
        match response.status().is_success() {
            true => Ok(()),
            false => Err(format!("it answered {}", response.status())),
        }
    }
}

/// An event as a log record: its text is the body, its type the name of the event.
fn record(event: &str) -> LogRecord {
    let parsed: Value = serde_json::from_str(event).unwrap_or_default();
    let text = |key: &str| parsed[key].as_str().map(str::to_owned);
    let attributes = [
        ("cloudevents.event_id", "id"),
        ("cloudevents.event_source", "source"),
        ("cloudevents.event_type", "type"),
        ("cloudevents.event_subject", "subject"),
        ("pml.run.id", "runid"),
        ("pml.principal", "principal"),
    ];
    LogRecord {
        time: parse_timestamp(parsed["time"].as_str().unwrap_or_default()),
        severity: Severity::Info,
        event: text("type"),
        attributes: attributes
            .into_iter()
            .filter_map(|(name, key)| Some((name.into(), text(key)?.into())))
            .collect(),
        body: event.to_owned(),
        trace: None,
    }
}
