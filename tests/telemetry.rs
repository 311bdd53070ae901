//! Traces, metrics and logs of `pml serve`, as a collector and Prometheus get them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::gateway::Place;
use crate::gateway::installed::metrics_parser;
use crate::serve::driver::{HttpServer, StdioClient, envelope};
use crate::support::repository;
use collector::{Collector, attribute};

pub mod collector;

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

fn context_script() -> String {
    let script = repository().join("tests/telemetry/context_server.py");
    script.display().to_string()
}

/// A place with the server `ctx`, whose telemetry goes to a collector.
fn place(telemetry: Value, extra: Value) -> Place {
    let mut pml = json!({ "telemetry": telemetry, "audit": { "enabled": false } });
    for (name, section) in extra.as_object().cloned().unwrap_or_default() {
        pml[name] = section;
    }
    Place::with(&json!({
        "mcpServers": { "ctx": { "command": "python3", "args": ["-u", context_script()] } },
        "pml": pml,
    }))
}

fn to(collector: &Collector) -> Value {
    json!({ "endpoint": collector.url(), "attributes": { "deployment.environment.name": "test" } })
}

fn execute(client: &mut StdioClient, code: &str, meta: Value) -> Value {
    let params = json!({ "name": "execute_code", "arguments": { "code": code }, "_meta": meta });
    client.ask("tools/call", params)["result"].clone()
}

/// A server over HTTP that ends with the test.
struct HttpContextServer(Child, u16);

