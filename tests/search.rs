//! `pml search`, `pml index` and `searchTools`, with the real model and a real index.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::gateway::{Place, demo, odd};
use crate::support::onnx_runtime;

const MANY: usize = 400;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A home with the demo server, the ONNX runtime and, if `many`, a server of many tools.
fn place(many: bool) -> Place {
    let folder = std::env::temp_dir();
    let mut servers = json!({ "demo": demo(&folder) });
    if many {
        servers["odd"] = odd(&["--tools", &MANY.to_string()]);
    }
    Place::with_servers(servers)
}

fn succeeded(output: Output) -> Output {
    assert!(
        output.status.success(),
        "{}{}",
        text(&output.stdout),
        text(&output.stderr)
    );
    output
}

fn search(place: &Place, args: &[&str]) -> Vec<Value> {
    let output = place.run(&[&["search", "--json", "--explain"], args].concat());
    let reply: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", text(&output.stderr)));
    reply["tools"].as_array().unwrap().clone()
}

fn stats(place: &Place) -> Value {
    let output = succeeded(place.run(&["index", "--stats", "--json"]));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The folder of the only index of a home.
fn index(place: &Place) -> PathBuf {
    PathBuf::from(stats(place)["folder"].as_str().unwrap())
}

#[test]
fn a_tool_is_found_by_what_it_means_and_by_its_name() {
    let place = place(false);
    let found = search(&place, &["tally", "the", "letters", "of", "my", "essay"]);
    assert_eq!(found[0]["id"], "demo:count_text", "{found:#?}");
    assert!(found[0]["parts"]["whole"].is_number(), "{found:#?}");
    assert!(
        found[0]["signature"]
            .as_str()
            .unwrap()
            .starts_with("tools.demo.count_text(")
    );
    let named = search(&place, &["--limit", "1", "READ_FILE"]);
    assert_eq!(
        (&named[0]["id"], &named[0]["score"]),
        (&json!("demo:read_file"), &json!(1.0))
    );
    let script = "return (await searchTools('tally the letters of my essay', 1))[0].id";
    assert_eq!(place.result(script), "demo:count_text");
}

#[test]
fn filters_leave_out_what_is_not_wanted() {
    let place = place(true);
    let all = search(&place, &["delete a note"]);
    assert_eq!(all[0]["id"], "demo:delete_note");
    let harmless = search(
        &place,
        &["--not-destructive", "--limit", "50", "delete a note"],
    );
    assert!(!harmless.is_empty());
    assert!(harmless.iter().all(|hit| hit["id"] != "demo:delete_note"));
    let others = search(
        &place,
        &["--server", "o*", "--threshold", "0", "delete a note"],
    );
    assert!(
        others
            .iter()
            .all(|hit| hit["id"].as_str().unwrap().starts_with("odd:"))
    );
}

#[test]
fn odd_queries_have_sane_answers() {
    let place = place(false);
    for query in [
        "🚀".repeat(500).as_str(),
        "'; DROP TABLE tools; --",
        "prends rendez-vous chez le dentiste",
        "zyxomma",
        "\\",
    ] {
        let output = place.run(&["search", "--json", "--limit", "50", query]);
        let reply: Value = serde_json::from_slice(&output.stdout).unwrap();
        let hits = reply["tools"].as_array().unwrap();
        assert!(hits.len() < 5, "{query} found {hits:#?}");
    }
    let output = place.run(&["search", " "]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("the query is empty"));
}

#[test]
fn a_tool_that_a_server_adds_is_found() {
    let place = Place::with_servers(json!({ "odd": odd(&[]) }));
    let found = place.result(
        "const isFound = async () =>
           (await searchTools('grown 0', 5)).some((tool) => tool.id === 'odd:grown_0');
         const before = await isFound();
         await tools.odd.grow();
         // The notification arrives asynchronously.
         for (let tries = 0; tries < 50 && !(await isFound()); tries++) {
           await new Promise((resolve) => setTimeout(resolve, 50));
         }
         return [before, await isFound()];",
    );
    assert_eq!(found, json!([false, true]));
}

#[test]
fn two_processes_index_at_once() {
    let place = place(true);
    let begin = || {
        let mut command = place.command(&["index", "--json"]);
        command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let both = [begin(), begin()];
    let tools: Vec<Value> = both
        .into_iter()
        .map(|child| {
            let output = succeeded(child.wait_with_output().unwrap());
            let stats: Value = serde_json::from_slice(&output.stdout).unwrap();
            stats["tools"].clone()
        })
        .collect();
    assert_eq!(tools[0], tools[1]);
    assert!(tools[0].as_u64().unwrap() as usize > MANY, "{tools:?}");
}

#[test]
fn an_index_whose_maker_was_killed_is_completed() {
    let place = place(true);
    let mut child = place
        .command(&["index"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // The first rows are on disk, the last ones are not.
    let began = Instant::now();
    let folder = index(&place);
    while !folder.join("tools.lance").exists() {
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "nothing was written"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    succeeded(place.run(&["index"]));
    assert!(stats(&place)["tools"].as_u64().unwrap() as usize > MANY);
}

#[test]
fn a_damaged_index_is_rebuilt_and_an_unchanged_one_is_left_alone() {
    let place = place(false);
    succeeded(place.run(&["index"]));
    let whole = stats(&place);
    succeeded(place.run(&["index"]));
    assert_eq!(
        stats(&place),
        whole,
        "nothing changed, and nothing was written"
    );

    let damaged = overwrite(&index(&place).join("tools.lance"));
    assert!(damaged > 0);
    succeeded(place.run(&["index"]));
    assert_eq!(stats(&place)["tools"], whole["tools"]);
    let found = search(&place, &["count the words of a text"]);
    assert_eq!(found[0]["id"], "demo:count_text");
}

/// Overwrites every file below a folder with garbage, and returns their number.
fn overwrite(folder: &Path) -> usize {
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            count += overwrite(&path);
        } else {
            fs::write(&path, b"no longer what it was").unwrap();
            count += 1;
        }
    }
    count
}

#[test]
fn without_a_library_the_search_is_lexical_and_warns_once() {
    let place = place(false);
    let output = place
        .command(&[
            "run",
            "-e",
            "await searchTools('notes'); return (await searchTools('count words'))[0].id",
        ])
        // pip cannot download anything.
        .env("ORT_DYLIB_PATH", "")
        .env("PIP_NO_INDEX", "1")
        .output()
        .unwrap();
    let printed = text(&output.stderr);
    assert_eq!(text(&output.stdout).trim(), "demo:count_text", "{printed}");
    assert_eq!(
        printed.matches("searched by words alone").count(),
        1,
        "{printed}"
    );
    assert!(printed.contains("ORT_DYLIB_PATH"), "{printed}");
}

#[test]
fn a_model_with_a_flipped_bit_is_refused() {
    let place = place(false);
    let folder = place.folder().join("model");
    fs::create_dir(&folder).unwrap();
    for entry in fs::read_dir(crate::support::repository().join("third_party/minilm")).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, folder.join(path.file_name().unwrap())).unwrap();
    }
    let file = folder.join("model_int8.onnx");
    let mut bytes = fs::read(&file).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&file, bytes).unwrap();
    succeeded(place.run(&["model", "use", "model"]));
    let output = place.run(&["search", "count words"]);
    let printed = text(&output.stderr);
    assert!(
        printed.contains("model_int8.onnx of the model is damaged"),
        "{printed}"
    );
    assert!(
        text(&output.stdout).contains("demo:count_text"),
        "{printed}"
    );
    succeeded(place.run(&["model", "use", "all-MiniLM-L6-v2-int8"]));
    let listed = text(&place.run(&["model", "list"]).stdout);
    assert!(listed.starts_with("* all-MiniLM-L6-v2-int8"), "{listed}");
    let printed = text(&place.run(&["model", "path"]).stdout);
    assert!(
        printed.contains(&*onnx_runtime().to_string_lossy()),
        "{printed}"
    );
}
