//! Scrubbing through the binary: `pml scrub`, and `pml run --scrub`.

use std::fs;

use serde_json::Value;

use crate::support::{pml, run_stdin};

/// A made-up address.
const ADDRESS: &str = "jo.doe@mail.example.org";

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_scrubbed_run_shows_an_address_nowhere() {
    let script = format!(
        "console.log('to {ADDRESS}');\n\
         const value = {{ mail: '{ADDRESS}', list: ['write to {ADDRESS} today'] }};\n\
         if (args.length) throw new Error('cannot reach {ADDRESS}');\n\
         return value;"
    );
    for (flags, shown) in [
        (vec!["--scrub", "--json"], "[EMAIL_1]"),
        (vec!["--scrub"], "[EMAIL_1]"),
    ] {
        let output = run_stdin(&flags, &script);
        let all = text(&output.stdout) + &text(&output.stderr);
        assert!(!all.contains(ADDRESS), "{flags:?}\n{all}");
        assert!(all.contains(shown), "{flags:?}\n{all}");
    }
    let failing = script.replace("args.length", "true");
    let output = run_stdin(&["--scrub"], &failing);
    let all = text(&output.stdout) + &text(&output.stderr);
    assert!(!all.contains(ADDRESS) && all.contains("[EMAIL_1]"), "{all}");
}

/// The address in a result, a log line, an error, a call, a key and the source.
#[test]
fn a_secret_leaves_a_scrubbed_run_by_no_way() {
    let secret = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace.json");
    let says = format!(
        "const {secret} = '{secret}';\n\
         console.log({secret}, {{ {secret} }});\n\
         console.table([{{ {secret} }}]);\n\
         console.error(new Error({secret}).stack);\n\
         await callTool('{secret}:tool', {{ {secret} }});\n"
    );
    let ends = [
        format!("return {{ {secret}, nested: JSON.stringify({{ {secret} }}) }}"),
        format!("throw new Error({secret})"),
        format!("throw {{ {secret} }}"),
        format!("function {secret}_() {{ throw new TypeError('x') }} {secret}_()"),
        format!("await tools['{secret}'].tool()"),
        format!("{secret}.{secret}.x"),
        format!("const = {secret}"),
        format!("import '{secret}'"),
    ];
    for end in ends {
        for json in [true, false] {
            let mut flags = vec!["--scrub", "--trace", trace.to_str().unwrap()];
            flags.extend(json.then_some("--json"));
            let output = run_stdin(&flags, &format!("{says}{end}"));
            let trace = fs::read_to_string(&trace).unwrap();
            let all = text(&output.stdout) + &text(&output.stderr) + &trace;
            assert!(!all.contains(&secret), "{end}\n{all}");
        }
    }
}

#[test]
fn a_scrubbed_run_counts_what_it_replaced() {
    let script = format!("return ['{ADDRESS}', 'other@mail.example.org', '{ADDRESS}']");
    let output = run_stdin(&["--scrub", "--json"], &script);
    let envelope: Value = serde_json::from_slice(&output.stdout).expect("an envelope");
    assert_eq!(envelope["redactions"]["EMAIL"], 3, "{envelope:#}");
    assert_eq!(envelope["result"][0], envelope["result"][2]);
    assert_ne!(envelope["result"][0], envelope["result"][1]);
}

#[test]
fn without_the_flag_nothing_is_changed() {
    let output = run_stdin(&[], &format!("return '{ADDRESS}'"));
    assert_eq!(text(&output.stdout).trim(), ADDRESS);
}

