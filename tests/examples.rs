//! The examples: their tests pass without servers, and their recordings give the same results as a
//! live run.

use std::process::Output;

use crate::support::{pml, repository};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn run(args: &[&str]) -> Output {
    let home = tempfile::tempdir().unwrap();
    pml()
        .args(args)
        .current_dir(repository())
        .env_clear()
        .env("HOME", home.path())
        .env("CI", "true")
        .output()
        .unwrap()
}

/// A folder of the examples, its script, and the script's arguments.
const EXAMPLES: [(&str, &str, &[&str]); 7] = [
    ("config-audit", "audit", &[]),
    ("changelog", "changelog", &[]),
    ("join", "join", &[]),
    ("pagination", "pages", &[]),
    ("retry", "retry", &[]),
    ("batch", "batch", &[]),
    ("durable", "digest", &[]),
];

#[test]
fn the_tests_of_the_examples_pass_with_no_server() {
    let output = run(&["test", "examples/"]);
    let printed = text(&output.stdout);
    assert!(output.status.success(), "{printed}{}", text(&output.stderr));
    assert!(printed.contains("passed in 7 files"), "{printed}");
}

#[test]
fn every_example_replays() {
    for (folder, script, args) in EXAMPLES {
        let recording = format!("examples/{folder}/{script}.recording.json");
        let file = format!("examples/{folder}/{script}.ts");
        let output = run(&[&["run", "--replay", &recording, &file, "--"], args].concat());
        assert!(output.status.success(), "{file}: {}", text(&output.stderr));
    }
}

/// The changelog's server is a Python package and its repository is gone; the others run with the
/// demo server and give the results of their recordings.
#[test]
fn the_examples_with_the_demo_server_run_live() {
    for (folder, script, args) in EXAMPLES {
        if folder == "changelog" {
            continue;
        }
        let servers = format!("examples/{folder}/servers.json");
        let recording = format!("examples/{folder}/{script}.recording.json");
        let file = format!("examples/{folder}/{script}.ts");
        let live = run(&[&["run", "--config", &servers, &file, "--"], args].concat());
        assert!(live.status.success(), "{file}: {}", text(&live.stderr));
        let replayed = run(&[&["run", "--replay", &recording, &file, "--"], args].concat());
        assert_eq!(text(&live.stdout), text(&replayed.stdout), "{file}");
    }
}

#[test]
fn no_recording_names_a_place_of_the_machine_it_was_made_on() {
    for (folder, script, _) in EXAMPLES {
        let file = repository().join(format!("examples/{folder}/{script}.recording.json"));
        let kept = std::fs::read_to_string(&file).unwrap();
        for place in ["/home/", "/root/", "/tmp/"] {
            assert!(!kept.contains(place), "{}: {place}", file.display());
        }
    }
}

/// The example of durable runs, killed in the middle and resumed.
#[test]
fn the_durable_example_survives_a_kill() {
    let home = tempfile::tempdir().unwrap();
    let command = |args: &[&str]| {
        let mut command = pml();
        let path = crate::support::binary().parent().unwrap().to_owned();
        command
            .args(args)
            .current_dir(repository())
            .env("HOME", home.path())
            .env_remove("XDG_DATA_HOME")
            .env(
                "PATH",
                format!(
                    "{}:{}",
                    path.display(),
                    std::env::var("PATH").unwrap_or_default()
                ),
            );
        command
    };
    let config = "examples/durable/servers.json";
    let words = [
        "run",
        "--durable",
        "--run-id",
        "digest",
        "--config",
        config,
        "examples/durable/digest.ts",
    ];
    let mut run = command(&words)
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_millis(150));
    run.kill().unwrap();
    run.wait().unwrap();
    let shown = command(&["runs", "show", "digest", "--json"])
        .output()
        .unwrap();
    if !shown.status.success() {
        // Killed before its first call.
        assert!(command(&words).output().unwrap().status.success());
        return;
    }
    let shown: serde_json::Value = serde_json::from_slice(&shown.stdout).unwrap();
    for call in shown["unknown"].as_array().unwrap() {
        let call = call["call"].to_string();
        assert!(
            command(&["runs", "settle", "digest", &call, "--send"])
                .output()
                .unwrap()
                .status
                .success()
        );
    }
    let resumed = command(&["resume", "digest"]).output().unwrap();
    assert!(resumed.status.success(), "{}", text(&resumed.stderr));
    assert_eq!(
        text(&resumed.stdout).matches(" words").count(),
        10,
        "{}",
        text(&resumed.stdout)
    );
}
