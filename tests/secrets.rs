//! Credentials stay in the gateway: no script, model, log, error or recording sees one, and no server
//! reads those of another.

use std::fs;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::gateway::Place;
use crate::support::{binary, repository};

const TOKEN: &str = "p@ss/w0rd~9 \"x\"";

fn leaky() -> Value {
    json!({
        "command": "python3",
        "args": ["-u", repository().join("tests/secrets/leaky.py")],
        "env": { "SERVICE_TOKEN": "${SERVICE_TOKEN}", "MODE": "production", "SHORT": "true" },
    })
}

fn everything(output: &Output) -> String {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

/// The token in the forms in which it could get out. A piece of it counts.
#[track_caller]
fn assert_hidden(text: &str) {
    // The last one is `w0rd~9` behind `user:p@ss/`, in base64.
    for form in ["w0rd~9", "w0rd%7E9", "p%40ss", "p@ss", "dzByZH45", "cEBzcy"] {
        assert!(!text.contains(form), "{form} in {text}");
    }
}

#[test]
fn a_server_cannot_hand_its_credentials_to_a_script() {
    let place = Place::with_servers(json!({ "leaky": leaky() }));
    let script = "
        const value = await tools.leaky.leak();
        const errors = [];
        for (const name of ['fail', 'odd'])
            await tools.leaky[name]({}).catch((error) => errors.push(error.message));
        const about = await describeTool('leaky:leak');
        return { value, errors, about };";
    let recording = place.folder().join("run.json");
    let output = place
        .command(&["run", "--json", "--record-raw", "--record"])
        .arg(&recording)
        .args(["--trace", "trace.json", "-e", script])
        .env("SERVICE_TOKEN", TOKEN)
        .output()
        .unwrap();
    let text = everything(&output);
    assert_hidden(&text);
    let outcome: Value = serde_json::from_slice(&output.stdout).unwrap();
    let value = &outcome["result"]["value"];
    assert_eq!(value["raw"], "${SERVICE_TOKEN}", "{text}");
    assert_eq!(value["${SERVICE_TOKEN}"], "as a key", "{text}");
    assert_eq!(value["plain"], json!(["production", "true"]), "{text}");
    let error = outcome["result"]["errors"][0].as_str().unwrap();
    assert!(error.starts_with("bad token ${SERVICE_TOKEN}"), "{error}");
    assert_hidden(&fs::read_to_string(&recording).unwrap());
    assert_hidden(&fs::read_to_string(place.folder().join("trace.json")).unwrap());
}

#[test]
fn the_doctor_and_lists_of_tools_show_no_credentials() {
    let broken = json!({
        "command": "sh", "args": ["-c", "echo \"no $SERVICE_TOKEN\" >&2; exit 3"],
        "env": { "SERVICE_TOKEN": "${SERVICE_TOKEN}" },
    });
    let place = Place::with_servers(json!({ "leaky": leaky(), "broken": broken }));
    for args in [&["doctor", "--json"][..], &["doctor"], &["tools", "--json"]] {
        let output = place.command(args).env("SERVICE_TOKEN", TOKEN).output();
        let text = everything(&output.unwrap());
        assert_hidden(&text);
        assert!(text.contains("${SERVICE_TOKEN}"), "{text}");
    }
}

#[test]
fn a_script_cannot_read_the_credentials_in_an_address() {
    let place = Place::with_servers(json!({
        "zap": { "url": "http://127.0.0.1:9/api/mcp/s/${ZAP}/mcp" },
        "q": { "url": "http://127.0.0.1:9/mcp?api_key=${KEY}" },
        "u": { "url": "http://me:${PASS}@127.0.0.1:9/mcp" },
        "sse": { "url": "http://127.0.0.1:9/s/${ZAP}/sse" },
        "literal": { "url": "http://127.0.0.1:9/s/a1b2c3d4e5f6a7b8c9/mcp?key=l1teral-9" },
    }));
    let values = [
        ("ZAP", "q7Zp-secret-path-9921"),
        ("KEY", "k3y-0f-the-0per4tor"),
        ("PASS", "p%40ss%3Aw0rd%2F99"),
    ];
    let script = "
        const messages = [];
        for (const name of ['zap', 'q', 'u', 'sse', 'literal']) {
            const { error } = await callTool(`${name}:x`, {});
            messages.push(error.message);
        }
        return messages;";
    for args in [
        &["run", "-e", script][..],
        &["doctor", "--json"],
        &["tools"],
    ] {
        let output = place.command(args).envs(values).output().unwrap();
        let text = everything(&output);
        for piece in ["q7Zp", "k3y-", "ss%3A", "p@ss", "w0rd", "a1b2c3", "l1teral"] {
            assert!(!text.contains(piece), "{piece} in {text}");
        }
        assert!(
            text.contains("http://127.0.0.1:9 could not be reached"),
            "{text}"
        );
        if args[0] == "doctor" {
            // A person sees the address as it was written.
            assert!(
                text.contains("http://127.0.0.1:9/api/mcp/s/${ZAP}/mcp"),
                "{text}"
            );
        }
    }
    let mut server = place
        .command(&["serve", "--log-level", "trace"])
        .envs(values)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_secs(3));
    drop(server.stdin.take());
    let text = everything(&server.wait_with_output().unwrap());
    assert!(text.contains("a server cannot be used"), "{text}");
    for piece in ["q7Zp", "k3y-", "ss%3A", "w0rd", "a1b2c3", "l1teral"] {
        assert!(!text.contains(piece), "{piece} in {text}");
    }
}

