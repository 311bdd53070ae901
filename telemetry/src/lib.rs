//! Traces, metrics and logs of what `pml` does, with the semantic conventions of OpenTelemetry for MCP
//! and GenAI.
//!
//! [`Telemetry`] makes [`Span`]s, counts in [`Metrics`] and sends both over OTLP/HTTP as JSON, in the
//! background. Nothing here waits: a queue that is full drops and counts. [`Metrics`] are also text of
//! Prometheus.
//!
//! ```
//! use pml_telemetry::{CallEnd, Metrics};
//!
//! let metrics = Metrics::new(200);
//! metrics.call_ended(&CallEnd::new("tools/call", "fs:read_file"));
//! assert!(metrics.prometheus().contains("pml_calls_total{"));
//! ```

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod anomalies;
mod anomaly;
mod attribute;
mod batch_queue;
mod call_end;
pub mod conventions;
mod error;
mod exporter;
mod families;
mod log_record;
mod metrics;
mod otlp;
mod otlp_metrics;
mod prometheus;
mod sampler;
mod series;
mod settings;
mod span;
mod telemetry;

pub use anomaly::{Anomaly, AnomalyRules, Caller, Signal, Suspends};
pub use attribute::{Attribute, AttributeValue};
pub use call_end::{CallEnd, Speculated};
pub use error::TelemetryError;
pub use log_record::{LogRecord, Severity};
pub use metrics::{Gauge, Metrics};
pub use otlp::encode_logs;
pub use sampler::Sampler;
pub use settings::{Endpoints, ExportSettings, FileSettings};
pub use span::{Span, SpanKind};
pub use telemetry::{Telemetry, TelemetryOptions};
