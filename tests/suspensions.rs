//! Sudden changes of tools: how they are reported, what they withdraw, and how a person lifts that.

use std::time::Duration;

use serde_json::{Value, json};

use crate::gateway::Place;
use crate::serve::driver::{HttpServer, StdioClient};
use crate::support::repository;
use crate::telemetry::get;

/// A place with the server `ctx`, whose tools may not change suddenly.
fn place(suspend: &str) -> Place {
    let script = repository().join("tests/telemetry/context_server.py");
    let anomalies = json!({
        "window": "1s", "minCalls": 5, "sensitivity": 3, "action": "suspend", "suspend": suspend,
    });
    Place::with(&json!({
        "mcpServers": { "ctx": { "command": "python3", "args": ["-u", script] } },
        "pml": { "telemetry": { "anomalies": anomalies }, "audit": { "path": "audit" } },
    }))
}

/// Seven ordinary windows, then one in which all calls fail. Returns what the next call gets.
const CHANGE: &str = "const call = (fails) => tools.ctx.context({ fails }).catch((error) => error.message); \
    for (let n = 0; n < 7; n++) { \
        await Promise.all([1, 2, 3, 4, 5].map(() => call(false))); \
        await new Promise((done) => setTimeout(done, 1050)); } \
    await Promise.all(Array.from({ length: 12 }, () => call(true))); \
    return await call(false)";

/// What a call of each tool gets: `null`, or the message of its error.
const PROBE: &str = "const call = (tool) => tool({}).then(() => null, (error) => error.message); \
    return [await call(tools.ctx.context), await call(tools.ctx.fails)]";

fn probe(client: &mut StdioClient) -> (bool, bool) {
    let outcome = client.run(PROBE);
    let is_refused = |index: usize| {
        let message = outcome["result"][index].as_str();
        message.is_some_and(|message| message.contains("is withdrawn until a person has looked"))
    };
    (is_refused(0), is_refused(1))
}

fn events(place: &Place, kind: &str) -> Vec<Value> {
    let output = place.run(&["audit", "query", "--type", kind, "--json"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

fn listed(place: &Place) -> Vec<(String, String)> {
    let output = place.run(&["suspensions", "--json"]);
    assert!(output.status.success(), "{output:?}");
    let listed: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let text = |one: &Value, key: &str| one[key].as_str().expect("a text").to_owned();
    let all = listed["suspensions"].as_array().expect("a list");
    all.iter()
        .map(|one| (text(one, "what"), text(one, "name")))
        .collect()
}

#[test]
fn a_tool_that_changes_suddenly_is_withdrawn_until_a_person_lifts_it() {
    let place = place("tool");
    let mut client = StdioClient::open(&place, &[]);
    client.ask("logging/setLevel", json!({ "level": "warning" }));
    let outcome = client.run(CHANGE);
    let refusal = outcome["result"]
        .as_str()
        .unwrap_or_else(|| panic!("{outcome}"));
    assert!(
        refusal.contains("the tool ctx:context is withdrawn until a person has looked at it: "),
        "{refusal}"
    );
    assert!(refusal.contains("`pml suspensions`"), "{refusal}");
    assert_eq!(probe(&mut client), (true, false), "other tools go on");

    // The client is told, with the numbers.
    let told = client.notices.iter().find(|notice| {
        notice["method"] == "notifications/message" && notice["params"]["logger"] == "pml"
    });
    let told = told.unwrap_or_else(|| panic!("{:#?}", client.notices));
    assert_eq!(told["params"]["level"], "warning");
    let text = told["params"]["data"].as_str().expect("a text");
    assert!(
        text.contains("standard deviations") && text.contains("it is withdrawn"),
        "{text}"
    );

    let found = events(&place, "pml.anomaly");
    let event = found.first().expect("an event");
    assert_eq!(event["subject"], "ctx:context");
    assert_eq!(event["data"]["suspended"], true);
    assert!(
        event["data"]["deviations"].as_f64().expect("a number") >= 3.0,
        "{event}"
    );

    // A restart lifts nothing, and commands refuse the same.
    client.close();
    let mut client = StdioClient::open(&place, &[]);
    assert_eq!(probe(&mut client), (true, false));
    let run = place.result(PROBE);
    assert!(
        run[0]
            .as_str()
            .is_some_and(|text| text.contains("is withdrawn")),
        "{run}"
    );
    // A person can look.
    assert!(place.run(&["call", "ctx:context"]).status.success());

    assert_eq!(
        listed(&place),
        [("tool".to_owned(), "ctx:context".to_owned())]
    );
    let wrong = place.run(&["suspensions", "lift", "ctx:fails"]);
    assert_eq!(wrong.status.code(), Some(1), "{wrong:?}");
    let wrong = place.run(&["suspensions", "lift", "context"]);
    assert_eq!(wrong.status.code(), Some(2), "{wrong:?}");
    let lifted = place.run(&["suspensions", "lift", "ctx:context"]);
    assert!(lifted.status.success(), "{lifted:?}");
    std::thread::sleep(Duration::from_millis(1100));
    assert_eq!(
        probe(&mut client),
        (false, false),
        "the running server follows"
    );
    client.close();
    let lifted = events(&place, "pml.suspension.lifted");
    assert_eq!(lifted.len(), 1, "{lifted:#?}");
    assert_eq!(lifted[0]["subject"], "ctx:context");
    assert_ne!(lifted[0]["principal"], Value::Null);
    assert!(listed(&place).is_empty());
}

#[test]
fn the_principal_behind_a_change_is_withdrawn_and_counted_in_the_metrics() {
    let place = place("both");
    let mut client = StdioClient::open(&place, &[]);
    client.run(CHANGE);
    assert_eq!(
        probe(&mut client),
        (true, true),
        "all calls of the principal"
    );
    client.close();
    let all = listed(&place);
    assert!(
        all.contains(&("principal".to_owned(), "local".to_owned())),
        "{all:?}"
    );
    let event = events(&place, "pml.anomaly").remove(0);
    assert_eq!(event["data"]["caller"]["principal"], "local", "{event}");
    assert_eq!(event["data"]["caller"]["suspended"], true);

    let server = HttpServer::open(&place, &[]);
    let (status, metrics) = get(server.authority(), "/metrics", "");
    assert_eq!(status, 200);
    assert!(
        metrics.contains("pml_suspended{what=\"principal\"} 1\n"),
        "{metrics}"
    );
    drop(server);
    let lifted = place.run(&["suspensions", "lift", "--all"]);
    assert!(lifted.status.success(), "{lifted:?}");
    assert!(listed(&place).is_empty());
    let mut client = StdioClient::open(&place, &[]);
    assert_eq!(probe(&mut client), (false, false));
    client.close();
}

#[test]
fn a_file_of_suspensions_that_is_damaged_is_an_error_that_says_what_to_do() {
    let place = place("tool");
    let folder = place.folder().join("../.local/share/pml/suspensions");
    std::fs::create_dir_all(&folder).expect("a folder");
    assert!(place.run(&["suspensions"]).status.success());
    let config = std::fs::canonicalize(place.file()).expect("the configuration is there");
    let name = pml_audit::leaf_hash(config.as_os_str().as_encoded_bytes()).to_string();
    let file = folder.join(&name[..16]).with_extension("json");
    std::fs::write(&file, "{").expect("the file is written");
    for command in [&["suspensions"][..], &["serve"], &["run", "-e", "1"]] {
        let output = place.run(command);
        assert_eq!(output.status.code(), Some(2), "{command:?} {output:?}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("then remove it"), "{said}");
    }
}