impl HttpContextServer {
    fn start() -> Self {
        let mut child = Command::new("python3")
            .args(["-u", &context_script(), "http"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("Python starts");
        let mut port = String::new();
        let output = child.stdout.take().expect("it is a pipe");
        BufReader::new(output)
            .read_line(&mut port)
            .expect("Python writes");
        Self(child, port.trim().parse().expect("a port"))
    }
}

impl Drop for HttpContextServer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_run_is_a_span_of_the_clients_trace_with_a_child_per_call() {
    let collector = Collector::start();
    let place = place(to(&collector), json!({}));
    let mut client = StdioClient::open(&place, &[]);
    let code = "const [a] = await Promise.all([tools.ctx.context({}), tools.ctx.fails({}).catch(() => 0)]); \
                return a.meta";
    let meta = json!({ "traceparent": PARENT, "tracestate": "vendor=1", "baggage": "team=blue" });
    let result = execute(&mut client, code, meta);
    let seen = envelope(&result)["result"].clone();
    client.close();

    let operation = collector.span("tools/call execute_code");
    assert_eq!(operation["traceId"], TRACE);
    assert_eq!(operation["parentSpanId"], "b7ad6b7169203331");
    assert_eq!(
        (&operation["kind"], &operation["traceState"]),
        (&json!(2), &json!("vendor=1"))
    );
    for (name, value) in [
        ("mcp.method.name", "tools/call"),
        ("gen_ai.operation.name", "execute_tool"),
        ("gen_ai.tool.name", "execute_code"),
        ("network.transport", "pipe"),
        ("mcp.protocol.version", "2025-11-25"),
        ("deployment.environment.name", "test"),
    ] {
        assert_eq!(attribute(&operation, name), value, "{name}: {operation:#}");
    }
    let run = collector.span("pml.run");
    assert_eq!(run["parentSpanId"], operation["spanId"]);
    assert_eq!(
        (&run["kind"], attribute(&run, "pml.run.calls")),
        (&json!(1), json!("2"))
    );
    let worker = collector.span("pml.wait worker");
    assert_eq!(worker["parentSpanId"], run["spanId"]);
    let call = collector.span("tools/call ctx:context");
    assert_eq!(call["parentSpanId"], run["spanId"]);
    assert_eq!(
        (&call["kind"], &call["traceId"]),
        (&json!(3), &json!(TRACE))
    );
    assert_eq!(attribute(&call, "gen_ai.tool.name"), "ctx:context");
    assert_eq!(attribute(&call, "error.type"), Value::Null);
    let failed = collector.span("tools/call ctx:fails");
    assert_eq!(attribute(&failed, "error.type"), "tool_error");
    assert_eq!(failed["status"]["code"], 2);
    // No argument and no result is sent unless the operator wants them.
    assert_eq!(attribute(&call, "gen_ai.tool.call.result"), Value::Null);

    // The server got the span of its call, and the client that of its request.
    let span = call["spanId"].as_str().unwrap();
    assert_eq!(seen["traceparent"], format!("00-{TRACE}-{span}-01"));
    assert_eq!(
        (&seen["tracestate"], &seen["baggage"]),
        (&json!("vendor=1"), &json!("team=blue"))
    );
    let span = operation["spanId"].as_str().unwrap();
    assert_eq!(
        result["_meta"]["traceparent"],
        format!("00-{TRACE}-{span}-01")
    );

    let resource = &collector.at("/v1/traces")[0].body["resourceSpans"][0]["resource"];
    assert_eq!(attribute(resource, "service.name"), "pml");
    let durations = metric(&collector, "mcp.client.operation.duration");
    assert_eq!(durations["unit"], "s");
    let points = durations["histogram"]["dataPoints"].as_array().unwrap();
    assert_eq!(points.len(), 2, "{durations:#}");
    assert_eq!(points[0]["count"], "1");
    metric(&collector, "mcp.server.operation.duration");
}

/// The one metric with this name, of the last message.
fn metric(collector: &Collector, name: &str) -> Value {
    let last = collector.at("/v1/metrics").pop().expect("metrics arrived");
    let all = last.body["resourceMetrics"][0]["scopeMetrics"][0]["metrics"].clone();
    let all = all.as_array().cloned().unwrap_or_default();
    let found = all.iter().find(|metric| metric["name"] == name);
    found
        .unwrap_or_else(|| panic!("no {name}: {all:#?}"))
        .clone()
}

#[test]
fn the_context_goes_in_headers_too_and_private_baggage_stays_here() {
    let collector = Collector::start();
    let upstream = HttpContextServer::start();
    let place = Place::with(&json!({
        "mcpServers": { "ctx": { "url": format!("http://127.0.0.1:{}/mcp", upstream.1) } },
        "pml": { "telemetry": to(&collector), "audit": { "enabled": false } },
    }));
    let server = HttpServer::open(&place, &[]);
    let call = |baggage: &str| {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "call_tool", "arguments": { "tool": "ctx:context", "args": {} },
            "_meta": { "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": {} },
        } });
        let headers = [
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", "tools/call"),
            ("Mcp-Name", "call_tool"),
            ("traceparent", PARENT),
            ("baggage", baggage),
        ];
        let (status, head, body) = server.post(&headers, &body.to_string());
        assert_eq!(status, 200, "{head}\n{body}");
        let body = body
            .lines()
            .find_map(|line| line.strip_prefix("data: "))
            .unwrap_or(&body);
        let reply: Value =
            serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {body}"));
        let text = reply["result"]["content"][0]["text"].as_str().unwrap();
        serde_json::from_str::<Value>(text).unwrap_or_else(|error| panic!("{error}: {text}"))
    };
    let seen = call("team=blue");
    let parent = seen["headers"]["traceparent"].as_str().unwrap();
    assert!(parent.starts_with(&format!("00-{TRACE}-")), "{seen:#}");
    assert_eq!(seen["meta"]["traceparent"], parent);
    assert_eq!(seen["headers"]["baggage"], "team=blue");
    let seen = call("user=jane.doe@acme-corp.com");
    assert_eq!(seen["headers"].get("baggage"), None, "{seen:#}");
    assert_eq!(seen["meta"].get("baggage"), None, "{seen:#}");
}

#[test]
fn an_unsampled_trace_is_passed_on_and_not_recorded() {
    let collector = Collector::start();
    let place = place(to(&collector), json!({}));
    let mut client = StdioClient::open(&place, &[]);
    let unsampled = PARENT.replace("-01", "-00");
    let code = "return (await tools.ctx.context({})).meta.traceparent";
    let result = execute(&mut client, code, json!({ "traceparent": unsampled }));
    let seen = envelope(&result)["result"].as_str().unwrap().to_owned();
    assert!(
        seen.starts_with(&format!("00-{TRACE}-")) && seen.ends_with("-00"),
        "{seen}"
    );
    client.close();
    assert_eq!(collector.spans(), Vec::<Value>::new());
}

