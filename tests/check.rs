//! `pml check`: mistakes found without running anything.

use std::fs;
use std::path::Path;
use std::process::Output;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::gateway::{Place, demo};
use crate::support::repository;
use crate::typings::compiler;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A home with the demo server, whose tools are already in the catalog.
fn place(data: &Path) -> Place {
    let place = Place::with_servers(json!({ "demo": demo(data) }));
    let listed = place.run(&["tools"]);
    assert_eq!(listed.status.code(), Some(0), "{}", text(&listed.stderr));
    place
}

fn check(place: &Place, flags: &[&str], script: &str) -> Output {
    fs::write(place.folder().join("script.ts"), script).unwrap();
    place.run(&[&["check"], flags, &["script.ts"]].concat())
}

const WRONG: &str = "const { files } = await tools.demo.list_files();
const text = await tools.demo.read_file({ pth: files[0].path });
tools.demo.add_note({ title: 'x', text });
export default text;
";

#[test]
fn mistakes_are_reported_with_their_lines_and_fixes() {
    let data = tempfile::tempdir().unwrap();
    let place = place(data.path());
    let output = check(&place, &[], WRONG);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let expected = "\
script.ts:2:43 demo:read_file: there is no argument `pth`; did you mean `path`? [wrong-arguments]

  1 | const { files } = await tools.demo.list_files();
> 2 | const text = await tools.demo.read_file({ pth: files[0].path });
    |                                           ^
  3 | tools.demo.add_note({ title: 'x', text });
  4 | export default text;

fix: write `path`

script.ts:3:1 `demo:add_note` is not awaited: if it fails, the script does not notice [floating-promise]

  1 | const { files } = await tools.demo.list_files();
  2 | const text = await tools.demo.read_file({ pth: files[0].path });
> 3 | tools.demo.add_note({ title: 'x', text });
    | ^
  4 | export default text;

fix: put `await` before it

2 mistakes in 1 script
";
    assert_eq!(text(&output.stdout), expected);
}

#[test]
fn a_script_without_mistakes_passes() {
    let data = tempfile::tempdir().unwrap();
    let place = place(data.path());
    let output = check(
        &place,
        &[],
        "return await tools.demo.list_files({ suffix: '.json' });",
    );
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    assert_eq!(text(&output.stdout), "no mistakes in 1 script\n");
    assert_eq!(text(&output.stderr), "");
}

#[test]
fn machines_get_the_same_findings_in_their_forms() {
    let data = tempfile::tempdir().unwrap();
    let place = place(data.path());
    let report = |format: &str| {
        let output = check(&place, &["--format", format], WRONG);
        assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let json: Value = serde_json::from_str(&report("json")).unwrap();
    let expected = json!({
        "file": "script.ts",
        "rule": "wrong-arguments",
        "message": "demo:read_file: there is no argument `pth`; did you mean `path`?",
        "start": { "line": 2, "column": 43 },
        "end": { "line": 2, "column": 46 },
        "fix": {
            "about": "write `path`",
            "start": { "line": 2, "column": 43 },
            "end": { "line": 2, "column": 46 },
            "replacement": "path",
        },
    });
    assert_eq!(json["findings"][0], expected);

    let sarif: Value = serde_json::from_str(&report("sarif")).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "wrong-arguments");
    let rules = &sarif["runs"][0]["tool"]["driver"]["rules"];
    let index = result["ruleIndex"].as_u64().unwrap() as usize;
    assert_eq!(rules[index]["id"], "wrong-arguments");
    let place_of = &result["locations"][0]["physicalLocation"];
    assert_eq!(place_of["artifactLocation"]["uri"], "script.ts");
    assert_eq!(place_of["region"]["startColumn"], 43);
    let replacement = &result["fixes"][0]["artifactChanges"][0]["replacements"][0];
    assert_eq!(replacement["insertedContent"]["text"], "path");

    let github = report("github");
    let expected = "::error file=script.ts,line=2,endLine=2,col=43,endColumn=46,title=pml check%3A wrong-arguments::demo:read_file: there is no argument `pth`; did you mean `path`?%0Afix: write `path`\n";
    assert_eq!(github.lines().count(), 2);
    assert!(github.starts_with(expected), "{github}");
}

