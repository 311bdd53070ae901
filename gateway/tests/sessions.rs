//! Streamable HTTP with sessions, of servers that deviate from the specification.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::{One, PythonHttp};

#[tokio::test]
async fn a_session_that_the_server_forgot_is_created_again() {
    let server = PythonHttp::start("sessions.py");
    let one = One::of(server.config("kept"));
    let begun = Instant::now();
    for call in 0..3 {
        let echoed = one.call("kept:echo", json!({ "call": call })).await;
        assert_eq!(echoed.unwrap(), json!({ "call": call }));
        one.call("kept:forget", json!({})).await.unwrap();
    }
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn an_event_that_was_cut_in_a_character_is_read() {
    let server = PythonHttp::start("sessions.py");
    let one = One::of(server.config("kept"));
    let cut = one.call("kept:cut", json!({})).await.unwrap();
    assert_eq!(cut, json!("cut \u{fffd}"));
}

#[tokio::test]
async fn a_busy_server_keeps_its_session() {
    let server = PythonHttp::start("sessions.py");
    let one = One::of(server.config("kept"));
    assert_eq!(one.call("kept:busy", json!({})).await.unwrap(), json!({}));
    assert!(one.call("kept:echo", json!({})).await.is_ok());
}

#[tokio::test]
async fn headers_of_the_transport_itself_may_be_configured() {
    let mut server = PythonHttp::start("sessions.py");
    let accept = "application/json, text/event-stream".to_owned();
    server.remote.headers.insert("Accept".to_owned(), accept);
    let one = One::of(server.config("kept"));
    assert!(one.call("kept:echo", json!({})).await.is_ok());
}