#[test]
fn waits_for_slots_and_people_are_spans_and_values_are_scrubbed() {
    let collector = Collector::start();
    let mut telemetry = to(&collector);
    telemetry["values"] = true.into();
    let policy = json!({ "policy": { "ask": ["ctx:fails"] }, "limits": { "concurrentCalls": 1 } });
    let place = place(telemetry, policy);
    let mut client = StdioClient::open_with(&place, &[], json!({ "elicitation": {} }));
    let code = "await Promise.all([tools.ctx.slow({ seconds: 0.2, mail: 'jane.doe@acme-corp.com' }), tools.ctx.slow({ seconds: 0.2 })]); \
                await tools.ctx.fails({}).catch(() => 0); return 1";
    let params = json!({ "name": "execute_code", "arguments": { "code": code } });
    let id = client.request("tools/call", params);
    let question = loop {
        let message = client.receive();
        if message["method"] == "elicitation/create" {
            break message;
        }
    };
    std::thread::sleep(Duration::from_millis(50));
    let accept = json!({ "action": "accept", "content": { "decision": "Deny" } });
    client.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": accept }));
    client.answer(id);
    client.close();
    let slots: Vec<Value> = named(&collector, "pml.wait slot");
    assert_eq!(slots.len(), 1, "one of the two waited: {slots:#?}");
    let calls = named(&collector, "tools/call ctx:slow");
    assert!(
        calls
            .iter()
            .any(|call| call["spanId"] == slots[0]["parentSpanId"]),
        "{slots:#?}"
    );
    let person = collector.span("pml.wait person");
    assert_eq!(
        person["parentSpanId"],
        collector.span("tools/call ctx:fails")["spanId"]
    );
    let shown = calls
        .iter()
        .map(|call| attribute(call, "gen_ai.tool.call.arguments").to_string());
    let shown: String = shown.collect();
    assert!(
        shown.contains("seconds") && shown.contains("EMAIL"),
        "{shown}"
    );
    assert!(!format!("{:?}", collector.spans()).contains("jane.doe"));
}

fn named(collector: &Collector, name: &str) -> Vec<Value> {
    let all = collector.spans().into_iter();
    all.filter(|span| span["name"] == name).collect()
}

#[test]
fn a_collector_that_is_busy_or_away_costs_no_call() {
    let collector = Collector::answering(&[503, 429]);
    let place = place(to(&collector), json!({}));
    let mut command = place.command(&["serve", "--log-level", "warn"]);
    command.env("OTEL_BSP_SCHEDULE_DELAY", "20");
    let mut client = StdioClient::start(command);
    client.run("return 1");
    let began = Instant::now();
    while collector.spans().is_empty() && began.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(50));
    }
    collector.span("pml.run");
    client.close();

    let away = json!({ "endpoint": "http://127.0.0.1:9" });
    let place = self::place(away, json!({}));
    let mut client = StdioClient::open(&place, &[]);
    assert_eq!(client.run("return 1")["result"], 1);
    let began = Instant::now();
    let (code, _, logged) = client.close();
    assert_eq!(code, Some(0), "{logged}");
    assert!(
        began.elapsed() < Duration::from_secs(6),
        "{:?}",
        began.elapsed()
    );
    assert!(
        logged.contains("the collector does not take telemetry"),
        "{logged}"
    );
}

