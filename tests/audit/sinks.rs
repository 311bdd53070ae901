//! The sinks of the audit log, through the binary.

use std::fs;
use std::net::TcpListener;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{READ, events, place};
use crate::serve::driver::StdioClient;
use crate::telemetry::collector::Collector;

#[test]
fn sinks_get_every_event_at_least_once_over_failures_and_restarts() {
    let collector = Collector::answering(&[503]);
    let sinks = json!([
        { "type": "http", "url": format!("{}/events", collector.url()), "headers": { "x-key": "k" } },
        { "type": "otlp", "url": format!("{}/v1/logs", collector.url()) },
        { "type": "file", "path": "events.jsonl" },
    ]);
    let (_data, place) = place(json!({ "path": "audit", "sinks": sinks }));
    for _ in 0..2 {
        let mut client = StdioClient::open(&place, &[]);
        client.run(READ);
        client.close();
    }
    // What a sink did not get before its server ended, it gets from the next one.
    StdioClient::open(&place, &[]).close();
    let logged = events(&place, &[]);
    let id = |event: &Value| format!("{} {}", event["source"], event["id"]);
    let expected: Vec<String> = logged
        .iter()
        .filter(|event| event["type"] != "pml.audit.gap")
        .map(id)
        .collect();
    let batches = collector.at("/events");
    assert!(batches[0].head.contains("x-key: k"), "{}", batches[0].head);
    assert!(
        batches[0]
            .head
            .contains("application/cloudevents-batch+json"),
        "{}",
        batches[0].head
    );
    let sent: Vec<String> = batches
        .iter()
        .flat_map(|batch| batch.body.as_array().cloned().unwrap_or_default())
        .map(|event| id(&event))
        .collect();
    let file = fs::read_to_string(place.folder().join("events.jsonl")).unwrap();
    let lines = file.lines().map(|line| serde_json::from_str(line).unwrap());
    let written: Vec<String> = lines.map(|event: Value| id(&event)).collect();
    let records = collector.at("/v1/logs").into_iter().flat_map(|one| {
        let scopes = &one.body["resourceLogs"][0]["scopeLogs"];
        scopes[0]["logRecords"]
            .as_array()
            .cloned()
            .unwrap_or_default()
    });
    let records: Vec<Value> = records.collect();
    assert!(
        records
            .iter()
            .any(|record| record["eventName"] == "pml.call.intent"),
        "{records:#?}"
    );
    let exported: Vec<String> = records
        .iter()
        .map(|record| {
            id(&serde_json::from_str(record["body"]["stringValue"].as_str().unwrap()).unwrap())
        })
        .collect();
    for (name, got) in [("http", sent), ("file", written), ("otlp", exported)] {
        for event in &expected {
            assert!(got.contains(event), "{name} lacks {event}: {got:#?}");
        }
    }
}

#[test]
fn a_sink_on_standard_output_is_refused_where_that_belongs_to_the_client() {
    let (_data, place) = place(json!({ "path": "audit", "sinks": [{ "type": "stdout" }] }));
    let output = place.run(&["serve"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("needs `pml serve --http`"), "{said}");
}

#[test]
fn a_sink_that_is_away_refuses_calls_where_the_operator_wants_that() {
    // The port is free, and nothing listens on it.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/events", listener.local_addr().unwrap());
    drop(listener);
    let with = |on_failure: &str| {
        let sink = json!({ "type": "http", "url": url, "onFailure": on_failure, "spool": 0 });
        place(json!({ "path": "audit", "sinks": [sink] }))
    };
    let (_data, blocking) = with("block");
    let mut client = StdioClient::open(&blocking, &[]);
    let began = Instant::now();
    let refused = loop {
        let outcome = client.run(READ);
        if outcome["ok"] == false {
            break outcome;
        }
        assert!(began.elapsed() < Duration::from_secs(20), "{outcome}");
        std::thread::sleep(Duration::from_millis(200));
    };
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("the call is not sent") && message.contains("does not take audit events"),
        "{message}"
    );
    assert_eq!(
        client.run("return 1")["result"],
        1,
        "a run without calls goes on"
    );
    client.close();
    let last = events(&blocking, &["--type", "pml.run.ended", "--last", "1"]);
    assert_eq!(
        last[0]["data"]["ok"], true,
        "what happens is recorded all the same"
    );

    let (_data, degrading) = with("degrade");
    let mut client = StdioClient::open(&degrading, &[]);
    std::thread::sleep(Duration::from_millis(1500));
    assert_eq!(client.run(READ)["result"], "1.0.0");
    client.close();
}
