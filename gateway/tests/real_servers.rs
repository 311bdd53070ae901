//! Servers in wide use, over stdio, streamable HTTP and SSE.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use pml_gateway::RunLimits;
use pml_gateway::config::{Endpoint, Protocol, Remote, ServerConfig};
use serde_json::{Map, Value, json};

use crate::installed::{node_servers, python_servers};
use crate::processes::eventually;
use crate::support::One;

fn node(name: &str, package: &str, args: &[&str]) -> ServerConfig {
    let script = node_servers()
        .join("node_modules/@modelcontextprotocol")
        .join(package)
        .join("dist/index.js");
    let mut all = vec![script.display().to_string()];
    all.extend(args.iter().map(|arg| (*arg).to_owned()));
    ServerConfig::stdio(name, "node", all)
}

fn python(name: &str, program: &str, args: &[&str]) -> ServerConfig {
    let program = python_servers().join("venv/bin").join(program);
    ServerConfig::stdio(
        name,
        program.display().to_string(),
        args.iter().map(|arg| (*arg).to_owned()).collect(),
    )
}

#[tokio::test]
async fn server_everything_offers_tools_resources_and_prompts() {
    let one = One::of(node("every", "server-everything", &["stdio"]));
    let sum = one
        .call("every:get-sum", json!({ "a": 2, "b": 3 }))
        .await
        .unwrap();
    assert!(sum.to_string().contains('5'), "{sum}");
    let image = one.call("every:get-tiny-image", json!({})).await.unwrap();
    let blocks = image.as_array().unwrap();
    assert!(
        blocks
            .iter()
            .any(|block| block["type"] == "image" && block["mimeType"] == "image/png"),
        "{image}"
    );
    let structured = one
        .call(
            "every:get-structured-content",
            json!({ "location": "New York" }),
        )
        .await
        .unwrap();
    assert!(structured["temperature"].is_number(), "{structured}");

    let (gateway, scope) = (&one.gateway, &one.scope);
    let resources = gateway.list_resources(scope, "every").await.unwrap();
    let uri = resources[0]["uri"].as_str().unwrap().to_owned();
    let contents = gateway.read_resource(scope, "every", &uri).await.unwrap();
    assert_eq!(contents[0]["uri"], json!(uri));
    let prompts = gateway.list_prompts(scope, "every").await.unwrap();
    let name = prompts
        .as_array()
        .unwrap()
        .iter()
        .find(|prompt| prompt["arguments"].as_array().is_none_or(Vec::is_empty))
        .unwrap()["name"]
        .as_str()
        .unwrap()
        .to_owned();
    let prompt = gateway
        .get_prompt(scope, "every", &name, Map::new())
        .await
        .unwrap();
    assert!(prompt["messages"].is_array(), "{prompt}");
    gateway.shutdown().await;
}

#[tokio::test]
async fn server_everything_shows_other_tools_to_a_client_with_roots() {
    let folder = tempfile::tempdir().unwrap();
    let server = ServerConfig {
        roots: vec![folder.path().to_owned()],
        ..node("every", "server-everything", &["stdio"])
    };
    let one = One::of(server);
    one.gateway.warm().await;
    let shown = eventually(async || {
        one.gateway
            .tools()
            .iter()
            .any(|tool| tool.id.tool().contains("roots"))
    })
    .await;
    assert!(
        shown,
        "{:?}",
        one.gateway
            .tools()
            .iter()
            .map(|tool| tool.id.clone())
            .collect::<Vec<_>>()
    );
    let roots = one.call("every:get-roots-list", json!({})).await.unwrap();
    assert!(
        roots
            .to_string()
            .contains(folder.path().file_name().unwrap().to_str().unwrap()),
        "{roots}"
    );
}

#[tokio::test]
async fn server_filesystem_reads_and_refuses() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    std::fs::write(folder.join("a.json"), "{\"n\": [1, 2, 3]}").unwrap();
    let one = One::of(node("fs", "server-filesystem", &[folder.to_str().unwrap()]));
    let path = folder.join("a.json").display().to_string();
    let read = one
        .call("fs:read_text_file", json!({ "path": path }))
        .await
        .unwrap();
    let text = read["content"]
        .as_str()
        .map(str::to_owned)
        .unwrap_or(read.to_string());
    assert!(
        text.contains("[1, 2, 3]") || read == json!({ "n": [1, 2, 3] }),
        "{read}"
    );
    let error = one
        .call("fs:read_text_file", json!({ "path": "/etc/passwd" }))
        .await
        .unwrap_err();
    assert_eq!(error.kind, pml_gateway::CallErrorKind::Tool);
    let error = one
        .call("fs:read_text_file", json!({ "pth": path }))
        .await
        .unwrap_err();
    assert_eq!(error.kind, pml_gateway::CallErrorKind::Arguments);
}