#[test]
fn a_mistake_in_the_configuration_shows_the_variable_and_not_its_value() {
    for entry in [
        json!({ "url": "${SERVICE_TOKEN}" }),
        json!({ "command": "x", "timeout": "${SERVICE_TOKEN}" }),
        json!({ "command": "x", "type": "${SERVICE_TOKEN}" }),
    ] {
        let place = Place::with_servers(json!({ "s": entry }));
        let output = place
            .command(&["tools"])
            .env("SERVICE_TOKEN", TOKEN)
            .output();
        let text = everything(&output.unwrap());
        assert_hidden(&text);
        assert!(text.contains("SERVICE_TOKEN"), "{text}");
    }
}

#[test]
fn a_list_of_tools_does_not_let_a_script_read_resources() {
    let script = "
        const read = async (uri) => {
            try { return (await readResource('leaky', uri))[0].text; }
            catch (error) { return `${error.kind}: ${error.message}`; }
        };
        const listed = await listResources('leaky').catch((error) => error.kind);
        return [await read('db://all'), await read('db://public/1'), listed.length];";
    let denied = "denied: the configuration of server `leaky` does not offer this";
    let open = "the whole database, with ${SERVICE_TOKEN}";
    for (settings, policy, expected) in [
        (json!({}), json!({}), [open, open]),
        (json!({ "tools": ["leak"] }), json!({}), [denied, denied]),
        (
            json!({ "tools": ["leak"], "resources": true }),
            json!({}),
            [open, open],
        ),
        (
            json!({ "tools": ["leak"], "resources": ["db://public/*"] }),
            json!({}),
            [denied, open],
        ),
        (
            json!({}),
            json!({ "deny": ["leaky:resources"] }),
            ["denied: "; 2],
        ),
        (
            json!({}),
            json!({ "allow": ["leaky:leak"] }),
            ["denied: "; 2],
        ),
    ] {
        let mut server = leaky();
        for (key, value) in settings.as_object().unwrap() {
            server[key] = value.clone();
        }
        let place = Place::with(&json!({
            "mcpServers": { "leaky": server }, "pml": { "policy": policy },
        }));
        let mut command = place.command(&["run", "--json", "-e", script]);
        let output = command.env("SERVICE_TOKEN", TOKEN).output().unwrap();
        let text = everything(&output);
        assert_hidden(&text);
        let outcome: Value = serde_json::from_slice(&output.stdout).unwrap();
        for (found, expected) in outcome["result"].as_array().unwrap().iter().zip(expected) {
            let found = found.as_str().unwrap();
            assert!(found.starts_with(expected), "{settings} {policy}: {text}");
        }
    }
}

#[test]
fn a_server_cannot_read_the_environment_that_is_kept_from_it() {
    let place = Place::with_servers(json!({ "leaky": leaky() }));
    for command in [
        &["call", "leaky:spy"][..],
        &["run", "-e", "return await tools.leaky.spy()"],
    ] {
        let output = place
            .command(command)
            .envs([
                ("SERVICE_TOKEN", TOKEN),
                ("GITHUB_TOKEN", "ghp_notforspies"),
            ])
            .output()
            .unwrap();
        let text = everything(&output);
        assert!(output.status.success(), "{text}");
        assert!(
            !text.contains("ghp_notforspies") && !text.contains("HOME="),
            "{text}"
        );
    }
}

/// As another user than root, who can read every process: a child of the same user is refused.
#[test]
fn a_server_of_an_ordinary_user_cannot_read_its_parent() {
    // SAFETY: `geteuid` has no preconditions.
    if unsafe { libc::geteuid() } != 0 {
        return;
    }
    let place = Place::empty();
    let folder = place.folder();
    let program = folder.join("pml");
    let script = folder.join("leaky.py");
    fs::hard_link(binary(), &program)
        .or_else(|_| fs::copy(binary(), &program).map(drop))
        .unwrap();
    fs::copy(repository().join("tests/secrets/leaky.py"), &script).unwrap();
    let file = folder.join("servers.json");
    let python = ["/usr/bin/python3", "/usr/local/bin/python3"];
    let Some(python) = python.into_iter().find(|path| fs::metadata(path).is_ok()) else {
        return;
    };
    let servers =
        json!({ "mcpServers": { "leaky": { "command": python, "args": ["-u", script] } } });
    fs::write(&file, servers.to_string()).unwrap();
    for path in [folder.parent().unwrap(), &folder] {
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(path, open).unwrap();
    }
    let run = |args: &[&str]| {
        let output = Command::new("setpriv")
            .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
            .arg(&program)
            .args(args)
            .arg("--config")
            .arg(&file)
            .current_dir("/")
            .env("HOME", "/nonexistent")
            .env("GITHUB_TOKEN", "ghp_notforspies")
            .output()
            .unwrap();
        let text = everything(&output);
        assert!(output.status.success(), "{text}");
        text
    };
    let text = run(&["call", "leaky:spy"]);
    assert!(text.contains("refused: Permission denied"), "{text}");
    // The broker still reads what it needs of itself and of its worker.
    let text = run(&["run", "-e", "return 6 * 7"]);
    assert!(text.contains("42"), "{text}");
    let text = run(&["run", "-e", "return await tools.leaky.spy()"]);
    assert!(text.contains("refused: Permission denied"), "{text}");
}

