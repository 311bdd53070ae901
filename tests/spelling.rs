//! Tools whose names are not identifiers, and answers that are used without `await`.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{pml, repository};

/// A server with the tools `echo-tool`, `customers.list`, `get_item`, `get-item` and `delete-all`.
const SERVER: &str = r#"
import json, sys
names = ["echo-tool", "customers.list", "get_item", "get-item", "delete-all"]
tools = [{"name": name, "inputSchema": {"type": "object"}} for name in names]
for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    if method == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": tools}
    elif method == "tools/call":
        result = {"content": [{"type": "text", "text": message["params"]["name"]}]}
    else:
        result = {}
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"#;

struct Folder {
    folder: tempfile::TempDir,
}

impl Folder {
    fn new(policy: Value) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let server = folder.path().join("server.py");
        std::fs::write(&server, SERVER).expect("the server is written");
        let config = json!({
            "mcpServers": { "s": { "command": "python3", "args": [server] } },
            "pml": { "policy": policy },
        });
        std::fs::write(folder.path().join("mcp.json"), config.to_string()).expect("written");
        Self { folder }
    }

    fn config(&self) -> PathBuf {
        self.folder.path().join("mcp.json")
    }

    fn run(&self, script: &str) -> Value {
        let output = pml()
            .args(["run", "--json", "-e", script, "--config"])
            .arg(self.config())
            .current_dir(repository())
            .output()
            .expect("the binary starts");
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
    }
}

#[test]
fn a_tool_is_called_by_its_name_as_an_identifier_where_that_is_unambiguous() {
    let folder = Folder::new(json!({}));
    for (script, tool) in [
        ("return await tools.s.echo_tool()", "echo-tool"),
        ("return await tools.s.echoTool()", "echo-tool"),
        ("return await tools.s['echo-tool']()", "echo-tool"),
        ("return await tools.s.customers.list()", "customers.list"),
        ("return await tools.s.customers_list()", "customers.list"),
        ("return (await callTool('s:echo_tool')).result", "echo-tool"),
        (
            "return (await describeTool('s:echo_tool')).name",
            "echo-tool",
        ),
        ("return await tools.s.get_item()", "get_item"),
        ("return await tools.s['get-item']()", "get-item"),
    ] {
        let outcome = folder.run(script);
        assert_eq!(outcome["result"], tool, "{script}\n{outcome:#}");
    }
    let outcome = folder.run("return await tools.s.getItem()");
    let message = outcome["error"]["message"].as_str().unwrap_or_default();
    assert!(
        message.contains("s:get_item") && message.contains("s:get-item"),
        "{outcome:#}"
    );
}

#[test]
fn a_policy_decides_about_the_tool_and_not_about_its_spelling() {
    for policy in [
        json!({ "deny": ["s:delete-all"] }),
        json!({ "ask": ["s:delete-all"] }),
    ] {
        let folder = Folder::new(policy.clone());
        for script in [
            "return await tools.s.delete_all()",
            "return await tools.s.deleteAll()",
            "return await callTool('s:DELETE_ALL').then((r) => { if (!r.success) throw r.error })",
        ] {
            let outcome = folder.run(script);
            assert_eq!(outcome["ok"], false, "{policy} {script}\n{outcome:#}");
        }
    }
}

#[test]
fn an_answer_that_is_used_without_await_is_an_error_that_says_so() {
    let folder = Folder::new(json!({}));
    for script in [
        "return tools.s.echo_tool().result",
        "const { structuredContent } = tools.s.echo_tool(); return structuredContent",
        "return callTool('s:echo-tool', {}).result",
        "return searchTools('echo').length",
        "return `${tools.s.echo_tool()}`",
        "return JSON.stringify(tools.s.echo_tool())",
    ] {
        let outcome = folder.run(script);
        let message = outcome["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains("`await`"), "{script}\n{outcome:#}");
    }
    for script in [
        "return tools.s.echo_tool()",
        "return tools.s.echo_tool().then((x) => x).finally(() => {})",
        "return Promise.resolve(tools.s.echo_tool())",
        "const p = tools.s.echo_tool(); return Promise.resolve(p) === p && p instanceof Promise && await p",
        "return (await Promise.all([tools.s.echo_tool()]))[0]",
        "const p = tools.s.echo_tool(); console.log(p); return await p",
    ] {
        let outcome = folder.run(script);
        assert_eq!(outcome["result"], "echo-tool", "{script}\n{outcome:#}");
    }
}

#[test]
fn a_tool_without_its_server_is_an_error_that_names_the_id() {
    let folder = Folder::new(json!({}));
    for (script, part) in [
        ("return await tools.echo_tool()", "`s:echo-tool`"),
        (
            "return await callTool('s.echo-tool').then((r) => { throw r.error })",
            "`s:echo-tool`",
        ),
        (
            "return await callTool('mcp__s__echo-tool').then((r) => { throw r.error })",
            "`s:echo-tool`",
        ),
        ("return await tools.call('s:echo-tool')", "callTool("),
        ("return await tools.list()", "searchTools("),
    ] {
        let outcome = folder.run(script);
        let message = outcome["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains(part), "{script}\n{outcome:#}");
    }
}
