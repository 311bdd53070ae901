//! Servers of uneven quality: each failure ends its own call, with a sentence that explains it.

use std::time::{Duration, Instant};

use pml_gateway::{CallErrorKind, RunLimits};
use serde_json::json;

use crate::processes::{eventually, processes_with};
use crate::support::{One, gateway, odd};

#[tokio::test]
async fn lines_that_are_not_json_are_skipped_and_counted() {
    let one = One::odd(&["--noisy"]);
    assert_eq!(
        one.call("odd:shout", json!({})).await.unwrap(),
        json!("heard")
    );
    let report = one.gateway.doctor(Duration::from_secs(10)).await.remove(0);
    assert!(
        report
            .remarks
            .iter()
            .any(|remark| remark.starts_with("printed 4 lines")),
        "{:?}",
        report.remarks
    );
}

#[tokio::test]
async fn a_server_that_ends_during_a_call_is_explained_and_started_again() {
    let one = One::odd(&[]);
    let error = one.call("odd:exit", json!({})).await.unwrap_err();
    assert_eq!(error.kind, CallErrorKind::Protocol);
    assert!(!error.retryable, "it may have had its effect");
    assert!(error.message.contains("exit status: 7"), "{error}");
    assert!(error.message.contains("out of cheese"), "{error}");
    assert_eq!(
        one.call("odd:echo", json!({ "text": "back" }))
            .await
            .unwrap(),
        json!("back")
    );
}

#[tokio::test]
async fn a_response_that_is_not_json_rpc_ends_its_call_at_once() {
    let one = One::odd(&[]);
    let start = Instant::now();
    let error = one.call("odd:wrong", json!({})).await.unwrap_err();
    assert_eq!(error.kind, CallErrorKind::Protocol);
    assert!(error.message.contains("no such key"), "{error}");
    assert!(start.elapsed() < Duration::from_secs(5));
    assert!(one.call("odd:echo", json!({ "text": "x" })).await.is_ok());
}

#[tokio::test]
async fn fifty_megabytes_are_refused_with_their_size_wherever_the_id_stands() {
    let one = One::odd(&[]);
    for id_last in [false, true] {
        let error = one
            .call("odd:big", json!({ "mib": 50, "id_last": id_last }))
            .await
            .unwrap_err();
        assert_eq!(error.kind, CallErrorKind::Output);
        assert!(error.message.contains("50.0 MiB"), "{error}");
    }
    let fits = one.call("odd:big", json!({ "mib": 15 })).await.unwrap();
    assert_eq!(fits.as_str().unwrap().len(), 15 * 1024 * 1024);
}

#[tokio::test]
async fn a_call_without_an_answer_ends_at_its_limit_and_others_go_on() {
    let one = One::odd(&[]);
    one.call("odd:echo", json!({ "text": "up" })).await.unwrap();
    let limits = RunLimits {
        tool_timeout: Some(Duration::from_millis(300)),
        ..RunLimits::default()
    };
    let scope = one.gateway.run(limits);
    let start = Instant::now();
    let error = one
        .gateway
        .call(&scope, "odd:never", json!({}))
        .await
        .unwrap_err();
    assert_eq!(error.kind, CallErrorKind::Timeout);
    assert!(
        start.elapsed() < Duration::from_secs(5),
        "{:?}",
        start.elapsed()
    );
    assert!(
        eventually(async || one.call("odd:cancelled", json!({})).await.unwrap() != json!([])).await,
        "the call is cancelled at the server"
    );
}

#[tokio::test]
async fn a_response_that_is_nested_too_deeply_is_an_error_at_once() {
    let one = One::odd(&[]);
    let error = one.call("odd:deep", json!({})).await.unwrap_err();
    assert_eq!(error.kind, CallErrorKind::Protocol);
    assert!(error.message.contains("nested too deeply"), "{error}");
}

#[tokio::test]
async fn a_response_that_is_sent_twice_is_used_once() {
    let one = One::odd(&[]);
    assert_eq!(
        one.call("odd:twice", json!({})).await.unwrap(),
        json!("first")
    );
    assert_eq!(
        one.call("odd:echo", json!({ "text": "next" }))
            .await
            .unwrap(),
        json!("next")
    );
    let report = one.gateway.doctor(Duration::from_secs(10)).await.remove(0);
    assert!(
        report
            .remarks
            .iter()
            .any(|remark| remark.starts_with("sent 1 responses")),
        "{:?}",
        report.remarks
    );
}

#[tokio::test]
async fn a_response_with_an_unknown_id_is_not_used() {
    let server = pml_gateway::config::ServerConfig {
        timeout: Some(Duration::from_millis(300)),
        ..odd("odd", &[])
    };
    let one = One::of(server);
    let error = one.call("odd:other_id", json!({})).await.unwrap_err();
    assert_eq!(error.kind, CallErrorKind::Timeout);
    assert!(
        error.message.contains("1 responses with an unknown id"),
        "{error}"
    );
}

#[tokio::test]
async fn responses_in_a_batch_are_read() {
    let one = One::odd(&[]);
    assert_eq!(
        one.call("odd:batch", json!({})).await.unwrap(),
        json!("in a list")
    );
}

