//! `store` and `load` without a session, and calls that need an approval.

use serde_json::{Value, json};

use super::{Place, stdout, text};

#[test]
fn what_a_script_stores_it_loads_in_every_kind_of_run() {
    let place = Place::new(
        "const before = await load('seen');\n\
         await store('seen', { names: ['a'] });\n\
         const { name } = await tools.demo.read_json({ path: 'a.json' }) ?? {};\n\
         return [before ?? 'nothing', await load('seen'), name];",
    );
    let seen = json!(["nothing", { "names": ["a"] }, "a"]);
    let result = |flags: &[&str]| -> Value {
        let envelope = stdout(&place.live(&[flags, &["--json"]].concat()));
        serde_json::from_str::<Value>(&envelope).unwrap()["result"].clone()
    };
    assert_eq!(result(&[]), seen);
    assert_eq!(result(&["--record", "calls.json"]), seen);
    assert_eq!(
        result(&["--replay", "calls.json", "--record", "missing"]),
        seen
    );
    assert_eq!(result(&["--dry-run", "--replay", "calls.json"]), seen);
    let replayed = stdout(&place.elsewhere(&["--replay", "calls.json", "--json"]));
    let replayed: Value = serde_json::from_str(&replayed).unwrap();
    assert_eq!(replayed["result"], seen);
    // The recording has only the call.
    assert_eq!(place.recording()["requests"].as_array().unwrap().len(), 1);
}

#[test]
fn a_call_that_a_person_has_to_allow_is_refused_however_it_is_run() {
    let script = "const { error } = await callTool('demo:list_notes', {});\n\
        return error?.kind ?? 'sent';";
    let place = Place::with_policy(script, json!({ "ask": ["demo:*"] }));
    for flags in [&[][..], &["--record", "calls.json"], &["--dry-run"]] {
        assert_eq!(stdout(&place.live(flags)), "denied\n", "{flags:?}");
    }
    assert_eq!(place.served(), 0);
    let printed = text(&place.live(&["--dry-run"]).stderr);
    assert!(printed.contains("refused: "), "{printed}");
}

#[test]
fn a_dry_run_answers_with_what_earlier_results_looked_like() {
    let place = Place::new("return await tools.demo.read_json({ path: 'a.json' });");
    let answer = |flags: &[&str]| -> (Value, Value) {
        let envelope = stdout(&place.live(&[flags, &["--json"]].concat()));
        let envelope: Value = serde_json::from_str(&envelope).unwrap();
        (envelope["result"].clone(), envelope["planned"].clone())
    };
    let (result, planned) = answer(&["--dry-run"]);
    assert_eq!(
        (result, &planned[0]["answer"]),
        (Value::Null, &json!("nothing"))
    );
    stdout(&place.live(&[]));
    let (result, planned) = answer(&["--dry-run"]);
    assert_eq!(planned[0]["answer"], "observed");
    assert_eq!(result, json!({ "name": "text" }));
    assert_eq!(place.served(), 1);
    let printed = text(&place.live(&["--dry-run"]).stderr);
    assert!(
        printed.contains("started to list their tools: demo"),
        "{printed}"
    );
    assert!(
        printed.contains("answered by an example of earlier results"),
        "{printed}"
    );
}
