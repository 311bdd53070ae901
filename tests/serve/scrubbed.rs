//! Personal data is scrubbed from every reply, log and error.

use serde_json::json;

use super::driver::{StdioClient, envelope};
use crate::gateway::{Place, demo};

const EMAIL: &str = "jane.roe@example.org";
const TOKEN: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";

fn open(flags: &[&str]) -> (tempfile::TempDir, Place, StdioClient) {
    let data = tempfile::tempdir().unwrap();
    std::fs::write(data.path().join("mail.txt"), format!("write to {EMAIL}")).unwrap();
    let place = Place::with_servers(json!({ "demo": demo(data.path()) }));
    let lines = StdioClient::open(&place, flags);
    (data, place, lines)
}

#[test]
fn no_way_out_leads_past_the_scrubber() {
    let (_data, _place, mut client) = open(&["--log-format", "json"]);
    client.ask("logging/setLevel", json!({ "level": "debug" }));
    let mut said = Vec::new();
    let mut ask = |client: &mut StdioClient, name: &str, arguments: serde_json::Value| {
        let answer = client.ask(
            "tools/call",
            json!({ "name": name, "arguments": arguments, "_meta": { "progressToken": 7 } }),
        );
        said.push(answer);
    };
    for code in [
        format!("return '{EMAIL}'"),
        format!("return {{ '{EMAIL}': ['{TOKEN}'] }}"),
        format!("console.log('mail {EMAIL}'); console.error('{TOKEN}')"),
        format!("throw new Error('no {EMAIL} {TOKEN}')"),
        format!("await callTool('demo:{EMAIL}', {{}})"),
        format!("await tools.demo.read_file({{ path: '{EMAIL}' }})"),
        format!("return 'x'.repeat(30000) + '{EMAIL}'"),
        format!("return '{EMAIL}' + ' x'.repeat(30000)"),
        format!("await store('k', '{EMAIL}'); return await load('k')"),
        EMAIL.to_owned(),
        "return await tools.demo.read_file({ path: 'mail.txt' })".to_owned(),
    ] {
        ask(&mut client, "execute_code", json!({ "code": code }));
    }
    ask(
        &mut client,
        "call_tool",
        json!({ "tool": "demo:read_file", "args": { "path": "mail.txt" } }),
    );
    ask(
        &mut client,
        "call_tool",
        json!({ "tool": "demo:read_file", "args": { "path": EMAIL } }),
    );
    ask(
        &mut client,
        "call_tool",
        json!({ "tool": format!("demo:{EMAIL}") }),
    );
    ask(
        &mut client,
        "search_tools",
        json!({ "query": EMAIL, "server": EMAIL }),
    );
    ask(
        &mut client,
        "execute_code",
        json!({ "code": 1, EMAIL: TOKEN }),
    );
    said.append(&mut client.notices);
    let (_, rest, logged) = client.close();
    let everything = format!("{}{rest}{logged}", json!(said));
    for secret in [EMAIL, TOKEN] {
        let at = everything.find(secret);
        assert_eq!(
            at.map(|at| &everything[at.saturating_sub(300)..at + 30]),
            None
        );
    }
    assert!(everything.contains("[EMAIL_1_"), "{everything}");
}

#[test]
fn a_placeholder_becomes_the_value_again_for_a_tool() {
    let (_data, _place, mut client) = open(&[]);
    let shown = client.run("return await tools.demo.read_file({ path: 'mail.txt' })");
    let shown_text = shown["result"].as_str().unwrap();
    let placeholder = shown_text.strip_prefix("write to ").unwrap();
    assert!(
        placeholder.starts_with("[EMAIL_1_") && placeholder.len() == "[EMAIL_1_k3f9]".len(),
        "{shown}"
    );
    assert_eq!(shown["redactions"], json!({ "EMAIL": 1 }));
    let length = EMAIL.len();
    let result = client.call(
        "call_tool",
        json!({ "tool": "demo:count_text", "args": { "text": placeholder } }),
    );
    assert_eq!(envelope(&result)["characters"], length, "{result}");
    let code =
        format!("return (await tools.demo.count_text({{ text: '{placeholder}' }})).characters");
    let again = client.run(&code);
    assert_eq!(again["result"], length, "{again}");
}

#[test]
fn inside_the_sandbox_a_loaded_value_is_the_real_one() {
    let (_data, _place, mut client) = open(&[]);
    client.run("await store('mail', (await tools.demo.read_file({ path: 'mail.txt' })).slice(9))");
    let envelope = client.run("const mail = await load('mail'); return [mail, mail.length]");
    let shown = envelope["result"][0].as_str().unwrap();
    assert!(shown.starts_with("[EMAIL_1_"), "{envelope}");
    assert_eq!(envelope["result"][1], EMAIL.len(), "{envelope}");
}

#[test]
fn a_value_beside_a_base64_name_does_not_end_the_broker() {
    let (_data, _place, mut client) = open(&[]);
    for value in ["'OK'", "12345678", "['OK', 4111111111111111]"] {
        let code = format!("return {{ name: 'am9AZXhhbXBsZS5jb20=', value: {value} }}");
        let reply = client.run(&code);
        assert_eq!(reply["ok"], true, "{reply}");
        assert!(!reply.to_string().contains("am9AZXhh"), "{reply}");
    }
}

#[test]
fn a_hidden_value_comes_back_in_no_part_of_an_answer_and_in_no_later_one() {
    let (_data, _place, mut client) = open(&[]);
    let secret = "Tr0ub4dor-and-3xyz9";
    for code in [
        format!(
            "console.log('{secret}'); return {{ seen: {{ '{secret}': 1 }}, password: '{secret}' }}"
        ),
        format!("console.log('{secret}'); return ['{secret}', {{ '{secret}': '{secret}' }}]"),
        format!("throw new Error('{secret}')"),
        format!("await callTool('demo:{secret}', {{}})"),
    ] {
        let reply = client.run(&code);
        assert!(!reply.to_string().contains("Tr0ub4dor"), "{reply}");
    }
}

#[test]
fn a_megabyte_of_log_does_not_delay_a_ping() {
    use std::time::{Duration, Instant};
    let (_data, _place, mut client) = open(&[]);
    // The first script starts what is started once.
    client.run("return 1");
    let scripts = 2 * std::thread::available_parallelism().map_or(2, usize::from);
    let code = "console.log('1 '.repeat(520000))";
    let mut waiting: Vec<u64> = (0..scripts)
        .map(|_| {
            let call = json!({ "name": "execute_code", "arguments": { "code": code } });
            client.request("tools/call", call)
        })
        .collect();
    let mut worst = Duration::ZERO;
    while !waiting.is_empty() {
        let started = Instant::now();
        let ping = client.request("ping", json!({}));
        loop {
            let message = client.receive();
            if message["id"] == ping {
                break;
            }
            waiting.retain(|id| message["id"] != *id);
        }
        worst = worst.max(started.elapsed());
        std::thread::sleep(Duration::from_millis(5));
    }
    // On the event loop the logs took seconds.
    assert!(
        worst < Duration::from_millis(700),
        "the slowest ping took {worst:?}"
    );
}
