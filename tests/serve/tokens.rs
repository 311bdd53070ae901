//! The token budget of the tool list, which a model reads before its first call.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::driver::StdioClient;
use crate::gateway::installed::tokenizer;
use crate::gateway::{Place, demo};

const DESCRIPTION_LIMIT: usize = 450;
const ALL_LIMIT: usize = 900;

fn tools(place: &Place) -> Vec<Value> {
    let mut client = StdioClient::open(place, &[]);
    let listed = client.ask("tools/list", json!({}));
    listed["result"]["tools"].as_array().unwrap().clone()
}

/// The number of `o200k_base` tokens.
fn count(text: &str) -> usize {
    let script = "const { encode } = require(process.argv[1]);
        console.log(encode(require('fs').readFileSync(0, 'utf8')).length)";
    let module = tokenizer().join("node_modules/gpt-tokenizer/cjs/encoding/o200k_base.js");
    let mut node = Command::new("node")
        .args(["-e", script])
        .arg(module)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    node.stdin
        .take()
        .unwrap()
        .write_all(text.as_bytes())
        .unwrap();
    let output = node.wait_with_output().unwrap();
    String::from_utf8(output.stdout)
        .unwrap()
        .trim()
        .parse()
        .unwrap()
}

#[test]
fn the_description_stays_short_however_many_servers_there_are() {
    let data = tempfile::tempdir().unwrap();
    for servers in [1, 18, 40] {
        let servers: serde_json::Map<String, Value> = (0..servers)
            .map(|n| {
                (
                    format!("some-rather-long-server-name-{n}"),
                    demo(data.path()),
                )
            })
            .collect();
        let tools = tools(&Place::with_servers(Value::Object(servers)));
        let description = tools[0]["description"].as_str().unwrap();
        let tokens = count(description);
        assert!(
            tokens < DESCRIPTION_LIMIT,
            "{tokens} tokens:\n{description}"
        );
        let all = count(&json!(tools).to_string());
        assert!(all < ALL_LIMIT, "{all} tokens");
        for needed in [
            "tools.server.tool(args)",
            "callTool(",
            "Filter before you return",
            "call_tool",
            "structured content",
        ] {
            assert!(
                description.contains(needed),
                "{needed} is missing:\n{description}"
            );
        }
    }
}
