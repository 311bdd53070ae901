//! What runs teach: their traces, `pml suggest`, `pml learn`, and the plans of `search_tools`.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::gateway::{Place, demo};
use crate::serve::driver::{StdioClient, text};

const READ_REPORT: &str = "// Show the report of a folder\n\
    const listed = await tools.demo.list_files({ path: 'reports' });\n\
    const name = listed.files[0].path;\n\
    return await tools.demo.read_file({ path: name });";

/// A place with the demo server over a folder of reports.
fn place(extra: Value) -> Place {
    let place = Place::empty();
    let reports = place.folder().join("data/reports");
    fs::create_dir_all(&reports).unwrap();
    fs::write(reports.join("may.txt"), "jane.doe@example.com paid").unwrap();
    let mut server = demo(&place.folder().join("data"));
    server["trust"] = json!("annotations");
    let configuration = json!({ "mcpServers": { "demo": server }, "pml": extra });
    fs::write(place.file(), configuration.to_string()).unwrap();
    place
}

fn traces(place: &Place) -> Vec<PathBuf> {
    let home = place.folder().parent().unwrap().to_owned();
    let folder = home.join(".local/share/pml/learn");
    let files = fs::read_dir(folder).into_iter().flatten();
    files.map(|entry| entry.unwrap().path()).collect()
}

fn printed(place: &Place, args: &[&str]) -> String {
    let output = place.run(args);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn runs_leave_traces_from_which_plans_are_suggested_until_they_are_forgotten() {
    let place = place(json!({}));
    for _ in 0..3 {
        place.result(READ_REPORT);
    }
    let files = traces(&place);
    assert_eq!(files.len(), 1);
    let kept = fs::read_to_string(&files[0]).unwrap();
    assert_eq!(kept.lines().count(), 3);
    assert!(kept.contains("Show the report of a folder"), "{kept}");
    assert!(!kept.contains("jane.doe"), "{kept}");
    assert!(!kept.contains("may.txt"), "{kept}");

    let plan = printed(&place, &["suggest", "--json", "show", "the", "report"]);
    let plan: Value = serde_json::from_str(&plan).unwrap();
    let tools: Vec<&str> = plan["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|task| task["tool"].as_str().unwrap())
        .collect();
    assert_eq!(tools, ["demo:list_files", "demo:read_file"]);
    let from = plan["workflow"]["tasks"][1]["args"]["path"]
        .as_str()
        .unwrap();
    assert!(from.starts_with("$OUTPUT[t1].files[0]"), "{plan:#}");
    let confidence = plan["confidence"].as_f64().unwrap();
    assert!((0.0..=1.0).contains(&confidence));

    let explained = printed(&place, &["learn", "explain", "demo:read_file"]);
    assert!(
        explained.contains("files[*].path of demo:list_files (3)"),
        "{explained}"
    );
    let graph = printed(&place, &["learn", "graph"]);
    assert!(
        graph.contains("\"demo:list_files\" -> \"demo:read_file\""),
        "{graph}"
    );
    let svg = printed(&place, &["learn", "graph", "--format", "svg"]);
    assert!(
        svg.starts_with("<svg") && svg.contains("demo:read_file"),
        "{svg}"
    );
    let stats = printed(&place, &["learn", "stats", "--json"]);
    let stats: Value = serde_json::from_str(&stats).unwrap();
    assert_eq!((&stats["runs"], &stats["calls"]), (&json!(3), &json!(6)));

    let output = place.run(&["learn", "forget"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("deleted 3 traces"));
    assert!(traces(&place).is_empty());
}

#[test]
fn a_run_leaves_no_trace_if_it_is_turned_off_and_a_failed_one_teaches_nothing() {
    let silent = place(json!({ "learn": false }));
    silent.result(READ_REPORT);
    assert!(traces(&silent).is_empty());

    let place = place(json!({}));
    let failed =
        place.script("await tools.demo.list_files({ path: 'reports' }); throw new Error('no')");
    assert_eq!(failed["ok"], false);
    let stats: Value =
        serde_json::from_str(&printed(&place, &["learn", "stats", "--json"])).unwrap();
    assert_eq!(
        (&stats["failed"], &stats["learnedFrom"]),
        (&json!(1), &json!(0))
    );
}

#[test]
fn a_search_of_a_client_shows_the_plan_of_its_own_runs() {
    let place = place(json!({}));
    for _ in 0..12 {
        place.result(READ_REPORT);
    }
    let mut client = StdioClient::open(&place, &[]);
    let started = Instant::now();
    loop {
        let query = json!({ "query": "show the report of a folder" });
        let answer = client.call("search_tools", query);
        let answer = text(&answer).to_owned();
        if let Some((_, plan)) = answer.split_once("Likely plan (") {
            assert!(
                plan.contains("demo:list_files") && plan.contains("demo:read_file"),
                "{plan}"
            );
            assert!(plan.len() <= 400, "{plan}");
            break;
        }
        assert!(
            started.elapsed() < Duration::from_secs(30),
            "no plan: {answer}"
        );
        std::thread::sleep(Duration::from_millis(200));
    }
    client.close();
}
