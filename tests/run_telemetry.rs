//! The telemetry of commands: `pml run` and `pml workflow run`.

use std::net::TcpListener;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::gateway::Place;
use crate::support::repository;
use crate::telemetry::collector::{Collector, attribute};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";

/// A place with the server `ctx`, and sections of the configuration.
fn place(pml: Value) -> Place {
    let script = repository().join("tests/telemetry/context_server.py");
    Place::with(&json!({
        "mcpServers": { "ctx": { "command": "python3", "args": ["-u", script] } },
        "pml": pml,
    }))
}

fn output(mut command: Command) -> Output {
    let output = command.output().expect("the binary starts");
    assert!(output.status.success(), "{output:?}");
    output
}

fn metric_names(collector: &Collector) -> Vec<String> {
    let all = collector.at("/v1/metrics");
    let last = all.last().expect("metrics arrived");
    let metrics = &last.body["resourceMetrics"][0]["scopeMetrics"][0]["metrics"];
    let names = metrics.as_array().expect("a list").iter();
    names
        .map(|metric| metric["name"].as_str().expect("a name").to_owned())
        .collect()
}

#[test]
fn a_run_sends_its_trace_metrics_and_log_lines_before_it_exits() {
    let collector = Collector::start();
    let place = place(json!({ "audit": { "path": "audit", "commands": true } }));
    let script = "const seen = await tools.ctx.context({}); \
        return [seen.meta.traceparent, 'jane.doe@acme-corp.com']";
    let mut command = place.command(&["run", "--json", "--scrub", "-e", script]);
    command
        .env(ENDPOINT, collector.url())
        .env("TRACEPARENT", PARENT);
    let printed: Value = serde_json::from_slice(&output(command).stdout).expect("JSON");

    let run = collector.span("pml.run");
    assert_eq!(
        (&run["traceId"], &run["parentSpanId"]),
        (&json!(TRACE), &json!("b7ad6b7169203331"))
    );
    assert_eq!(attribute(&run, "pml.run.calls"), "1");
    let worker = collector.span("pml.wait worker");
    assert_eq!(worker["parentSpanId"], run["spanId"]);
    let call = collector.span("tools/call ctx:context");
    assert_eq!(call["parentSpanId"], run["spanId"]);
    let span = call["spanId"].as_str().expect("an id");
    let traceparent = format!("00-{TRACE}-{span}-01");
    assert_eq!(
        printed["result"][0], traceparent,
        "the server got the span of its call"
    );

    let names = metric_names(&collector);
    for name in [
        "pml.run.duration",
        "pml.calls",
        "mcp.client.operation.duration",
        "pml.redactions",
    ] {
        assert!(names.iter().any(|known| known == name), "{name}: {names:?}");
    }
    let logs = collector.at("/v1/logs");
    let logs: Vec<&Value> = logs
        .iter()
        .flat_map(|one| one.body["resourceLogs"][0]["scopeLogs"][0]["logRecords"].as_array())
        .flatten()
        .collect();
    let ended = logs.iter().find(|record| {
        let body = record["body"]["stringValue"].as_str().unwrap_or_default();
        body.contains("a script ended")
    });
    let ended = ended.unwrap_or_else(|| panic!("{logs:#?}"));
    assert_eq!(ended["traceId"], TRACE);

    // The audit events of the run have the same trace, and the count of what was scrubbed.
    let query = place.run(&["audit", "query", "--trace", TRACE, "--json"]);
    let text = String::from_utf8_lossy(&query.stdout).into_owned();
    let events: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let kinds: Vec<&str> = events
        .iter()
        .filter_map(|event| event["type"].as_str())
        .collect();
    assert_eq!(
        kinds,
        ["pml.call.intent", "pml.call.outcome", "pml.run.ended"]
    );
    let id = attribute(&run, "pml.run.id");
    assert!(
        events.iter().all(|event| event["runid"] == id),
        "{events:#?}"
    );
    assert_eq!(events[1]["traceparent"], traceparent);
    assert_ne!(
        events[2]["data"]["redactions"],
        json!({}),
        "{:#}",
        events[2]
    );
}

#[test]
fn a_run_sends_nothing_unless_a_variable_or_the_file_wants_it() {
    let collector = Collector::start();
    let run = [
        "run",
        "-e",
        "return (await tools.ctx.context({})).meta !== undefined",
    ];
    let with = |telemetry: Value| place(json!({ "telemetry": telemetry }));
    let off = with(json!({ "endpoint": collector.url() }));
    output(off.command(&run));
    let never = with(json!({ "commands": false }));
    let mut command = never.command(&run);
    command.env(ENDPOINT, collector.url());
    output(command);
    assert!(collector.spans().is_empty(), "{:#?}", collector.spans());
    assert!(collector.at("/v1/metrics").is_empty());

    let on = with(json!({ "endpoint": collector.url(), "commands": true }));
    output(on.command(&run));
    collector.span("tools/call ctx:context");
}

#[test]
fn a_workflow_is_a_run_with_a_span_per_call() {
    let collector = Collector::start();
    let place = place(json!({}));
    let plan = json!({ "tasks": [
        { "id": "one", "tool": "ctx:context" },
        { "id": "two", "tool": "ctx:context", "depends_on": ["one"] },
    ] });
    std::fs::write(place.folder().join("plan.json"), plan.to_string()).expect("a plan");
    let mut command = place.command(&["workflow", "run", "plan.json"]);
    command.env(ENDPOINT, collector.url());
    output(command);
    let run = collector.span("pml.run");
    let spans = collector.spans();
    let calls = spans
        .iter()
        .filter(|span| span["name"] == "tools/call ctx:context");
    assert_eq!(calls.clone().count(), 2, "{spans:#?}");
    for call in calls {
        assert_eq!(call["traceId"], run["traceId"], "{spans:#?}");
    }
}

#[test]
fn a_collector_that_does_not_answer_delays_the_exit_by_three_seconds_at_most() {
    // It accepts connections and reads nothing.
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = silent.local_addr().expect("it is bound");
    let place = place(json!({}));
    let mut command = place.command(&["run", "-e", "return 6 * 7"]);
    command.env(ENDPOINT, format!("http://{address}"));
    let began = Instant::now();
    let printed = output(command);
    assert_eq!(printed.stdout, b"42\n");
    let said = String::from_utf8_lossy(&printed.stderr).into_owned();
    assert!(said.contains("telemetry was not sent"), "{said}");
    assert!(
        began.elapsed() < Duration::from_secs(20),
        "{:?}",
        began.elapsed()
    );
    drop(silent);
}

#[test]
fn a_variable_that_names_no_collector_is_a_warning_and_a_wrong_key_an_error() {
    let run = ["run", "-e", "return 1"];
    let place_of = |telemetry: Value| place(json!({ "telemetry": telemetry }));
    let ordinary = place_of(json!({}));
    let mut command = ordinary.command(&run);
    command.env(ENDPOINT, "collector");
    let said = String::from_utf8_lossy(&output(command).stderr).into_owned();
    assert!(
        said.contains("invalid OTEL_EXPORTER_OTLP_ENDPOINT `collector`"),
        "{said}"
    );

    let wrong = place_of(json!({ "commands": true, "endpoint": "collector" })).run(&run);
    assert_eq!(wrong.status.code(), Some(2), "{wrong:?}");
    let said = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(
        said.contains("invalid pml.telemetry.endpoint `collector`"),
        "{said}"
    );
}
