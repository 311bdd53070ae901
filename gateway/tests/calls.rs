//! Calls that go well, and calls that are refused before they are sent.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use pml_gateway::config::Config;
use pml_gateway::{CallErrorKind, Gateway, RunLimits};
use serde_json::json;

use crate::processes::eventually;
use crate::support::{One, odd};

#[tokio::test]
async fn a_tool_is_called_and_its_value_comes_back() {
    let one = One::odd(&[]);
    assert!(
        one.gateway.tools().is_empty(),
        "a server starts at its first use"
    );
    assert_eq!(
        one.call("odd:echo", json!({ "text": "hi" })).await.unwrap(),
        json!("hi")
    );
    assert_eq!(
        one.call("odd:echo", json!({ "text": "{\"a\": 1}" }))
            .await
            .unwrap(),
        json!({ "a": 1 })
    );
    assert!(
        one.gateway
            .tools()
            .iter()
            .any(|tool| tool.id.as_str() == "odd:echo")
    );
    one.gateway.shutdown().await;
}

#[tokio::test]
async fn an_unknown_tool_is_an_error_with_the_nearest_ids() {
    let one = One::odd(&[]);
    let error = one.call("odd:ecko", json!({})).await.unwrap_err();
    assert_eq!(error.kind, CallErrorKind::Unknown);
    assert!(error.message.contains("`odd:echo`"), "{error}");
    assert_eq!(error.message.matches("`odd:").count(), 4, "{error}");
    let error = one.call("od:echo", json!({})).await.unwrap_err();
    assert!(error.message.contains("`odd:echo`"), "{error}");
    let error = one.call("echo", json!({})).await.unwrap_err();
    assert_eq!(error.kind, CallErrorKind::Unknown);
}

#[tokio::test]
async fn wrong_arguments_are_refused_with_their_path_and_not_sent() {
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("journal");
    let one = One::odd(&["--journal", journal.to_str().unwrap()]);
    let error = one.call("odd:note", json!({ "key": 7 })).await.unwrap_err();
    assert_eq!(error.kind, CallErrorKind::Arguments);
    assert!(
        error
            .message
            .contains("arguments.key: 7 is not of type \"string\""),
        "{error}"
    );
    let error = one.call("odd:note", json!([1])).await.unwrap_err();
    assert_eq!(error.kind, CallErrorKind::Arguments);
    assert!(!journal.exists(), "nothing may be sent");
}

#[tokio::test]
async fn an_error_of_the_tool_is_its_own_and_not_the_servers() {
    let one = One::odd(&[]);
    for _ in 0..30 {
        let error = one.call("odd:fails", json!({})).await.unwrap_err();
        assert_eq!(
            (error.kind, error.message.as_str()),
            (CallErrorKind::Tool, "the disk is full")
        );
    }
    let error = one.call("odd:refuses", json!({})).await.unwrap_err();
    assert_eq!(
        (error.kind, error.message.as_str()),
        (CallErrorKind::Tool, "not today")
    );
    assert!(
        one.call("odd:echo", json!({ "text": "x" })).await.is_ok(),
        "the breaker must stay closed"
    );
}

#[tokio::test]
async fn tools_without_input_or_schema_are_called_with_nothing() {
    let one = One::odd(&["--tools", "30"]);
    assert_eq!(
        one.call("odd:bare_3", json!(null)).await.unwrap(),
        json!("bare_3")
    );
    assert_eq!(
        one.call("odd:bare_29", json!({})).await.unwrap(),
        json!("bare_29")
    );
    let pages = one.gateway.tools();
    assert_eq!(
        pages
            .iter()
            .filter(|tool| tool.id.tool().starts_with("bare_"))
            .count(),
        30
    );
}

#[tokio::test]
async fn a_content_type_of_tomorrow_survives() {
    let one = One::odd(&[]);
    let value = one.call("odd:hologram", json!({})).await.unwrap();
    assert_eq!(value, json!([{ "type": "hologram", "depth": 3 }]));
}

#[tokio::test]
async fn new_tools_are_followed_at_once() {
    let one = One::odd(&[]);
    let mut changes = one.gateway.changes();
    assert_eq!(
        one.call("odd:grow", json!({})).await.unwrap(),
        json!("grown_0")
    );
    assert_eq!(
        one.call("odd:grown_0", json!({})).await.unwrap(),
        json!("grown_0")
    );
    let seen = *changes.borrow_and_update();
    assert!(seen >= 2, "{seen}");
    assert!(one.gateway.describe("odd:grown_0").await.is_ok());
}

