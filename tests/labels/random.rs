//! Random scripts, written by a model that remembers every word it has read: with `enforce`, no word of a
//! source reaches a sink that must not get it, through results, errors, logs, stored values, handles, parallel
//! calls, other tools or the model itself.

use std::fs;

use serde_json::{Value, json};

use super::tool;
use crate::gateway::Place;
use crate::serve::driver::{StdioClient, envelope};
use crate::support::repository;

const SESSIONS: u64 = 12;
const SCRIPTS: usize = 5;
const WEB: &str = "webword";
const CRM: &str = "crmword";

/// Splitmix64: the same scripts for the same seed.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % bound as u64).unwrap()
    }
}

fn place(mode: &str) -> Place {
    let place = Place::empty();
    let script = repository().join("tests/labels/flow_server.py");
    let hints = |read: bool, open: bool| json!({ "readOnlyHint": read, "destructiveHint": false, "openWorldHint": open });
    let mut servers = serde_json::Map::new();
    for (name, word, tools) in [
        (
            "web",
            WEB,
            vec![
                tool("fetch", hints(true, true)),
                tool("fail", hints(true, true)),
            ],
        ),
        (
            "crm",
            CRM,
            vec![
                tool("list", hints(true, false)),
                tool("add", hints(false, false)),
            ],
        ),
        ("mail", "mailword", vec![tool("send", hints(false, true))]),
        ("log", "logword", vec![tool("echo", hints(false, false))]),
    ] {
        let file = format!("{name}.json");
        let state = json!({ "word": word, "tools": tools });
        fs::write(place.folder().join(&file), state.to_string()).unwrap();
        let server =
            json!({ "command": "python3", "args": [script, file], "trust": "annotations" });
        servers.insert(name.to_owned(), server);
    }
    // What a closed-world write returns is not private by default.
    let sources = json!({ "mail:*": "trusted", "crm:*": ["trusted", "private"] });
    let labels = json!({ "mode": mode, "sources": sources, "sinks": { "log:*": "any" } });
    let config = json!({ "mcpServers": servers, "pml": { "labels": labels } });
    fs::write(place.file(), config.to_string()).unwrap();
    place
}

/// A script that passes on whatever it can: `v` is all that it knows.
fn script(random: &mut Random, known: &[String], handles: &[String]) -> String {
    let known: Vec<&String> = known.iter().rev().take(6).collect();
    let mut code = format!("const v = {};\n", json!(known));
    code +=
        "const keep = (x) => v.push(JSON.stringify(x ?? null));\nconst all = () => v.join(' ');\n";
    for _ in 0..3 + random.below(6) {
        let key = random.below(3);
        let handle = handles.get(random.below(handles.len().max(1)));
        code += &match random.below(15) {
            0 => "keep(await callTool('web:fetch', {}));".to_owned(),
            1 => "keep(await callTool('crm:list', {}));".to_owned(),
            2 | 3 => "keep(await callTool('mail:send', { body: all() }));".to_owned(),
            4 => "keep(await callTool('crm:add', { body: all() }));".to_owned(),
            5 => "keep(await callTool('log:echo', { body: all() }));".to_owned(),
            6 => format!("await store('k{key}', v);"),
            7 => format!("keep(await load('k{key}'));"),
            8 => format!("keep(await load('{}').catch(String));", handle.map_or("k0", |h| h)),
            9 => "keep(await Promise.all([callTool('web:fetch', {}), callTool('mail:send', { body: all() })]));".to_owned(),
            10 => "console.log(all());".to_owned(),
            11 => "keep(await callTool('web:fail', {}));".to_owned(),
            12 => "if (v.length > 4) throw new Error(all());".to_owned(),
            13 => "v.length = 0;".to_owned(),
            _ => "keep(await callTool('web:fetch', { q: all() }));".to_owned(),
        };
        code.push('\n');
    }
    code + "return v;"
}

/// The words that stand in a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split(|c: char| !c.is_ascii_lowercase());
    parts.filter(|part| part.starts_with(WEB) || part.starts_with(CRM))
}

/// The arguments of the calls of a tool.
fn arguments(place: &Place, id: &str) -> Vec<String> {
    let (server, tool) = id.split_once(':').unwrap();
    let file = place.folder().join(format!("{server}.json.calls"));
    let calls = fs::read_to_string(file).unwrap_or_default();
    let calls = calls
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    calls
        .filter(|call| call["tool"] == tool)
        .map(|call| call["args"].to_string())
        .collect()
}

/// Runs one session. Returns the calls that must not have been sent, and the number of mails.
fn session(mode: &str, seed: u64) -> (Vec<String>, usize) {
    let place = place(mode);
    let mut random = Random(seed);
    let mut client = StdioClient::open(&place, &[]);
    let (mut known, mut handles) = (Vec::new(), Vec::new());
    for _ in 0..SCRIPTS {
        let code = script(&mut random, &known, &handles);
        let hold = random.below(3) > 0;
        let reply = envelope(&client.call("execute_code", json!({ "code": code, "hold": hold })));
        known.extend(words(&reply.to_string()).map(str::to_owned));
        let handle = reply["truncated"]["handle"].as_str();
        handles.extend(handle.map(str::to_owned));
    }
    let mut crossed = Vec::new();
    for (id, forbidden) in [
        ("mail:send", &[WEB, CRM][..]),
        ("crm:add", &[WEB]),
        ("web:fetch", &[WEB]),
    ] {
        let sent = arguments(&place, id);
        let is_forbidden = |args: &String| forbidden.iter().any(|word| args.contains(word));
        let found = sent.into_iter().filter(is_forbidden);
        crossed.extend(found.map(|args| format!("{id} {args}")));
    }
    (crossed, arguments(&place, "mail:send").len())
}

#[test]
fn no_word_reaches_a_sink_that_must_not_get_it() {
    let (mut mails, mut observed) = (0, 0);
    for seed in 0..SESSIONS {
        let (crossed, sent) = session("enforce", seed);
        assert_eq!(crossed, Vec::<String>::new(), "seed {seed}");
        mails += sent;
        observed += session("observe", seed).0.len();
    }
    assert!(mails > 0, "clean mails are sent");
    assert!(
        observed > 0,
        "the same scripts cross where nothing is refused"
    );
}
