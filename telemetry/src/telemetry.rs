//! The telemetry of a process.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pml_protocol::TraceContext;
use tokio::sync::{broadcast, watch};
use tokio::task::JoinHandle;

use crate::anomalies::{Anomalies, WatchedCall};
use crate::anomaly::{Anomaly, AnomalyRules};
use crate::attribute::Attribute;
use crate::batch_queue::BatchQueue;
use crate::call_end::CallEnd;
use crate::conventions::TOOLS_CALL;
use crate::error::TelemetryError;
use crate::exporter::Collector;
use crate::log_record::LogRecord;
use crate::metrics::{Gauge, Metrics};
use crate::settings::ExportSettings;
use crate::span::{EndedSpan, Span, SpanKind};
use crate::{otlp, otlp_metrics};

/// How long the last batches have to be sent.
const FLUSH_TIME: Duration = Duration::from_secs(3);
/// Anomalies that wait for a slow receiver.
const MAX_ANOMALIES: usize = 64;
/// Characters of a value that a span shows.
const MAX_VALUE_CHARS: usize = 4_096;
/// Bytes of a value that is scrubbed to be shown.
const MAX_SCRUBBED_BYTES: usize = 64 * 1024;

/// Replaces private values in a text; `None` if it cannot.
type Scrub = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// What [`Telemetry`] is made of.
pub struct TelemetryOptions {
    /// Where it is sent, and how.
    pub export: ExportSettings,
    /// Attributes of every span.
    pub attributes: Vec<Attribute>,
    /// Tools that metrics name, at most.
    pub max_tools: usize,
    /// Whether spans show the arguments and results of calls, scrubbed.
    pub shows_values: bool,
    /// Replaces private values.
    pub scrub: Scrub,
    /// When a change of a tool is sudden; `None` if tools are not watched.
    pub anomalies: Option<AnomalyRules>,
}

/// Traces, metrics and logs of a process. Cheap to clone; clones are the same.
#[derive(Clone)]
pub struct Telemetry(Arc<Inner>);

struct Inner {
    options: TelemetryOptions,
    metrics: Metrics,
    anomalies: Option<Anomalies>,
    found: broadcast::Sender<Anomaly>,
    spans: Option<Arc<BatchQueue<EndedSpan>>>,
    logs: Option<Arc<BatchQueue<LogRecord>>>,
    closing: watch::Sender<bool>,
    tasks: Mutex<Vec<JoinHandle<()>>>,
}

impl Telemetry {
    /// Starts to send what its settings name an address for.
    ///
    /// # Errors
    ///
    /// There is no HTTP client, which needs the TLS of the process to be installed.
    ///
    /// # Panics
    ///
    /// If called outside a Tokio runtime.
    pub fn start(options: TelemetryOptions) -> Result<Self, TelemetryError> {
        let (closing, is_closing) = watch::channel(false);
        let metrics = Metrics::new(options.max_tools);
        let settings = Arc::new(options.export.clone());
        let resource = otlp::resource(&settings.resource);
        let endpoints = settings.endpoints.clone();
        let mut tasks = Vec::new();
        let (mut spans, mut logs) = (None, None);
        if !endpoints.is_empty() {
            let client = reqwest::Client::builder()
                .user_agent(concat!("pml/", env!("CARGO_PKG_VERSION")))
                // Headers with credentials go to the address that was named, and nowhere else.
                .redirect(reqwest::redirect::Policy::none())
                .build()?;
            let collector =
                |url| Collector::new(client.clone(), url, settings.clone(), is_closing.clone());
            if let Some(url) = endpoints.traces {
                let queue = Arc::new(BatchQueue::new(settings.queue, settings.batch));
                let resource = resource.clone();
                let encode = move |items: &[EndedSpan]| otlp::traces(&resource, items);
                tasks.push(tokio::spawn(
                    collector(url).send_queue(queue.clone(), encode),
                ));
                spans = Some(queue);
            }
            if let Some(url) = endpoints.logs {
                let queue = Arc::new(BatchQueue::new(settings.queue, settings.batch));
                let resource = resource.clone();
                let encode = move |items: &[LogRecord]| otlp::logs(&resource, items);
                tasks.push(tokio::spawn(
                    collector(url).send_queue(queue.clone(), encode),
                ));
                logs = Some(queue);
            }
            if let Some(url) = endpoints.metrics {
                let read = metrics.clone();
                let encode = move || otlp_metrics::metrics(&resource, &read);
                tasks.push(tokio::spawn(collector(url).send_regularly(encode)));
            }
        }
        let telemetry = Self(Arc::new(Inner {
            anomalies: options.anomalies.map(Anomalies::new),
            found: broadcast::Sender::new(MAX_ANOMALIES),
            options,
            metrics,
            spans,
            logs,
            closing,
            tasks: Mutex::new(tasks),
        }));
        telemetry.observe_drops();
        Ok(telemetry)
    }

