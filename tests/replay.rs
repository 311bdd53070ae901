//! Recording, replay and dry runs, through the binary and the demo server.

mod storage;
mod timing;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{binary, pml};

/// A folder with a script, some data, and the demo server as `demo`.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new(script: &str) -> Self {
        Self::with_policy(script, json!({}))
    }

    fn with_policy(script: &str, policy: Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = Self { folder };
        fs::create_dir(place.path("data")).unwrap();
        for name in ["a", "b", "c"] {
            let text = format!("{{ \"name\": \"{name}\" }}");
            fs::write(place.path(&format!("data/{name}.json")), text).unwrap();
        }
        let demo = json!({
            "command": binary(),
            "args": ["demo-server", place.path("data"), "--journal", place.path("journal.txt")],
        });
        let config = json!({ "mcpServers": { "demo": demo }, "pml": { "policy": policy } });
        fs::write(place.path("servers.json"), config.to_string()).unwrap();
        place.write(script);
        place
    }

    fn write(&self, script: &str) {
        fs::write(self.path("script.ts"), script).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs the script with the servers of the configuration.
    fn live(&self, flags: &[&str]) -> Output {
        let config = self.path("servers.json");
        let mut flags = flags.to_vec();
        flags.extend(["--config", config.to_str().unwrap()]);
        run_in(self.folder.path(), &flags)
    }

    /// Runs the script in a folder that has only the script and the recording.
    fn elsewhere(&self, flags: &[&str]) -> Output {
        let other = tempfile::tempdir().unwrap();
        for name in ["script.ts", "calls.json"] {
            fs::copy(self.path(name), other.path().join(name)).unwrap();
        }
        run_in(other.path(), flags)
    }

    fn recording(&self) -> Value {
        let text = fs::read_to_string(self.path("calls.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    /// The number of calls that reached the server.
    fn served(&self) -> usize {
        let journal = fs::read_to_string(self.path("journal.txt")).unwrap_or_default();
        journal.lines().count()
    }
}

fn run_in(folder: &Path, flags: &[&str]) -> Output {
    pml()
        .arg("run")
        .args(flags)
        .arg("script.ts")
        .current_dir(folder)
        .env_clear()
        .env("HOME", folder)
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[track_caller]
fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

const NAMES: &str = "const paths = ['a.json', 'b.json', 'c.json'];\n\
    const files = await Promise.all(paths.map((path) => tools.demo.read_json({ path })));\n\
    return files.map((file) => file.name);";

#[test]
fn a_recording_replays_elsewhere_with_no_server_and_no_configuration() {
    let place = Place::new(NAMES);
    let recorded = stdout(&place.live(&["--record", "calls.json"]));
    assert_eq!(place.recording()["requests"].as_array().unwrap().len(), 3);
    assert_eq!(place.served(), 3);
    let replayed = stdout(&place.elsewhere(&["--replay", "calls.json"]));
    assert_eq!(recorded, replayed);
    assert_eq!(place.served(), 3);
}

#[test]
fn what_was_refused_before_it_was_called_replays_the_same() {
    let place = Place::new(
        "const kinds = [];\n\
         for (const id of ['nope:x', 'demo:nope']) {\n\
           const { error } = await callTool(id); kinds.push([error.kind, error.retryable]);\n\
         }\n\
         return kinds;",
    );
    let recorded = stdout(&place.live(&["--record", "calls.json"]));
    assert!(recorded.contains("unknown"), "{recorded}");
    let replayed = stdout(&place.elsewhere(&["--replay", "calls.json"]));
    assert_eq!(recorded, replayed);
}

#[test]
fn calls_in_another_order_still_replay() {
    let place = Place::new(NAMES);
    stdout(&place.live(&["--record", "calls.json"]));
    place.write(&NAMES.replace(
        "'a.json', 'b.json', 'c.json'",
        "'c.json', 'a.json', 'b.json'",
    ));
    let replayed = stdout(&place.elsewhere(&["--replay", "calls.json", "--json"]));
    let envelope: Value = serde_json::from_str(&replayed).unwrap();
    assert_eq!(envelope["result"], json!(["c", "a", "b"]));
}

#[test]
fn equal_calls_get_their_answers_in_turn() {
    let place = Place::new(
        "const answers = [];\n\
         for (let i = 0; i < 3; i++) {\n\
           const { success, result, error } = await callTool('demo:flaky', { key: 'k', failures: 2 });\n\
           answers.push(success ? result.attempts : error.message);\n\
         }\n\
         return answers;",
    );
    let recorded = stdout(&place.live(&["--record", "calls.json"]));
    assert!(recorded.contains("failure 2 of 2"), "{recorded}");
    assert_eq!(
        recorded,
        stdout(&place.elsewhere(&["--replay", "calls.json"]))
    );
}

#[test]
fn a_call_that_was_not_recorded_fails_with_the_nearest_one() {
    let place = Place::new("return await tools.demo.read_json({ path: 'a.json' });");
    stdout(&place.live(&["--record", "calls.json"]));
    place.write("return await tools.demo.read_json({ path: 'b.json' });");
    let output = place.elsewhere(&["--replay", "calls.json"]);
    assert_eq!(output.status.code(), Some(1));
    let printed = text(&output.stderr);
    assert!(
        printed.contains("  - path: \"a.json\"\n  + path: \"b.json\""),
        "{printed}"
    );
    assert!(printed.contains("--record missing"), "{printed}");
}

#[test]
fn a_recording_is_extended_by_what_it_lacks_and_by_nothing_else() {
    let place = Place::new("return await tools.demo.read_json({ path: 'a.json' });");
    stdout(&place.live(&["--record", "calls.json"]));
    place.write(NAMES);
    stdout(&place.live(&["--replay", "calls.json", "--record", "missing"]));
    assert_eq!(place.served(), 3, "the first call is not made again");
    assert_eq!(place.recording()["requests"].as_array().unwrap().len(), 3);
    stdout(&place.elsewhere(&["--replay", "calls.json"]));
}

#[test]
fn personal_data_is_replaced_in_a_recording_by_default() {
    let address = "jo.doe@mail.example.org";
    let script = format!(
        "const title = '{address}';\n\
         const {{ id }} = await tools.demo.add_note({{ title, text: 'for {address}' }});\n\
         const note = await tools.demo.read_note({{ id }});\n\
         return await tools.demo.count_text({{ text: note.title }});"
    );
    let place = Place::new(&script);
    stdout(&place.live(&["--record", "calls.json"]));
    let kept = fs::read_to_string(place.path("calls.json")).unwrap();
    assert!(!kept.contains(address), "{kept}");
    assert!(kept.contains("[EMAIL_1]"), "{kept}");
    // The script contains the address itself, and passes on the one that the tool returned.
    stdout(&place.elsewhere(&["--replay", "calls.json"]));
    stdout(&place.live(&["--record", "calls.json", "--record-raw"]));
    assert!(
        fs::read_to_string(place.path("calls.json"))
            .unwrap()
            .contains(address)
    );
}

#[test]
fn a_failed_run_leaves_its_recording() {
    let place = Place::new(
        "await tools.demo.read_json({ path: 'a.json' });\n\
         await tools.demo.read_json({ path: 'nowhere.json' });",
    );
    let output = place.live(&["--record", "calls.json"]);
    assert_eq!(output.status.code(), Some(1));
    let recording = place.recording();
    assert_eq!(recording["requests"][0]["call"]["tool"], "demo:read_json");
    assert!(
        recording["requests"][1]["failure"]["message"].is_string(),
        "{recording:#}"
    );
    let replayed = place.elsewhere(&["--replay", "calls.json"]);
    assert_eq!(text(&replayed.stderr), text(&output.stderr));
}

#[test]
fn time_and_randomness_are_the_same_in_every_replay() {
    let place = Place::new(
        "const bytes = crypto.getRandomValues(new Uint8Array(4));\n\
         const began = performance.now();\n\
         const before = Date.now();\n\
         await new Promise((done) => setTimeout(done, 40));\n\
         const key = `${Math.random()} ${crypto.randomUUID()} ${new Date().toISOString()}`;\n\
         await tools.demo.count_text({ text: key });\n\
         return { key, bytes: [...bytes], slept: Date.now() - before,\n\
           late: performance.now() - began >= 40,\n\
           intl: new Intl.DateTimeFormat('en', { minute: 'numeric', second: 'numeric', fractionalSecondDigits: 3 }).format(),\n\
           plain: Temporal.Now.instant().epochMilliseconds,\n\
           is: new Date() instanceof Date, name: Date.name, text: typeof Date() };",
    );
    let recorded = stdout(&place.live(&["--record", "calls.json"]));
    let value: Value = serde_json::from_str(&recorded).unwrap();
    assert_eq!(value["slept"], 40);
    assert_eq!(
        [&value["late"], &value["is"], &value["name"], &value["text"]],
        [&json!(true), &json!(true), &json!("Date"), &json!("string")]
    );
    for _ in 0..2 {
        assert_eq!(
            recorded,
            stdout(&place.elsewhere(&["--replay", "calls.json"]))
        );
    }
    let again = stdout(&place.live(&["--record", "calls.json"]));
    assert_ne!(recorded, again, "another recording is another world");
}

#[test]
fn a_replay_does_not_sleep() {
    let place = Place::new(
        "const order: number[] = [];\n\
         const sleep = (ms: number) => new Promise<void>((done) => setTimeout(() => { order.push(ms); done(); }, ms));\n\
         const slow = await Promise.race([tools.demo.read_json({ path: 'a.json' }), sleep(5_000)]);\n\
         const ticks: number[] = [];\n\
         const ticker = setInterval(() => ticks.push(Date.now()), 20_000);\n\
         await Promise.all([sleep(90_000), sleep(30_000)]);\n\
         clearInterval(ticker);\n\
         return { order, slow, ticks: ticks.length };",
    );
    let entry = json!({
        "call": { "tool": "demo:read_json", "args": { "path": "a.json" } }, "value": "read",
    });
    let recording = json!({
        "format": "pml-recording/1", "script": "script.ts", "scrubbed": true,
        "world": { "seed": 1, "timeMs": 1_790_000_000_000_u64 }, "requests": [entry],
    });
    fs::write(place.path("calls.json"), recording.to_string()).unwrap();
    let began = std::time::Instant::now();
    let replayed = stdout(&place.elsewhere(&["--replay", "calls.json", "--json"]));
    let envelope: Value = serde_json::from_str(&replayed).unwrap();
    assert_eq!(
        envelope["result"],
        json!({ "order": [5_000, 30_000, 90_000], "slow": "read", "ticks": 4 })
    );
    assert!(began.elapsed().as_secs() < 10);
}

#[test]
fn searches_and_descriptions_are_recorded_too() {
    let place = Place::new(
        "const hits = await searchTools('count the words of a text', 3);\n\
         const about = await describeTool(hits[0].id);\n\
         return [hits.map((hit) => hit.id), about.description];",
    );
    let recorded = stdout(&place.live(&["--record", "calls.json"]));
    assert!(recorded.contains("demo:count_text"), "{recorded}");
    assert_eq!(
        recorded,
        stdout(&place.elsewhere(&["--replay", "calls.json"]))
    );
}

#[test]
fn wrong_usage_and_wrong_files_are_reported_before_anything_runs() {
    let place = Place::new("return 1");
    fs::write(place.path("calls.json"), "{}").unwrap();
    for (flags, expected) in [
        (&["--replay", "calls.json"][..], "not a recording"),
        (&["--replay", "gone.json"], "gone.json"),
        (&["--record", "missing"], "name it with --replay"),
        (
            &["--record", "x.json", "--replay", "calls.json"],
            "exclude each other",
        ),
        (&["--record", "no/such/folder/x.json"], "cannot be written"),
        (&["--fixtures", "x.json"], "--dry-run"),
    ] {
        let output = place.elsewhere(flags);
        assert_eq!(output.status.code(), Some(2), "{flags:?}");
        let error = text(&output.stderr);
        assert!(error.contains(expected), "{flags:?}: {error}");
    }
}

#[test]
fn a_dry_run_sends_nothing_and_lists_what_it_would_have_sent() {
    let place = Place::new(
        "const { files } = await tools.demo.list_files({});\n\
         const { id } = await tools.demo.add_note({ title: 'found', text: String(files.length) });\n\
         const text = await tools.demo.read_file({ path: files[0].path });\n\
         const wrong = await callTool('demo:read_file', { pth: 'x' });\n\
         return { id, text, wrong: wrong.error.kind };",
    );
    fs::write(
        place.path("fixtures.json"),
        r#"{ "demo:list_files": { "value": { "files": [{ "path": "made-up.txt", "bytes": 3 }] } } }"#,
    )
    .unwrap();
    let output = place.live(&["--dry-run", "--fixtures", "fixtures.json", "--json"]);
    let envelope: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(
        envelope["result"],
        json!({ "id": 1, "text": null, "wrong": "arguments" })
    );
    let planned: Vec<(&str, &str)> = envelope["planned"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| {
            let tool = call["tool"].as_str().unwrap();
            (tool, call["answer"].as_str().unwrap())
        })
        .collect();
    assert_eq!(
        planned,
        [
            ("demo:list_files", "fixture"),
            ("demo:add_note", "example"),
            ("demo:read_file", "nothing"),
            ("demo:read_file", "refusal"),
        ]
    );
    assert_eq!(envelope["planned"][2]["args"]["path"], "made-up.txt");
    assert_eq!(place.served(), 0);

    let output = place.live(&["--dry-run", "--fixtures", "fixtures.json"]);
    let printed = text(&output.stderr);
    assert!(
        printed.contains("dry run: 4 calls, nothing was sent"),
        "{printed}"
    );
    assert!(
        printed.contains("demo:add_note {\"title\":\"found\",\"text\":\"1\"}"),
        "{printed}"
    );
}

#[test]
fn a_dry_run_takes_recorded_answers_before_examples() {
    let place = Place::new("return (await tools.demo.list_files({})).files.length;");
    assert_eq!(stdout(&place.live(&["--record", "calls.json"])), "3\n");
    let output = place.live(&["--dry-run", "--replay", "calls.json"]);
    assert_eq!(stdout(&output), "3\n");
    assert!(text(&output.stderr).contains("answered by the recording"));
    assert_eq!(place.served(), 1);
    // Without the recording the schema's example has one file.
    assert_eq!(stdout(&place.live(&["--dry-run"])), "1\n");
}

#[test]
fn a_dry_run_meets_the_policy_and_the_budgets() {
    let script = "const kinds = [];\n\
        for (const tool of ['demo:delete_note', 'demo:list_notes', 'demo:list_notes']) {\n\
          const { error } = await callTool(tool, tool.endsWith('s') ? {} : { id: 1 });\n\
          kinds.push(error?.kind ?? 'ok');\n\
        }\n\
        return kinds;";
    let policy = json!({ "deny": ["*:delete_*"], "budget": { "calls": 1 } });
    let place = Place::with_policy(script, policy);
    let output = place.live(&["--dry-run", "--json"]);
    let envelope: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(envelope["result"], json!(["denied", "ok", "calls"]));
    assert_eq!(place.served(), 0);
}