const BY_REFERENCE: &str = "tok-by-reference-7f3a91c0d2";

fn leaky_by_reference(reference: &str) -> Value {
    let mut server = leaky();
    server["env"] = json!({ "SERVICE_TOKEN": reference, "MODE": "production", "SHORT": "true" });
    server
}

#[test]
fn a_secret_by_reference_is_in_no_output_recording_or_journal() {
    let place = Place::with_servers(json!({ "leaky": leaky_by_reference("${secret:file/token}") }));
    fs::write(place.folder().join("token"), BY_REFERENCE).unwrap();
    let script = "
        const value = await tools.leaky.leak();
        const error = await tools.leaky.fail({}).catch((error) => error.message);
        console.log(value);
        return { value, error };";
    for flags in [
        &["--record-raw", "--record", "run.json"][..],
        &["--durable", "--store", "sqlite:store.db"],
    ] {
        let mut command = place.command(&["run", "--json"]);
        let output = command.args(flags).args(["-e", script]).output().unwrap();
        let text = everything(&output);
        let outcome: Value = serde_json::from_slice(&output.stdout).unwrap();
        let value = &outcome["result"]["value"];
        assert_eq!(value["raw"], "${secret:file/token}", "{text}");
        assert!(!text.contains("7f3a91c0d2"), "{text}");
    }
    let recorded = fs::read_to_string(place.folder().join("run.json")).unwrap();
    assert!(!recorded.contains("7f3a91c0d2"), "{recorded}");
    let doctor = everything(&place.run(&["doctor"]));
    assert!(!doctor.contains("7f3a91c0d2"), "{doctor}");
    let checked = place.run(&["secrets"]);
    let text = everything(&checked);
    assert!(checked.status.success(), "{text}");
    assert_eq!(text.trim(), "secret:file/token  (leaky): ok");
}

#[test]
fn a_secret_that_does_not_exist_is_one_sentence() {
    let place =
        Place::with_servers(json!({ "leaky": leaky_by_reference("${secret:env/NOT_SET}") }));
    let checked = place.run(&["secrets", "--json"]);
    assert_eq!(checked.status.code(), Some(1));
    let listed: Value = serde_json::from_slice(&checked.stdout).unwrap();
    assert_eq!(listed[0]["reference"], "secret:env/NOT_SET");
    assert_eq!(
        listed[0]["problem"],
        "the secret `secret:env/NOT_SET` does not exist: set the variable NOT_SET where pml is started"
    );
    let text = everything(&place.run(&["call", "leaky:leak"]));
    assert_eq!(text.matches("does not exist").count(), 1, "{text}");

    let place = Place::with(
        &json!({ "mcpServers": {}, "pml": { "store": { "url": "${secret:file/none}" } } }),
    );
    let refused = place.run(&["runs"]);
    assert_eq!(refused.status.code(), Some(2));
    let text = everything(&refused);
    assert!(
        text.contains("`pml.store.url`: the secret `secret:file/none` does not exist"),
        "{text}"
    );
}

#[test]
fn a_cloned_folder_reads_no_secret_and_runs_no_program_for_one() {
    let place = Place::with(&json!({
        "mcpServers": { "leaky": leaky_by_reference("${secret:exec/touch read}") },
        "pml": { "store": { "key": "${secret:exec/touch read}" } },
    }));
    for args in [
        &["secrets"][..],
        &["tools"],
        &["doctor"],
        &["runs"],
        &["call", "leaky:leak"],
    ] {
        let mut command = place.command(args);
        let output = command
            .env_remove("PML_TRUST")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(
            !place.folder().join("read").exists(),
            "{args:?}: {}",
            everything(&output)
        );
    }
    let trusted = everything(
        &place
            .command(&["trust"])
            .env_remove("PML_TRUST")
            .output()
            .unwrap(),
    );
    assert!(trusted.contains("secret:exec/touch read"), "{trusted}");
    place
        .command(&["tools"])
        .env_remove("PML_TRUST")
        .output()
        .unwrap();
    assert!(place.folder().join("read").exists());
}
