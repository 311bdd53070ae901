//! Session storage: values and results that outlive a script.

use serde_json::json;

use super::driver::{StdioClient, envelope, text};
use crate::gateway::{Place, demo};

fn open() -> (tempfile::TempDir, Place, StdioClient) {
    let data = tempfile::tempdir().unwrap();
    let place = Place::with_servers(json!({ "demo": demo(data.path()) }));
    let lines = StdioClient::open(&place, &[]);
    (data, place, lines)
}

#[test]
fn a_stored_value_is_there_in_the_next_script() {
    let (_data, _place, mut client) = open();
    client.run("await store('seen', { ids: [1, 2] }); await store('odd', undefined)");
    let envelope = client
        .run("return [await load('seen'), await load('odd'), (await load('never')) === undefined]");
    assert_eq!(
        envelope["result"],
        json!([{ "ids": [1, 2] }, null, true]),
        "{envelope}"
    );
}

#[test]
fn one_session_does_not_see_what_another_stored() {
    let (_data, place, mut client) = open();
    client.run("await store('mine', 1)");
    let mut other = StdioClient::open(&place, &[]);
    assert_eq!(
        other.run("return (await load('mine')) === undefined")["result"],
        true
    );
}

#[test]
fn a_result_that_is_too_large_is_kept_and_can_be_loaded() {
    let (_data, _place, mut client) = open();
    let result = client.call(
        "execute_code",
        json!({ "code": "return Array.from({ length: 100000 }, (_, n) => ({ n }))" }),
    );
    assert_eq!(result["isError"], false, "{result}");
    assert!(
        text(&result).len() < 2_000,
        "{} characters",
        text(&result).len()
    );
    let truncated = envelope(&result)["truncated"].clone();
    assert!(
        truncated["bytes"].as_u64().unwrap() > 800_000,
        "{truncated}"
    );
    assert!(
        truncated["preview"]
            .as_str()
            .unwrap()
            .starts_with(r#"[{"n":0},"#),
        "{truncated}"
    );
    let handle = truncated["handle"].as_str().unwrap();
    assert!(truncated["hint"].as_str().unwrap().contains(handle));
    let envelope = client.run(&format!(
        "const all = await load('{handle}'); return [all.length, all[99999].n]"
    ));
    assert_eq!(envelope["result"], json!([100_000, 99_999]), "{envelope}");
}

#[test]
fn a_large_answer_of_a_single_call_is_kept_as_well() {
    let (data, _place, mut client) = open();
    std::fs::write(data.path().join("big.txt"), "line\n".repeat(20_000)).unwrap();
    let result = client.call(
        "call_tool",
        json!({ "tool": "demo:read_file", "args": { "path": "big.txt" } }),
    );
    let handle = envelope(&result)["truncated"]["handle"]
        .as_str()
        .unwrap()
        .to_owned();
    let envelope = client.run(&format!("return (await load('{handle}')).length"));
    assert_eq!(envelope["result"], 100_000);
}

#[test]
fn a_handle_of_another_session_is_unknown() {
    let (_data, _place, mut client) = open();
    let envelope = client.run("return await load('r_abcdefghij')");
    assert_eq!(envelope["ok"], false);
    assert!(
        envelope["error"]["message"]
            .as_str()
            .unwrap()
            .contains("make the result again"),
        "{envelope}"
    );
}

#[test]
fn what_is_stored_is_bounded() {
    let (_data, _place, mut client) = open();
    let code = "const value = 'x'.repeat(10_000_000); let n = 0; try { for (;; n++) await store('k' + n, value) } catch (error) { return [n, error.kind, error.message] }";
    let result = client.run(code)["result"].clone();
    assert_eq!(result[0], 13, "{result}");
    assert!(result[2].as_str().unwrap().contains("128 MiB"), "{result}");
}