    /// The metrics.
    pub fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }

    /// A request to a server has ended. Returns the sudden changes that it made visible, which the caller
    /// withdraws tools and principals for.
    pub fn call_ended(&self, end: &CallEnd<'_>) -> Vec<Anomaly> {
        self.metrics().call_ended(end);
        let Some(anomalies) = &self.0.anomalies else {
            return Vec::new();
        };
        // A call that was not sent says nothing of its tool.
        if end.method != TOOLS_CALL || end.attempts == 0 || end.error == Some("cancelled") {
            return Vec::new();
        }
        let call = WatchedCall {
            tool: end.tool,
            principal: end.principal,
            took: end.took,
            is_failed: end.error.is_some(),
        };
        let found = anomalies.call_ended(&call, Instant::now());
        for anomaly in &found {
            self.metrics()
                .anomaly(&anomaly.tool, anomaly.signal.as_str());
            tracing::warn!(tool = %anomaly.tool, "{anomaly}");
            // Without a receiver, the metric and the log have it.
            let _ = self.0.found.send(anomaly.clone());
        }
        found
    }

    /// The sudden changes from now on; `None` if tools are not watched.
    pub fn anomalies(&self) -> Option<broadcast::Receiver<Anomaly>> {
        let is_watching = self.0.anomalies.is_some();
        is_watching.then(|| self.0.found.subscribe())
    }

    /// A span below `parent`, or at the root of a new trace.
    pub fn span(
        &self,
        parent: Option<&TraceContext>,
        name: impl Into<Cow<'static, str>>,
        kind: SpanKind,
    ) -> Span {
        let context = match parent {
            Some(parent) => parent.child(),
            None => TraceContext::root(true),
        };
        let sampler = &self.0.options.export.sampler;
        let is_sampled = sampler.decides(parent, context.trace_id());
        match &self.0.spans {
            Some(queue) if is_sampled => {
                let parent = parent.map(TraceContext::span_id);
                let context = context.sampled(true);
                let mut span = Span::recorded(context, parent, name.into(), kind, queue.clone());
                span.extend(&self.0.options.attributes);
                span
            }
            // Nothing is recorded here: what is called belongs to the span of the caller.
            None if parent.is_some() => Span::unrecorded(parent.cloned().unwrap_or(context)),
            _ => Span::unrecorded(context.sampled(false)),
        }
    }

    /// Whether spans are recorded at all.
    pub fn records_spans(&self) -> bool {
        self.0.spans.is_some()
    }

    /// The trace that a caller named, with what of it is passed on.
    pub fn incoming(
        &self,
        parent: &str,
        state: Option<&str>,
        baggage: Option<&str>,
    ) -> Option<TraceContext> {
        let export = &self.0.options.export;
        if !export.passes_trace {
            return None;
        }
        let baggage = baggage.filter(|_| export.passes_baggage);
        // Baggage goes to servers: with a private value in it, it stays here.
        let baggage = baggage
            .filter(|baggage| (self.0.options.scrub)(baggage).is_some_and(|text| text == *baggage));
        TraceContext::parse(parent, state, baggage)
    }

    /// A value as a span may show it: scrubbed and cut; `None` unless the operator wants values.
    pub fn shown(&self, value: &str) -> Option<String> {
        if !self.0.options.shows_values {
            return None;
        }
        if value.len() > MAX_SCRUBBED_BYTES {
            return Some(format!("({} bytes)", value.len()));
        }
        let mut scrubbed = (self.0.options.scrub)(value)?;
        if let Some((end, _)) = scrubbed.char_indices().nth(MAX_VALUE_CHARS) {
            scrubbed.truncate(end);
            scrubbed.push('…');
        }
        Some(scrubbed)
    }

    /// Sends a line of a log, which must be scrubbed.
    pub fn log(&self, record: LogRecord) {
        if let Some(logs) = &self.0.logs {
            logs.push(record);
        }
    }

    /// Whether lines of logs are sent.
    pub fn sends_logs(&self) -> bool {
        self.0.logs.is_some()
    }

    /// Sends what is left, for at most 3 seconds. Returns whether all spans and log records were taken.
    pub async fn shutdown(&self) -> bool {
        self.0.closing.send_replace(true);
        let tasks = {
            let mut tasks = self.0.tasks.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *tasks)
        };
        let all = async {
            for task in tasks {
                // A panic is reported by the panic hook.
                let _ = task.await;
            }
        };
        let is_in_time = tokio::time::timeout(FLUSH_TIME, all).await.is_ok();
        let spans = self.0.spans.as_ref().map_or(0, |queue| queue.dropped());
        let logs = self.0.logs.as_ref().map_or(0, |queue| queue.dropped());
        is_in_time && spans + logs == 0
    }

    /// Makes what was not sent a metric.
    fn observe_drops(&self) {
        let (spans, logs) = (self.0.spans.clone(), self.0.logs.clone());
        if spans.is_none() && logs.is_none() {
            return;
        }
        self.metrics().observe(move || {
            let gauge = |what: &str, dropped: u64| Gauge {
                name: "pml.telemetry.dropped",
                help: "Spans and log records that were not sent.",
                is_counter: true,
                labels: vec![("signal", what.to_owned())],
                value: dropped as f64,
            };
            let spans = spans.as_ref().map(|queue| gauge("spans", queue.dropped()));
            let logs = logs.as_ref().map(|queue| gauge("logs", queue.dropped()));
            spans.into_iter().chain(logs).collect()
        });
    }
}