#[test]
fn no_server_is_started_for_tools_that_are_known() {
    let place = Place::with_servers(json!({ "gone": { "command": "/nonexistent/server" } }));
    let script = "await tools.gone.anything();";
    let output = check(&place, &["--offline"], script);
    assert_eq!(output.status.code(), Some(0));
    assert!(
        text(&output.stderr).contains("tools were not checked"),
        "{}",
        text(&output.stderr)
    );
    // The server does not start, so its tools are not checked.
    let output = check(&place, &[], script);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    assert!(
        text(&output.stderr).contains("no tools of server `gone`"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn an_edited_configuration_is_asked_again() {
    let data = tempfile::tempdir().unwrap();
    let place = place(data.path());
    let servers = json!({ "other": demo(data.path()) });
    fs::write(place.file(), json!({ "mcpServers": servers }).to_string()).unwrap();
    let script = "await tools.demo.list_files();";
    let output = check(&place, &[], script);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stdout).contains("there is no server `demo`; there is `other`"),
        "{}",
        text(&output.stdout)
    );
    assert_eq!(check(&place, &["--offline"], script).status.code(), Some(1));
}

#[test]
fn a_wrong_argument_is_found_by_the_check_and_by_the_compiler() {
    let data = tempfile::tempdir().unwrap();
    let place = place(data.path());
    fs::write(place.folder().join("script.ts"), WRONG).unwrap();
    // node_modules/.bin links to node_modules/typescript/bin/tsc.
    let modules = compiler().ancestors().nth(3).unwrap();
    let mut path = std::ffi::OsString::from(modules.join(".bin"));
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap());
    let output = place
        .command(&["check", "--tsc", "--format", "json", "script.ts"])
        .env("PATH", path)
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", text(&output.stderr)));
    let on_line_2: Vec<&str> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|finding| finding["start"]["line"] == 2)
        .map(|finding| finding["rule"].as_str().unwrap())
        .collect();
    assert_eq!(on_line_2, ["wrong-arguments", "type-script"], "{report:#}");
    let compiled = &report["findings"][1]["message"];
    assert!(
        compiled.as_str().unwrap().contains("'pth' does not exist"),
        "{report:#}"
    );
}

#[test]
fn without_a_compiler_the_flag_says_how_to_get_one() {
    let place = Place::empty();
    fs::write(place.folder().join("script.ts"), "1").unwrap();
    let output = place
        .command(&["check", "--tsc", "script.ts"])
        .env("PATH", "")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("npm install typescript"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn the_examples_have_no_mistakes() {
    let place = Place::empty();
    let examples = repository().join("examples").canonicalize().unwrap();
    let mut scripts = Vec::new();
    let mut folders = vec![examples];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "ts") {
                scripts.push(path.to_str().unwrap().to_owned());
            }
        }
    }
    assert!(scripts.len() > 10, "{scripts:?}");
    let scripts: Vec<&str> = scripts.iter().map(String::as_str).collect();
    let output = place.run(&[&["check"][..], &scripts].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
}

/// A configuration of 500 tools, a script of 300 lines. The limit leaves room for a busy machine
/// and a debug build; `bench/src/bin/check.rs` measures the real time.
#[test]
fn a_long_script_with_500_tools_is_checked_at_once() {
    let data = tempfile::tempdir().unwrap();
    let servers: serde_json::Map<String, Value> = (0..40)
        .map(|n| (format!("demo{n}"), demo(data.path())))
        .collect();
    let place = Place::with_servers(Value::Object(servers));
    let listed = place.run(&["tools", "--json"]);
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    let count = listed["tools"].as_array().unwrap().len();
    assert!(count >= 500, "{count}");
    let mut script = String::new();
    for n in 0..299 {
        script += &format!(
            "const text{n} = await tools.demo{}.read_file({{ path: 'a', head: {} }});\n",
            n % 40,
            n + 1
        );
    }
    script += "await tools.demo0.raed_file({ path: 'a' });\n";
    assert_eq!(check(&place, &[], &script).status.code(), Some(1));
    let best = (0..10)
        .map(|_| {
            let began = Instant::now();
            check(&place, &[], &script);
            began.elapsed()
        })
        .min()
        .unwrap();
    assert!(best < Duration::from_millis(150), "{best:?}");
}
