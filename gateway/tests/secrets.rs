//! Secrets by reference, with real processes and a real HTTP server: rotation under load, and where the
//! values do not appear.

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Json;
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use pml_gateway::config::Config;
use pml_gateway::{CallError, Gateway, RunLimits, RunScope};
use serde_json::{Value, json};

use crate::processes::eventually;

const FIRST: &str = "tok-first-8d1f7c2b90";
const SECOND: &str = "tok-second-41ab09e7cc";

/// A gateway over `rotating.py`, whose token is in a file.
struct Rotating {
    folder: tempfile::TempDir,
    gateway: Gateway,
    scope: RunScope,
}

fn write(folder: &Path, name: &str, text: &str) {
    let temporary = folder.join("temporary");
    std::fs::write(&temporary, text).unwrap();
    std::fs::rename(&temporary, folder.join(name)).unwrap();
}

impl Rotating {
    fn new(ttl: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "token", FIRST);
        write(folder.path(), "valid", FIRST);
        write(folder.path(), "started", "");
        let place = |name: &str| folder.path().join(name).display().to_string();
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/servers/rotating.py");
        let text = json!({
            "mcpServers": { "svc": {
                "command": "python3", "args": ["-u", script],
                "env": { "API_TOKEN": "${secret:file/token}", "VALID": place("valid"), "STARTED": place("started") },
            } },
            "pml": { "secrets": { "ttl": ttl }, "effects": { "svc:who": "read" } },
        });
        let config =
            Config::parse(&folder.path().join("m.json"), &text.to_string(), &|_| None).unwrap();
        let gateway = Gateway::open(config).unwrap();
        let limits = RunLimits {
            concurrent: Some(300),
            ..RunLimits::default()
        };
        let scope = gateway.run(limits);
        Self {
            folder,
            gateway,
            scope,
        }
    }

    async fn who(&self, ms: u64) -> Result<String, CallError> {
        let answer = self
            .gateway
            .call(&self.scope, "svc:who", json!({ "ms": ms }))
            .await;
        answer.map(|answer| answer.value.as_str().unwrap().to_owned())
    }

    /// Calls that take `ms` each, all at once. Returns the processes that answered.
    async fn crowd(&self, calls: usize, ms: u64) -> HashSet<String> {
        let calls = (0..calls).map(|_| self.who(ms));
        let answers = futures::future::join_all(calls).await;
        answers.into_iter().map(Result::unwrap).collect()
    }

    fn started(&self) -> usize {
        std::fs::read(self.folder.path().join("started"))
            .unwrap()
            .len()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_call_fails_when_a_secret_is_rotated_with_a_hundred_calls_in_flight() {
    let one = Rotating::new("50ms");
    let first = one.who(0).await.unwrap();
    let rotate = async {
        assert!(eventually(async || one.started() == 101).await);
        // The service accepts both for a time, as services do.
        write(one.folder.path(), "valid", &format!("{FIRST}\n{SECOND}"));
        write(one.folder.path(), "token", SECOND);
        tokio::time::sleep(Duration::from_millis(100)).await;
        one.crowd(100, 10).await
    };
    let (before, after) = tokio::join!(one.crowd(100, 2_000), rotate);
    assert_eq!(before, HashSet::from([first.clone()]));
    assert_eq!(after.len(), 1, "one process replaced the other: {after:?}");
    assert!(!after.contains(&first));
    let pid = first.strip_prefix("process ").unwrap();
    let process = format!("/proc/{pid}");
    assert!(eventually(async || !Path::new(&process).exists()).await);
    write(one.folder.path(), "valid", SECOND);
    assert_eq!(one.crowd(10, 0).await, after);
    one.gateway.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_the_service_rejects_is_renewed_and_a_read_sent_again() {
    let one = Rotating::new("1h");
    let first = one.who(0).await.unwrap();
    write(one.folder.path(), "token", SECOND);
    write(one.folder.path(), "valid", SECOND);
    let after = one.crowd(100, 0).await;
    assert!(after.len() == 1 && !after.contains(&first), "{after:?}");

    // Without another value, the error of the tool stays as it is.
    write(one.folder.path(), "valid", "");
    let error = one.who(0).await.unwrap_err();
    assert!(error.message.contains("401"), "{error}");
    one.gateway.shutdown().await;
}

#[tokio::test]
async fn the_value_is_in_no_result_log_error_or_command_line() {
    let one = Rotating::new("1h");
    let leak = one
        .gateway
        .call(&one.scope, "svc:leak", json!({}))
        .await
        .unwrap();
    assert_eq!(leak.value, "my token is ${secret:file/token}");
    let words = one
        .gateway
        .call(&one.scope, "svc:command_line", json!({}))
        .await
        .unwrap();
    let words = words.value.as_str().unwrap().to_owned();
    assert!(
        words.contains("rotating.py") && !words.contains(FIRST),
        "{words}"
    );
    let reports = one.gateway.doctor(Duration::from_secs(5)).await;
    let shown = serde_json::to_string(&reports).unwrap();
    assert!(
        shown.contains("the token is ${secret:file/token}"),
        "{shown}"
    );
    assert!(!shown.contains(FIRST), "{shown}");
    let named = one.gateway.credentials();
    let named: Vec<String> = named["svc"].iter().map(ToString::to_string).collect();
    assert_eq!(named, ["secret:file/token"]);
    assert!(!format!("{:?}", one.gateway.credentials()).contains(FIRST));
    one.gateway.shutdown().await;
}

#[tokio::test]
async fn a_server_whose_secret_does_not_exist_is_not_started_and_says_so_in_one_sentence() {
    let one = Rotating::new("1h");
    std::fs::remove_file(one.folder.path().join("token")).unwrap();
    let error = one.who(0).await.unwrap_err();
    assert!(
        error.message.starts_with("server `svc` is not usable: the secret `secret:file/token` does not exist: there is no file "),
        "{error}"
    );
    assert_eq!(one.started(), 0);
    // It starts once the secret is there; no restart of the gateway is needed.
    write(one.folder.path(), "token", FIRST);
    assert!(eventually(async || one.who(0).await.is_ok()).await);
    one.gateway.shutdown().await;
}

/// An MCP server over HTTP that accepts one token, and counts what it rejects.
#[derive(Default)]
struct HttpServer {
    valid: String,
    rejected: usize,
    challenge: bool,
}

async fn mcp(
    State(server): State<Arc<Mutex<HttpServer>>>,
    headers: HeaderMap,
    Json(message): Json<Value>,
) -> Response {
    {
        let mut server = server.lock().unwrap();
        let expected = format!("Bearer {}", server.valid);
        if headers
            .get("authorization")
            .is_none_or(|given| given != expected.as_str())
        {
            server.rejected += 1;
            let mut response = StatusCode::UNAUTHORIZED.into_response();
            if server.challenge {
                let value = "Bearer error=\"invalid_token\"".parse().unwrap();
                response.headers_mut().insert("www-authenticate", value);
            }
            return response;
        }
    }
    let result = match message["method"].as_str().unwrap_or_default() {
        "initialize" => json!({
            "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
            "serverInfo": { "name": "http", "version": "1" },
        }),
        "tools/list" => {
            json!({ "tools": [{ "name": "echo", "inputSchema": { "type": "object" } }] })
        }
        "tools/call" => {
            json!({ "content": [{ "type": "text", "text": headers["authorization"].to_str().unwrap() }] })
        }
        _ => return StatusCode::ACCEPTED.into_response(),
    };
    Json(json!({ "jsonrpc": "2.0", "id": message["id"], "result": result })).into_response()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_header_is_renewed_when_the_server_answers_401_and_no_call_fails() {
    for challenge in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "token", FIRST);
        let server = Arc::new(Mutex::new(HttpServer {
            valid: FIRST.to_owned(),
            challenge,
            ..HttpServer::default()
        }));
        let app = Router::new()
            .route("/mcp", post(mcp))
            .with_state(server.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, app).await });
        let text = json!({ "mcpServers": { "web": {
            "url": format!("http://{address}/mcp"), "protocol": "2025-11-25",
            "headers": { "Authorization": "Bearer ${secret:file/token}" },
        } } });
        let file = folder.path().join("m.json");
        let config = Config::parse(&file, &text.to_string(), &|_| None).unwrap();
        let gateway = Gateway::open(config).unwrap();
        let scope = gateway.run(RunLimits::default());
        let call = || gateway.call(&scope, "web:echo", json!({}));
        let hidden = "Bearer ${secret:file/token}";
        assert_eq!(call().await.unwrap().value, hidden);
        write(folder.path(), "token", SECOND);
        server.lock().unwrap().valid = SECOND.to_owned();
        let answers = futures::future::join_all((0..100).map(|_| call())).await;
        assert!(
            answers
                .into_iter()
                .all(|answer| answer.unwrap().value == hidden)
        );
        let rejected = server.lock().unwrap().rejected;
        assert!(
            (1..=17).contains(&rejected),
            "{rejected} requests with the old token"
        );
        // A token that is revoked for good is an error, not a storm of requests.
        server.lock().unwrap().valid = "none".to_owned();
        server.lock().unwrap().rejected = 0;
        let error = call().await.unwrap_err();
        assert!(!error.message.contains(SECOND), "{error}");
        assert!(server.lock().unwrap().rejected <= 4);
        gateway.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_openapi_service_gets_the_current_value_of_its_credential() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "token", FIRST);
    let valid = Arc::new(Mutex::new(FIRST.to_owned()));
    let who = async |State(valid): State<Arc<Mutex<String>>>, headers: HeaderMap| {
        let expected = format!("Bearer {}", valid.lock().unwrap());
        let given = headers.get("authorization");
        match given.is_some_and(|given| given == expected.as_str()) {
            true => Json(json!({ "ok": true })).into_response(),
            false => StatusCode::UNAUTHORIZED.into_response(),
        }
    };
    let app = Router::new()
        .route("/who", axum::routing::get(who))
        .with_state(valid.clone());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await });
    let document = json!({
        "openapi": "3.1.0", "info": { "title": "t", "version": "1" },
        "components": { "securitySchemes": { "key": { "type": "http", "scheme": "bearer" } } },
        "security": [{ "key": [] }],
        "paths": { "/who": { "get": { "operationId": "who", "responses": { "200": { "description": "ok" } } } } },
    });
    write(folder.path(), "api.json", &document.to_string());
    let text = json!({ "mcpServers": { "api": {
        "openapi": "api.json", "baseUrl": format!("http://{address}"),
        "auth": { "key": "${secret:file/token}" },
    } } });
    let file = folder.path().join("m.json");
    let config = Config::parse(&file, &text.to_string(), &|_| None).unwrap();
    let gateway = Gateway::open(config).unwrap();
    let scope = gateway.run(RunLimits::default());
    let call = || gateway.call(&scope, "api:who", json!({}));
    assert_eq!(call().await.unwrap().value, json!({ "ok": true }));
    write(folder.path(), "token", SECOND);
    *valid.lock().unwrap() = SECOND.to_owned();
    let answers = futures::future::join_all((0..50).map(|_| call())).await;
    for answer in answers {
        assert_eq!(answer.unwrap().value, json!({ "ok": true }));
    }
    gateway.shutdown().await;
}

#[tokio::test]
async fn a_section_of_the_configuration_gets_the_values_of_its_secrets() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "password", "s3cret-of-the-store");
    let parse = |text: &str| Config::parse(&folder.path().join("m.json"), text, &|_| None).unwrap();
    let config = parse(
        r#"{ "pml": { "store": { "url": "postgres://app:${secret:file/password}@db/x" } } }"#,
    );
    let store: Value = config.section_with_variables("store", &|_| None).unwrap();
    assert_eq!(store["url"], "postgres://app:s3cret-of-the-store@db/x");
    assert_eq!(
        config.secrets().hide("it is s3cret-of-the-store"),
        "it is ${secret:file/password}"
    );
    let config = parse("{ \"pml\": {\n \"store\": { \"key\": \"${secret:file/none}\" } } }");
    let error = config
        .section_with_variables::<Value>("store", &|_| None)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("m.json:2: `pml.store.key`: the secret `secret:file/none` does not exist"),
        "{error}"
    );
}