#[tokio::test]
async fn server_memory_keeps_its_entities() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = node("memory", "server-memory", &[]);
    if let Ok(Endpoint::Stdio(command)) = &mut server.endpoint {
        command.env.insert(
            "MEMORY_FILE_PATH".to_owned(),
            folder.path().join("m.json").display().to_string(),
        );
    }
    let one = One::of(server);
    let entity = json!({ "entities": [{ "name": "pml", "entityType": "tool", "observations": ["is small"] }] });
    one.call("memory:create_entities", entity).await.unwrap();
    let graph = one.call("memory:read_graph", json!({})).await.unwrap();
    assert!(graph.to_string().contains("is small"), "{graph}");
}

#[tokio::test]
async fn mcp_server_time_tells_the_time() {
    let one = One::of(python("time", "mcp-server-time", &[]));
    let time = one
        .call("time:get_current_time", json!({ "timezone": "UTC" }))
        .await
        .unwrap();
    assert!(time.to_string().contains("UTC"), "{time}");
    let error = one
        .call(
            "time:get_current_time",
            json!({ "timezone": "Nowhere/At_All" }),
        )
        .await
        .unwrap_err();
    assert_eq!(error.kind, pml_gateway::CallErrorKind::Tool);
}

#[tokio::test]
async fn mcp_server_git_shows_a_repository() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().display().to_string();
    assert!(
        Command::new("git")
            .args(["init", "-q", &path])
            .status()
            .unwrap()
            .success()
    );
    std::fs::write(folder.path().join("new.txt"), "x").unwrap();
    let one = One::of(python("git", "mcp-server-git", &["--repository", &path]));
    let status = one
        .call("git:git_status", json!({ "repo_path": path }))
        .await
        .unwrap();
    assert!(status.to_string().contains("new.txt"), "{status}");
}

/// A server listening on a port of this machine until dropped.
struct Listening {
    child: Child,
    url: url::Url,
}

impl Listening {
    async fn everything(mode: &str, path: &str) -> Self {
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let script = node_servers()
            .join("node_modules/@modelcontextprotocol/server-everything/dist/index.js");
        let child = Command::new("node")
            .arg(Path::new(&script))
            .arg(mode)
            .env("PORT", port.to_string())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let listening = Self {
            child,
            url: format!("http://127.0.0.1:{port}{path}").parse().unwrap(),
        };
        let mut tries = 0;
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            tries += 1;
            assert!(tries < 600, "the server did not open its port");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        listening
    }

    fn remote(&self) -> Remote {
        Remote {
            url: self.url.clone(),
            headers: Default::default(),
        }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

async fn uses_everything(one: &One) {
    let sum = one
        .call("every:get-sum", json!({ "a": 20, "b": 22 }))
        .await
        .unwrap();
    assert!(sum.to_string().contains("42"), "{sum}");
    let scope = one.gateway.run(RunLimits {
        tool_timeout: Some(Duration::from_millis(200)),
        ..RunLimits::default()
    });
    let slow = json!({ "duration": 5, "steps": 2 });
    let error = one
        .gateway
        .call(&scope, "every:trigger-long-running-operation", slow)
        .await
        .unwrap_err();
    assert_eq!(error.kind, pml_gateway::CallErrorKind::Timeout);
    let echo = one
        .call("every:echo", json!({ "message": "still here" }))
        .await
        .unwrap();
    assert!(echo.to_string().contains("still here"), "{echo}");
    let report = one.gateway.doctor(Duration::from_secs(10)).await.remove(0);
    assert_eq!(report.state, pml_gateway::ServerStatus::Ready, "{report:?}");
    one.gateway.shutdown().await;
}

#[tokio::test]
async fn server_everything_works_over_streamable_http() {
    let server = Listening::everything("streamableHttp", "/mcp").await;
    uses_everything(&One::of(ServerConfig::with_endpoint(
        "every",
        Endpoint::Http(server.remote()),
    )))
    .await;
    let session = ServerConfig {
        protocol: Protocol::Session,
        ..ServerConfig::with_endpoint("every", Endpoint::Http(server.remote()))
    };
    uses_everything(&One::of(session)).await;
}

#[tokio::test]
async fn server_everything_works_over_the_sse_of_old() {
    let server = Listening::everything("sse", "/sse").await;
    uses_everything(&One::of(ServerConfig::with_endpoint(
        "every",
        Endpoint::Sse(server.remote()),
    )))
    .await;
}

#[tokio::test]
async fn a_port_without_a_listener_is_explained() {
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let remote = Remote {
        url: format!("http://127.0.0.1:{port}/mcp").parse().unwrap(),
        headers: Default::default(),
    };
    let one = One::of(ServerConfig::with_endpoint("gone", Endpoint::Http(remote)));
    let error = one.call("gone:x", Value::Null).await.unwrap_err();
    assert!(error.message.contains("could not be reached"), "{error}");
}