#[test]
fn log_lines_name_run_session_and_trace_and_are_sent_scrubbed() {
    let collector = Collector::start();
    let place = place(to(&collector), json!({}));
    let mut client = StdioClient::start(place.command(&["serve", "--log-format", "json"]));
    let code = "await tools.ctx.context({}); return 1";
    execute(&mut client, code, json!({ "traceparent": PARENT }));
    let params = json!({ "name": "call_tool", "arguments": { "tool": "ctx:jane.doe@acme-corp.com", "args": {} } });
    client.ask("tools/call", params);
    let (_, _, logged) = client.close();
    let lines = logged
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"));
    let lines: Vec<Value> = lines.collect();
    let ended = lines
        .iter()
        .find(|line| line["message"] == "a script ended");
    let ended = ended.unwrap_or_else(|| panic!("{logged}"));
    assert_eq!(ended["trace_id"], TRACE, "{ended}");
    assert_eq!(ended["session"].as_str().map(str::len), Some(32), "{ended}");
    assert_eq!(
        ended["span_id"],
        collector.span("tools/call execute_code")["spanId"]
    );
    assert_eq!(
        ended["run"],
        attribute(&collector.span("pml.run"), "pml.run.id")
    );
    assert!(!logged.contains("jane.doe"), "{logged}");

    let all = collector.at("/v1/logs");
    let records = all.iter().flat_map(|one| {
        let scopes = &one.body["resourceLogs"][0]["scopeLogs"];
        scopes[0]["logRecords"]
            .as_array()
            .cloned()
            .unwrap_or_default()
    });
    let records: Vec<Value> = records.collect();
    let sent = records.iter().find(|record| {
        record["body"]["stringValue"]
            .as_str()
            .unwrap()
            .contains("a script ended")
    });
    let sent = sent.unwrap_or_else(|| panic!("{records:#?}"));
    assert_eq!(
        (&sent["traceId"], &sent["severityNumber"]),
        (&json!(TRACE), &json!(9))
    );
    assert!(!format!("{records:?}").contains("jane.doe"), "{records:#?}");
}

/// A page of a server: status and body.
pub fn get(address: &str, path: &str, headers: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).expect("the server listens");
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{headers}\r\n"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").expect("a response");
    let status = head
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok());
    (status.unwrap_or(0), body.to_owned())
}

#[test]
fn prometheus_reads_the_metrics_and_probes_need_no_token() {
    let place = place(json!({}), json!({}));
    let flags = ["serve", "--http", "127.0.0.1:0", "--log-format", "json"];
    let server = HttpServer::start(place.command(&flags));
    let token = server.token.clone().expect("a token was made");
    let bearer = format!("Authorization: Bearer {token}\r\n");
    let call = |code: &str| {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "execute_code", "arguments": { "code": code },
            "_meta": { "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": {} },
        } });
        let authorization = format!("Bearer {token}");
        let headers = [
            ("Authorization", authorization.as_str()),
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", "tools/call"),
            ("Mcp-Name", "execute_code"),
        ];
        let (status, head, body) = server.post(&headers, &body.to_string());
        assert_eq!(status, 200, "{head}\n{body}");
    };
    call(
        "await tools.ctx.context({}); await tools.ctx.fails({}).catch(() => 0); return 'jane.doe@acme-corp.com'",
    );
    let authority = server.authority();
    for probe in ["/healthz", "/readyz", "/startupz"] {
        assert_eq!(get(authority, probe, "").0, 200, "{probe}");
    }
    assert_eq!(get(authority, "/metrics", "").0, 401);
    let (status, text) = get(authority, "/metrics", &bearer);
    assert_eq!(status, 200, "{text}");
    let families = parsed(&text);
    let value = |name: &str, labels: &[(&str, &str)]| {
        let samples = families.as_array().unwrap().iter();
        let found = samples.clone().find(|sample| {
            let has = |(key, value): &(&str, &str)| sample["labels"][key] == *value;
            sample["name"] == name && labels.iter().all(has)
        });
        found.map(|sample| sample["value"].as_f64().unwrap())
    };
    let tool = [
        ("gen_ai_tool_name", "ctx:context"),
        ("network_transport", "pipe"),
    ];
    assert_eq!(
        value("mcp_client_operation_duration_seconds_count", &tool),
        Some(1.0),
        "{text}"
    );
    let own = [
        ("gen_ai_tool_name", "execute_code"),
        ("network_transport", "tcp"),
    ];
    assert_eq!(
        value("mcp_server_operation_duration_seconds_count", &own),
        Some(1.0)
    );
    let failed = [("tool", "ctx:fails"), ("outcome", "tool_error")];
    assert_eq!(value("pml_calls_total", &failed), Some(1.0), "{text}");
    assert_eq!(
        value("pml_redactions_total", &[("kind", "EMAIL")]),
        Some(1.0),
        "{text}"
    );
    assert_eq!(value("pml_breaker_state", &[("server", "ctx")]), Some(0.0));
    assert_eq!(value("pml_server_up", &[("server", "ctx")]), Some(1.0));
    assert_eq!(
        value("pml_wait_duration_seconds_count", &[("for", "worker")]),
        Some(1.0)
    );
    assert!(
        value("pml_workers", &[("state", "idle")]).is_some(),
        "{text}"
    );
}

