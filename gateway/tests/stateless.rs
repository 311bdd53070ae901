//! Streamable HTTP without sessions, as of 2026-07-28.

use pml_gateway::CallErrorKind;
use pml_gateway::config::{Endpoint, Protocol, ServerConfig};
use serde_json::json;

use crate::support::{One, PythonHttp};

#[tokio::test]
async fn a_server_without_sessions_is_detected_and_used() {
    let server = PythonHttp::start("stateless.py");
    for protocol in [Protocol::Auto, Protocol::Stateless] {
        let one = One::of(ServerConfig {
            protocol,
            ..server.config("less")
        });
        assert_eq!(
            one.call("less:echo", json!({ "a": 1 })).await.unwrap(),
            json!({ "a": 1 })
        );
        let context = one.call("less:context", json!({})).await.unwrap();
        assert_eq!(context["session"], json!(null));
        assert_eq!(context["version"], json!("2026-07-28"));
        assert_eq!(
            context["meta"]["io.modelcontextprotocol/clientInfo"]["name"],
            json!("pml")
        );
        let report = one
            .gateway
            .doctor(std::time::Duration::from_secs(10))
            .await
            .remove(0);
        assert_eq!(report.protocol.as_deref(), Some("2026-07-28"));
        one.gateway.shutdown().await;
    }
}

#[tokio::test]
async fn too_large_a_result_is_refused_with_its_size_over_http_as_well() {
    let server = PythonHttp::start("stateless.py");
    let one = One::of(server.config("less"));
    for tool in ["less:big", "less:big_stream"] {
        let error = one.call(tool, json!({})).await.unwrap_err();
        assert_eq!(error.kind, CallErrorKind::Output, "{error}");
        assert!(error.message.contains("20.0 MiB"), "{error}");
    }
    assert!(one.call("less:echo", json!({})).await.is_ok());
}

#[tokio::test]
async fn configured_headers_reach_the_server() {
    let server = PythonHttp::start("stateless.py");
    let mut remote = server.remote.clone();
    remote
        .headers
        .insert("Authorization".to_owned(), "Bearer t0".to_owned());
    let one = One::of(ServerConfig::with_endpoint("less", Endpoint::Http(remote)));
    let context = one.call("less:context", json!({})).await.unwrap();
    assert_eq!(context["token"], json!("Bearer t0"));
}

#[tokio::test]
async fn a_server_that_wants_a_login_says_how_to_log_in() {
    let server = PythonHttp::start("stateless.py");
    let mut remote = server.remote.clone();
    remote.url.set_path("/locked");
    let one = One::of(ServerConfig::with_endpoint("less", Endpoint::Http(remote)));
    let error = one.call("less:echo", json!({})).await.unwrap_err();
    assert_eq!(error.kind, CallErrorKind::Unavailable);
    assert!(error.message.contains("run `pml login less`"), "{error}");
}
