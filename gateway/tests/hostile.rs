//! Servers that attack the gateway: with schemas, listings, results and HTTP bodies.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use pml_gateway::config::{Endpoint, Remote, ServerConfig};
use pml_gateway::{CallErrorKind, Listing};
use serde_json::{Value, json};

use crate::support::{One, PythonHttp};

fn hostile(options: &[&str]) -> ServerConfig {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/servers/hostile.py");
    let mut args = vec!["-u".to_owned(), script.display().to_string()];
    args.extend(options.iter().map(|option| (*option).to_owned()));
    ServerConfig::stdio("evil", "python3", args)
}

async fn listing(one: &One) -> Listing {
    one.gateway.list(None, Duration::from_secs(30)).await
}

/// Values that make a validator work: deep, wide and long.
fn instances() -> Vec<Value> {
    let deep = |leaf: Value| (0..60).fold(leaf, |inner, _| json!({ "a": inner, "b": {} }));
    let items = (0..60).fold(json!([]), |inner, _| json!([inner, {}]));
    vec![
        json!({}),
        deep(json!({})),
        json!({ "a": items }),
        json!({ "word": "a".repeat(53) }),
        json!({ "word": "ab".repeat(200_000) }),
        json!({ "word": vec![Value::Null; 100_000] }),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_cannot_hang_the_gateway_with_a_schema() {
    let one = One::of(hostile(&["--schemas"]));
    let began = Instant::now();
    let listing = listing(&one).await;
    assert!(
        began.elapsed() < Duration::from_secs(20),
        "{:?}",
        began.elapsed()
    );
    let refused: Vec<&str> = listing
        .refused
        .iter()
        .map(|one| one.tool.as_str())
        .collect();
    for name in [
        "allOf_60",
        "anyOf_60",
        "oneOf_60",
        "allOf_20",
        "properties_40",
        "unevaluated_20",
        "itself",
        "large",
    ] {
        assert!(
            refused.contains(&format!("evil:{name}").as_str()),
            "{name}: {refused:?}"
        );
        assert!(!listing.tools.iter().any(|tool| tool.id.tool() == name));
    }
    assert!(
        listing
            .tools
            .iter()
            .any(|tool| tool.id.as_str() == "evil:fine")
    );
    let error = one.call("evil:anyOf_60", json!({})).await.unwrap_err();
    assert_eq!(error.kind, CallErrorKind::Unavailable);
    assert!(error.message.contains("input schema is refused"), "{error}");

    // Whatever is not refused answers soon, while the event loop keeps running.
    let ticks = tokio::spawn(async {
        let mut worst = Duration::ZERO;
        loop {
            let began = Instant::now();
            tokio::time::sleep(Duration::from_millis(10)).await;
            worst = worst.max(began.elapsed());
            if worst > Duration::from_secs(2) {
                return worst;
            }
        }
    });
    for tool in &listing.tools {
        for instance in instances() {
            let began = Instant::now();
            let scope = one.gateway.run(pml_gateway::RunLimits::default());
            let _ = one.gateway.call(&scope, tool.id.as_str(), instance).await;
            let took = began.elapsed();
            assert!(took < Duration::from_secs(10), "{}: {took:?}", tool.id);
        }
    }
    assert!(
        !ticks.is_finished(),
        "the event loop stood still: {:?}",
        ticks.await
    );
    ticks.abort();
}

#[tokio::test]
async fn the_doctor_names_tools_that_are_refused_or_not_checked() {
    let one = One::of(hostile(&["--schemas"]));
    let report = one.gateway.doctor(Duration::from_secs(30)).await.remove(0);
    let has = |text: &str| report.remarks.iter().any(|remark| remark.contains(text));
    assert!(
        has("the tool evil:anyOf_60 cannot be used"),
        "{:?}",
        report.remarks
    );
    assert!(
        has("more remarks") || has("evil:backtracking"),
        "{:?}",
        report.remarks
    );
}

#[tokio::test]
async fn a_server_cannot_list_without_an_end() {
    for options in [
        ["--pages", "60"].as_slice(),
        &["--pages", "60", "--objects"],
    ] {
        let one = One::of(hostile(options));
        let listing = listing(&one).await;
        assert!(listing.tools.is_empty());
        let problem = listing.problems[0].1.to_string();
        assert!(
            problem.contains("the limit of one listing") || problem.contains("too many values"),
            "{problem}"
        );
    }
}

#[tokio::test]
async fn small_zeros_do_not_become_a_large_result() {
    let one = One::of(hostile(&[]));
    for structured in [false, true] {
        let arguments = json!({ "mib": 15, "structured": structured });
        let error = one.call("evil:zeros", arguments).await.unwrap_err();
        assert_eq!(error.kind, CallErrorKind::Output);
        assert!(error.message.contains("too many values"), "{error}");
        let arguments = json!({ "mib": 1, "structured": structured });
        assert!(one.call("evil:zeros", arguments).await.is_ok());
    }
}

#[tokio::test]
async fn an_http_body_is_read_up_to_its_limit_and_no_further() {
    let server = PythonHttp::start("hostile_http.py");
    let at = |path: &str| {
        let url = server.remote.url.join(path).unwrap();
        let remote = Remote {
            url,
            headers: Default::default(),
        };
        One::of(ServerConfig::with_endpoint("evil", Endpoint::Http(remote)))
    };
    let before = resident_mib();
    for path in ["/call", "/events", "/error"] {
        let began = Instant::now();
        let error = at(path).call("evil:go", json!({})).await.unwrap_err();
        if path != "/error" {
            assert_eq!(error.kind, CallErrorKind::Output, "{path}: {error}");
        }
        assert!(began.elapsed() < Duration::from_secs(60), "{path}");
    }
    let one = at("/initialize");
    let listing = one.gateway.list(None, Duration::from_secs(20)).await;
    assert_eq!(listing.problems.len(), 1);
    let grown = resident_mib().saturating_sub(before);
    assert!(grown < 200, "{grown} MiB more");
}

fn resident_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kib: u64 = line
        .unwrap()
        .split_whitespace()
        .nth(1)
        .unwrap()
        .parse()
        .unwrap();
    kib / 1024
}