#[test]
fn a_file_is_scrubbed_and_its_json_stays_json() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("people.json");
    fs::write(&file, format!(r#"{{"people":[{{"mail":"{ADDRESS}"}}]}}"#)).expect("a file");
    let output = pml()
        .arg("scrub")
        .arg(&file)
        .arg("--report")
        .output()
        .expect("the binary runs");
    assert!(output.status.success());
    let value: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(value["people"][0]["mail"], "[EMAIL_1]");
    let report = text(&output.stderr);
    assert!(
        report.contains("EMAIL at line 1") && report.contains("/people/0/mail"),
        "{report}"
    );
    assert!(!report.contains(ADDRESS), "{report}");
}

#[test]
fn names_in_running_text_are_replaced_if_they_are_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("letter.txt");
    fs::write(
        &file,
        "Yesterday Margarethe Quist flew from Lisbon to Oslo.",
    )
    .expect("a file");
    let scrub = |flags: &[&str]| {
        let output = pml().arg("scrub").arg(&file).args(flags).output();
        text(&output.expect("the binary runs").stdout)
    };
    assert!(scrub(&[]).contains("Margarethe Quist"));
    assert_eq!(
        scrub(&["--entities"]),
        "Yesterday [NAME_1] flew from [PLACE_1] to [PLACE_2]."
    );
}

#[test]
fn an_explanation_names_the_rule_and_the_context_and_its_fingerprint_allows_the_value() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("ticket.txt");
    fs::write(&file, "my passport number C01X0006H is lost").expect("a file");
    let output = pml().arg("scrub").arg(&file).arg("--explain").output();
    let explained = text(&output.expect("the binary runs").stderr);
    assert!(
        explained.contains("because of `passport`") && explained.contains("the profile `default`"),
        "{explained}"
    );
    assert!(!explained.contains("C01X0006H"), "{explained}");
    let fingerprint = explained.split("[\"").nth(1).expect("a fingerprint");
    let fingerprint = fingerprint.split('"').next().expect("its end");
    let config = folder.path().join("mcp.json");
    let allow = serde_json::json!({"fingerprints": [fingerprint]});
    let settings = serde_json::json!({"mcpServers": {}, "pml": {"scrub": {"allow": allow}}});
    fs::write(&config, settings.to_string()).expect("a file");
    let output = pml()
        .arg("scrub")
        .arg(&file)
        .arg("--config")
        .arg(&config)
        .output();
    let output = output.expect("the binary runs");
    assert_eq!(text(&output.stdout), "my passport number C01X0006H is lost");
}

#[test]
fn without_a_terminal_a_question_about_a_kind_is_a_refusal() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("note.txt");
    fs::write(&file, format!("write to {ADDRESS}")).expect("a file");
    let config = folder.path().join("mcp.json");
    fs::write(
        &config,
        r#"{"mcpServers":{},"pml":{"scrub":{"detectors":{"email":"ask"}}}}"#,
    )
    .expect("a file");
    let output = pml()
        .arg("scrub")
        .arg(&file)
        .arg("--config")
        .arg(&config)
        .output();
    let output = output.expect("the binary runs");
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    let message = text(&output.stderr);
    assert!(
        message.contains("EMAIL") && !message.contains(ADDRESS),
        "{message}"
    );
}

#[test]
fn a_mistake_in_the_configuration_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = folder.path().join("mcp.json");
    fs::write(
        &config,
        r#"{"mcpServers":{},"pml":{"scrub":{"detectrs":{}}}}"#,
    )
    .expect("a file");
    let output = pml()
        .args(["scrub", "-", "--config"])
        .arg(&config)
        .output()
        .expect("the binary runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("detectrs"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn a_code_frame_shows_no_part_of_a_secret_that_it_cuts() {
    let secret = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    for before in (40..120).step_by(9) {
        let line = format!("{} f('{secret}'); {}", ";".repeat(before), ";".repeat(200));
        for script in [
            format!("const f = (x) => x;\n{line}\nthrow new Error('x')"),
            format!("{line} const = 1"),
        ] {
            let output = run_stdin(&["--scrub"], &script);
            let all = text(&output.stdout) + &text(&output.stderr);
            assert!(!all.contains("ghp_a1B2"), "{before}\n{all}");
        }
    }
}
