//! The ids of every line, and the lines as OTLP.

use std::fmt::{self, Write as _};
use std::sync::{Arc, OnceLock};

use pml_protocol::TraceContext;
use pml_telemetry::{LogRecord, Severity, Telemetry};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use super::{Format, QueuedEvent};
use crate::log_context::LogContext;

/// Sends lines over OTLP as well, once there is telemetry.
#[derive(Clone, Default)]
pub struct LogExport(Arc<OnceLock<Telemetry>>);

impl LogExport {
    /// From now on, lines are sent.
    pub fn send_to(&self, telemetry: &Telemetry) {
        if telemetry.sends_logs() {
            let _ = self.0.set(telemetry.clone());
        }
    }

    /// The trace of the event that is written, if somebody wants it.
    pub(super) fn trace_of_event(&self) -> Option<TraceContext> {
        self.0.get()?;
        LogContext::current()?.trace().cloned()
    }

    /// Sends a line that is scrubbed.
    pub(super) fn send(&self, event: &QueuedEvent, line: &str) {
        let Some(telemetry) = self.0.get() else {
            return;
        };
        telemetry.log(LogRecord {
            time: event.time,
            severity: match event.level {
                Level::TRACE => Severity::Trace,
                Level::DEBUG => Severity::Debug,
                Level::INFO => Severity::Info,
                Level::WARN => Severity::Warn,
                Level::ERROR => Severity::Error,
            },
            body: line.to_owned(),
            event: None,
            attributes: Vec::new(),
            trace: event.trace.clone(),
        });
    }
}

/// Adds the ids of the current run, session and trace to every line.
pub(super) struct WithIds<F> {
    inner: F,
    format: Format,
}

impl<F> WithIds<F> {
    pub(super) fn new(inner: F, format: Format) -> Self {
        Self { inner, format }
    }
}

impl<S, N, F> FormatEvent<S, N> for WithIds<F>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
    F: FormatEvent<S, N>,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let Some(ids) = LogContext::current() else {
            return self.inner.format_event(context, writer, event);
        };
        let mut line = String::new();
        self.inner
            .format_event(context, Writer::new(&mut line), event)?;
        writer.write_str(&with_ids(&line, &ids, self.format))
    }
}

fn with_ids(line: &str, ids: &LogContext, format: Format) -> String {
    let line = line.trim_end_matches('\n');
    let mut out = match format {
        Format::Text => line.to_owned(),
        Format::Json => line.strip_suffix('}').unwrap_or(line).to_owned(),
    };
    for (name, value) in ids.fields() {
        // An event may name its run itself. Within a text, a quote is escaped.
        let _ = match format {
            Format::Text if line.contains(&format!(" {name}=")) => Ok(()),
            Format::Text => write!(out, " {name}={value}"),
            Format::Json if line.contains(&format!(",\"{name}\":")) => Ok(()),
            // Ids are hexadecimal digits, or of an alphabet without quotes.
            Format::Json => write!(out, ",\"{name}\":\"{value}\""),
        };
    }
    out.push_str(match format {
        Format::Text => "\n",
        Format::Json => "}\n",
    });
    out
}

#[cfg(test)]
mod tests {
    use pml_protocol::RunContext;
    use serde_json::Value;

    use super::*;

    #[test]
    fn a_line_has_the_ids_once_and_stays_json() {
        let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let trace = TraceContext::parse(trace, None, None).unwrap();
        let run = RunContext::local().with_trace(trace);
        let ids = LogContext::of_run(&run);
        let line = "{\"level\":\"INFO\",\"message\":\"ends in }\",\"run\":\"own\"}\n";
        let line = with_ids(line, &ids, Format::Json);
        let json: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(json["message"], "ends in }");
        assert_eq!(json["run"], "own");
        assert_eq!(json["session"], run.session().to_string());
        assert_eq!(json["trace_id"], "0af7651916cd43dd8448eb211c80319c");
        assert_eq!(json["span_id"], "b7ad6b7169203331");
        let text = with_ids("INFO pml: hello\n", &ids, Format::Text);
        let run = format!(" run={} session=", run.id());
        assert!(text.contains(&run) && text.ends_with('\n'), "{text}");
    }
}
