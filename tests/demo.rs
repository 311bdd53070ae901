//! `pml demo-server`: all its tools, through the commands of the binary.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::gateway::{Place, demo};
use crate::support::{pml, repository};

/// A folder with two files, and a configuration with the demo server over that folder.
fn place() -> (TempDir, Place) {
    let data = tempfile::tempdir().unwrap();
    fs::write(
        data.path().join("a.json"),
        r#"{ "versions": ["1.2.3", "4.5.6"] }"#,
    )
    .unwrap();
    fs::write(data.path().join("b.txt"), "first line\nsecond line\n").unwrap();
    let place = Place::with_servers(json!({ "demo": demo(data.path()) }));
    (data, place)
}

#[test]
fn every_tool_answers_a_script() {
    let (_data, place) = place();
    let result = place.result(
        "const { demo } = tools;
         const { id } = await demo.add_note({ title: 'one', text: 'the text' });
         const { notes } = await demo.list_notes();
         const note = await demo.read_note({ id });
         return {
           files: (await demo.list_files()).files.map((file) => file.path),
           head: await demo.read_file({ path: 'b.txt', head: 1 }),
           found: await demo.search_text({ query: 'SECOND' }),
           version: await demo.read_json({ path: 'a.json', pointer: '/versions/1' }),
           part: await demo.query_json({ json: '{ \"a\": [7] }', pointer: '/a/0' }),
           counted: await demo.count_text({ text: 'two words' }),
           replaced: await demo.replace_text({ text: 'aXb', find: 'X', replace: '-' }),
           titles: notes.map((note) => note.title), text: note.text,
           deleted: (await demo.delete_note({ id })).id === id,
           waited: await demo.slow({ ms: 1 }),
         };",
    );
    let expected = json!({
        "files": ["a.json", "b.txt"],
        "head": "first line",
        "found": { "matches": [{ "path": "b.txt", "line": 2, "text": "second line" }], "more": false },
        "version": "4.5.6",
        "part": 7,
        "counted": { "lines": 1, "words": 2, "characters": 9 },
        "replaced": "a-b",
        "titles": ["one"], "text": "the text",
        "deleted": true,
        "waited": { "waited": 1 },
    });
    assert_eq!(result, expected);
}

#[test]
fn the_flaky_tool_works_when_it_is_tried_again() {
    let (_data, place) = place();
    let outcomes = place.result(
        "const outcomes = [];
         for (let n = 0; n < 3; n++) {
           const answer = await callTool('demo:flaky', { key: 'k', failures: 2 });
           outcomes.push(answer.success ? answer.result.attempts : answer.error.message);
         }
         return outcomes;",
    );
    assert_eq!(
        outcomes,
        json!(["failure 1 of 2; try again", "failure 2 of 2; try again", 3])
    );
}

#[test]
fn nothing_outside_its_folder_is_read() {
    let (_data, place) = place();
    for path in ["../secret", "/etc/hostname"] {
        let arguments = json!({ "path": path }).to_string();
        let output = place.run(&["call", "demo:read_file", &arguments]);
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{printed}");
        assert!(printed.contains("outside the folder"), "{printed}");
    }
}

#[test]
fn progress_is_shown_while_a_tool_works() {
    let (_data, place) = place();
    let steps = "demo:slow: 1 of 2\ndemo:slow: 2 of 2\n";
    let call = place.run(&["call", "demo:slow", r#"{ "ms": 60, "steps": 2 }"#]);
    assert_eq!(String::from_utf8_lossy(&call.stderr), steps);
    let script = "return await tools.demo.slow({ ms: 60, steps: 2 })";
    let run = place.run(&["run", "-e", script]);
    assert_eq!(String::from_utf8_lossy(&run.stderr), steps);
    let alone = place.run(&["run", "--json", "-e", script]);
    assert_eq!(String::from_utf8_lossy(&alone.stderr), "");
}

#[test]
fn a_folder_that_is_none_is_refused_in_one_sentence() {
    for (folder, expected) in [
        (
            "nowhere",
            "error: nowhere cannot be served: No such file or directory",
        ),
        (
            "README.md",
            "error: README.md is a file; name the folder that the server may read",
        ),
    ] {
        let output = pml()
            .current_dir(repository())
            .args(["demo-server", folder])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2));
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn the_journal_has_a_line_for_every_call() {
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("journal");
    let place = Place::with_servers(json!({
        "demo": { "command": "pml", "args": ["demo-server", "--noise", "--journal", journal] },
    }));
    place.result("for (const text of ['a', 'b']) await tools.demo.count_text({ text })");
    let lines: Vec<Value> = fs::read_to_string(&journal)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let expected = ["a", "b"].map(|text| json!({ "tool": "count_text", "args": { "text": text } }));
    assert_eq!(lines, expected);
}

#[test]
fn a_request_for_something_a_server_does_not_offer_fails_with_a_message() {
    let (_data, place) = place();
    let messages = place.result(
        "const messageOf = (failed) => failed.then(() => 'nothing', (error) => error.message);
         return [
           await messageOf(readResource('demo', 'file:///x')),
           await messageOf(getPrompt('demo', 'x')),
         ];",
    );
    assert_eq!(
        messages,
        json!([
            "server `demo` has no resources",
            "server `demo` has no prompts"
        ])
    );
}