#[tokio::test]
async fn a_server_that_crashes_at_start_is_explained_in_its_own_words() {
    let one = One::odd(&["--crash-at-start"]);
    let error = one
        .call("odd:echo", json!({ "text": "x" }))
        .await
        .unwrap_err();
    assert_eq!(error.kind, CallErrorKind::Unavailable);
    assert!(
        error.message.contains("cannot open the cellar door"),
        "{error}"
    );
    assert!(error.message.contains("exit status: 3"), "{error}");
}

#[tokio::test]
async fn a_program_that_does_not_exist_is_named() {
    let one = One::of(pml_gateway::config::ServerConfig::stdio(
        "none",
        "no-such-program-here",
        Vec::new(),
    ));
    let error = one.call("none:x", json!({})).await.unwrap_err();
    assert!(
        error
            .message
            .contains("`no-such-program-here` was not found"),
        "{error}"
    );
    assert!(!error.retryable);
}

#[tokio::test]
async fn a_deaf_server_is_stopped_all_the_same() {
    let one = One::odd(&["--deaf"]);
    one.call("odd:echo", json!({ "text": "up" })).await.unwrap();
    let start = Instant::now();
    one.gateway.shutdown().await;
    assert!(
        start.elapsed() < Duration::from_secs(5),
        "{:?}",
        start.elapsed()
    );
    let error = one
        .call("odd:echo", json!({ "text": "x" }))
        .await
        .unwrap_err();
    assert_eq!(error.kind, CallErrorKind::Unavailable);
}

#[tokio::test]
async fn a_server_that_hangs_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("hangs").display().to_string();
    let one = One::odd(&["--journal", &mark]);
    one.call("odd:echo", json!({ "text": "up" })).await.unwrap();
    let hanging = processes_with(&mark);
    // SAFETY: kill has no memory effects; the process is the server of this test.
    unsafe { libc::kill(hanging[0].cast_signed(), libc::SIGSTOP) };
    let limits = RunLimits {
        tool_timeout: Some(Duration::from_millis(200)),
        ..RunLimits::default()
    };
    let scope = one.gateway.run(limits);
    let error = one
        .gateway
        .call(&scope, "odd:echo", json!({ "text": "x" }))
        .await
        .unwrap_err();
    assert_eq!(error.kind, CallErrorKind::Timeout);
    // It has five seconds to answer a ping, and is then stopped.
    tokio::time::sleep(Duration::from_secs(6)).await;
    assert_eq!(
        one.call("odd:echo", json!({ "text": "new" }))
            .await
            .unwrap(),
        json!("new")
    );
    assert!(eventually(async || !processes_with(&mark).contains(&hanging[0])).await);
}

#[tokio::test]
async fn a_server_without_a_name_that_logs_json_is_used() {
    for options in [
        &["--anonymous"][..],
        &["--chatty"],
        &["--anonymous", "--chatty"],
    ] {
        let one = One::odd(options);
        let echoed = one.call("odd:echo", json!({ "text": "x" })).await;
        assert_eq!(echoed.unwrap(), json!("x"), "{options:?}");
    }
}

#[tokio::test]
async fn responses_that_are_nearly_valid_are_read() {
    let one = One::odd(&[]);
    assert_eq!(
        one.call("odd:cut", json!({})).await.unwrap(),
        json!("cut \u{fffd}")
    );
    let error = one.call("odd:nulls", json!({})).await.unwrap_err();
    assert!(error.message.contains("not today either"), "{error}");
}

#[tokio::test]
async fn formats_are_left_to_the_server() {
    let one = One::odd(&[]);
    let url = "https://de.wikipedia.org/wiki/K\u{e4}se";
    let visited = one.call("odd:visit", json!({ "url": url })).await;
    assert_eq!(visited.unwrap(), json!(url));
}

#[tokio::test]
async fn a_server_that_announces_changes_without_end_is_listed_ever_less_often() {
    let one = One::odd(&["--restless"]);
    one.call("odd:echo", json!({ "text": "up" })).await.unwrap();
    tokio::time::sleep(Duration::from_secs(2)).await;
    let listings = one.call("odd:listings", json!({})).await.unwrap();
    let listings: u32 = listings.to_string().parse().unwrap();
    assert!((2..20).contains(&listings), "{listings} in two seconds");
}

#[tokio::test]
async fn a_listing_that_failed_after_a_change_is_tried_again() {
    let one = One::odd(&["--fail-relisting"]);
    one.call("odd:grow", json!({})).await.unwrap();
    assert!(eventually(async || one.gateway.describe("odd:grown_0").await.is_ok()).await);
}

#[tokio::test]
async fn a_server_that_hangs_at_its_start_delays_only_the_first_unknown_name() {
    let gateway = gateway([odd("odd", &[]), odd("stuck", &["--hang-at-start"])]);
    let scope = gateway.run(RunLimits::default());
    let mut waits = Vec::new();
    for _ in 0..2 {
        let began = Instant::now();
        let error = gateway.call(&scope, "echo", json!({})).await.unwrap_err();
        assert!(error.message.contains("`odd:echo`"), "{error}");
        waits.push(began.elapsed());
    }
    assert!(waits[1] < Duration::from_secs(1), "{waits:?}");
    gateway.shutdown().await;
}