/// The samples of the text, as the parser of Prometheus' own client reads them.
fn parsed(text: &str) -> Value {
    let program = "import json, sys\n\
        from prometheus_client.parser import text_string_to_metric_families as parse\n\
        samples = [s for family in parse(sys.stdin.read()) for s in family.samples]\n\
        print(json.dumps([{'name': s.name, 'labels': s.labels, 'value': s.value} for s in samples if s.value == s.value]))";
    let mut child = Command::new(metrics_parser().join("venv/bin/python"))
        .args(["-c", program])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("Python starts");
    let mut input = child.stdin.take().expect("it is a pipe");
    input.write_all(text.as_bytes()).expect("Python reads");
    drop(input);
    let output = child.wait_with_output().expect("Python ends");
    assert!(output.status.success(), "{text}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn metrics_have_an_address_of_their_own_over_stdio() {
    let place = place(json!({}), json!({}));
    let mut command = place.command(&["serve", "--metrics", "127.0.0.1:0", "--log-format", "json"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut logged = BufReader::new(child.stderr.take().expect("it is a pipe"));
    let address = loop {
        let mut line = String::new();
        assert!(logged.read_line(&mut line).unwrap() > 0, "it ended");
        let line: Value = serde_json::from_str(&line).expect("JSON");
        if let Some(address) = line["address"].as_str() {
            break address.to_owned();
        }
    };
    let authority = address
        .trim_start_matches("http://")
        .trim_end_matches("/metrics")
        .to_owned();
    let (status, text) = get(&authority, "/metrics", "");
    assert_eq!(status, 200, "{text}");
    assert!(text.contains("pml_server_up{server=\"ctx\"}"), "{text}");
    parsed(&text);
    assert_eq!(get(&authority, "/mcp", "").0, 404);
    drop(child.stdin.take());
    assert!(child.wait().expect("it ends").success());
}

/// What `pml serve` says about a configuration that it does not start with.
fn refusal(pml: Value) -> String {
    let place = Place::with(&json!({ "mcpServers": {}, "pml": pml }));
    let output = place.run(&["serve"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    said
}

#[test]
fn a_server_with_a_wrong_configuration_does_not_start_and_says_why() {
    let telemetry = |telemetry: Value| json!({ "telemetry": telemetry });
    let sink = |sink: Value| json!({ "audit": { "path": "audit", "sinks": [sink] } });
    for (pml, expected) in [
        (
            telemetry(json!({ "endpoint": "collector" })),
            "invalid pml.telemetry.endpoint `collector`",
        ),
        (
            telemetry(json!({ "endpoint": "http://c:4318/v1/traces" })),
            "are added to it",
        ),
        (
            telemetry(json!({ "sampling": 2 })),
            "invalid pml.telemetry.sampling `2`",
        ),
        (
            telemetry(json!({ "headers": { "a b": "c" } })),
            "invalid pml.telemetry.headers `a b`",
        ),
        (
            telemetry(json!({ "anomalies": { "window": "0s" } })),
            "such as 1m",
        ),
        (
            telemetry(json!({ "anomalies": { "suspend": "tool" } })),
            "add \"action\"",
        ),
        (
            telemetry(json!({ "endpont": "x" })),
            "unknown key `pml.telemetry.endpont`: did you mean `endpoint`?",
        ),
        (
            sink(json!({ "type": "http" })),
            "the sink `http` (number 1 of `pml.audit.sinks`): it needs a `url`",
        ),
        (
            sink(json!({ "type": "file", "path": "no/such/file" })),
            "its folder must exist",
        ),
    ] {
        let said = refusal(pml);
        assert!(said.contains(expected), "{expected}\n{said}");
        assert!(said.trim_end().lines().count() <= 3, "{said}");
    }
}