#[tokio::test]
async fn progress_is_reported_and_extends_nothing() {
    let server = odd("odd", &[]);
    let gateway = Gateway::open(Config::of([server])).unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sink = seen.clone();
    let scope = gateway.run_with_progress(RunLimits::default(), move |progress| {
        sink.lock()
            .unwrap()
            .push((progress.tool.to_string(), progress.done));
    });
    gateway
        .call(&scope, "odd:progress", json!({}))
        .await
        .unwrap();
    assert!(eventually(async || seen.lock().unwrap().len() == 3).await);
    assert_eq!(seen.lock().unwrap()[2], ("odd:progress".to_owned(), 2.0));

    let limits = RunLimits {
        tool_timeout: Some(Duration::from_millis(100)),
        ..RunLimits::default()
    };
    let error = gateway
        .call(&gateway.run(limits), "odd:progress", json!({}))
        .await
        .unwrap_err();
    assert_eq!(error.kind, CallErrorKind::Timeout);
}

#[tokio::test]
async fn the_end_of_a_run_cancels_its_calls_at_the_server() {
    let one = One::odd(&[]);
    one.call("odd:echo", json!({ "text": "up" })).await.unwrap();
    let gateway = one.gateway.clone();
    let run = gateway.run(RunLimits::default());
    let ending = run.clone();
    let call = tokio::spawn({
        let gateway = gateway.clone();
        async move {
            gateway
                .call(&run, "odd:sleep", json!({ "ms": 60_000 }))
                .await
        }
    });
    tokio::time::sleep(Duration::from_millis(200)).await;
    ending.end();
    assert_eq!(
        call.await.unwrap().unwrap_err().kind,
        CallErrorKind::Cancelled
    );
    assert!(
        eventually(async || {
            let reasons = one.call("odd:cancelled", json!({})).await.unwrap();
            reasons.as_array().is_some_and(|reasons| reasons.len() == 1)
        })
        .await
    );
    let error = gateway
        .call(&ending, "odd:echo", json!({ "text": "late" }))
        .await
        .unwrap_err();
    assert_eq!(error.kind, CallErrorKind::Cancelled);
}

#[tokio::test]
async fn cached_answers_do_not_outlive_a_change_of_tools_or_a_restart() {
    let text = format!(
        r#"{{ "mcpServers": {{ "odd": {{ "command": "python3", "args": ["{}/tests/servers/odd.py"] }} }},
             "pml": {{ "policy": {{ "cache": {{ "tools": {{ "odd:echo": "1h" }} }} }} }} }}"#,
        env!("CARGO_MANIFEST_DIR")
    );
    let config = Config::parse("m.json".as_ref(), &text, &|_| None).unwrap();
    let gateway = Gateway::open(config).unwrap();
    let scope = gateway.run(RunLimits::default());
    let is_cached = async || {
        let arguments = json!({ "text": "hi" });
        let answer = gateway.call(&scope, "odd:echo", arguments).await.unwrap();
        answer.cached
    };
    assert!(!is_cached().await);
    assert!(is_cached().await);

    gateway.call(&scope, "odd:grow", json!({})).await.unwrap();
    assert!(!is_cached().await, "the tools changed");
    assert!(is_cached().await);

    let error = gateway.call(&scope, "odd:exit", json!({})).await;
    assert!(error.is_err());
    // Starts the server again.
    gateway
        .call(&scope, "odd:listings", json!({}))
        .await
        .unwrap();
    assert!(!is_cached().await, "the server was restarted");
    gateway.shutdown().await;
}

#[tokio::test]
async fn policy_and_the_servers_own_filter_hide_tools_and_refuse_calls() {
    let text = format!(
        r#"{{ "mcpServers": {{ "odd": {{ "command": "python3", "args": ["{}/tests/servers/odd.py"],
               "tools": {{ "deny": ["big"] }} }} }},
             "pml": {{ "policy": {{ "deny": ["*:exit"], "budget": {{ "calls": 3 }} }} }} }}"#,
        env!("CARGO_MANIFEST_DIR")
    );
    let config = Config::parse("m.json".as_ref(), &text, &|_| None).unwrap();
    let gateway = Gateway::open(config).unwrap();
    let listing = gateway.list(None, Duration::from_secs(20)).await;
    let ids: Vec<_> = listing.tools.iter().map(|tool| tool.id.as_str()).collect();
    assert!(
        ids.contains(&"odd:echo") && !ids.contains(&"odd:exit") && !ids.contains(&"odd:big"),
        "{ids:?}"
    );

    let scope = gateway.run(RunLimits::default());
    let kind = async |id: &str| {
        gateway
            .call(&scope, id, json!({ "text": "x" }))
            .await
            .map_err(|error| error.kind)
            .err()
    };
    assert_eq!(kind("odd:exit").await, Some(CallErrorKind::Denied));
    assert_eq!(kind("odd:big").await, Some(CallErrorKind::Unknown));
    assert_eq!(kind("odd:echo").await, None);
    assert_eq!(kind("odd:echo").await, None);
    assert_eq!(kind("odd:echo").await, Some(CallErrorKind::Calls));
}

#[tokio::test]
async fn a_server_does_not_see_our_secrets() {
    let one = One::odd(&[]);
    // Cargo sets this for the test process; it stands for any variable that is not on the list.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    let environment = one.call("odd:environment", json!({})).await.unwrap();
    assert!(environment.get("PATH").is_some());
    assert!(environment.get("CARGO_MANIFEST_DIR").is_none());
}
