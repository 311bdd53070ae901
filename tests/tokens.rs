//! `pml token`: tokens that permit some tools only, wherever they are used.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Output;
use std::time::Duration;

use serde_json::{Value, json};

use crate::gateway::Place;
use crate::serve::driver::{HttpServer, StdioClient, envelope};
use crate::serve::http::{initialize, session_in, stateless};
use crate::support::repository;

const HTTP: [&str; 5] = ["serve", "--http", "127.0.0.1:0", "--log-format", "json"];
const PLAIN: &str = "a-plain-token-0123456789";
const READ: &str = "return await tools.s.read_file({ path: 'a' })";
const WRITE: &str = "return await tools.s.write_file({ path: 'a' })";

fn tool(name: &str) -> Value {
    json!({
        "name": name, "description": format!("{name} of a file or a mail"),
        "inputSchema": { "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] },
        "annotations": { "readOnlyHint": name.starts_with("read"), "destructiveHint": false },
    })
}

/// A folder with a server `s` of three tools.
fn place() -> Place {
    let place = Place::empty();
    let script = repository().join("tests/lock/changing.py");
    let config = json!({
        "mcpServers": {
            "s": { "command": "python3", "args": [script, "server.json"], "trust": "annotations" },
        },
    });
    fs::write(place.file(), config.to_string()).unwrap();
    let tools = [tool("read_file"), tool("write_file"), tool("send_mail")];
    let listed = json!({ "tools": tools }).to_string();
    fs::write(place.folder().join("server.json"), listed).unwrap();
    place
}

/// The calls that have reached the server.
fn calls(place: &Place) -> usize {
    let log = fs::read_to_string(place.folder().join("server.json.calls"));
    log.unwrap_or_default().lines().count()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// What a `pml token` command prints.
fn token(place: &Place, args: &[&str]) -> String {
    let output = place.run(&[&["token"], args].concat());
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", text(&output));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn mint(place: &Place, args: &[&str]) -> String {
    token(place, &[&["mint"], args].concat())
}

fn run_with(place: &Place, token: &str, args: &[&str]) -> Output {
    let mut command = place.command(args);
    command.env("PML_CAPABILITY", token).output().unwrap()
}

/// The envelope of a script that runs with a token.
fn script(place: &Place, token: &str, flags: &[&str], code: &str) -> Value {
    let output = run_with(
        place,
        token,
        &[&["run", "--json", "-e", code], flags].concat(),
    );
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output)))
}

fn serve(place: &Place) -> HttpServer {
    let mut command = place.command(&HTTP);
    command.env("PML_TOKEN", PLAIN);
    HttpServer::start(command)
}

/// Sends a request without a session.
fn ask(server: &HttpServer, token: &str, method: &str, params: Value) -> (u16, String) {
    let (headers, body) = stateless(method, params);
    let authorization = format!("Bearer {token}");
    let mut headers: Vec<(&str, &str)> = headers
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    headers.push(("Authorization", &authorization));
    let (status, _, body) = server.post(&headers, &body);
    (status, body)
}

/// Runs a script over HTTP.
fn http(server: &HttpServer, token: &str, code: &str) -> Value {
    let params = json!({ "name": "execute_code", "arguments": { "code": code } });
    let (status, body) = ask(server, token, "tools/call", params);
    assert_eq!(status, 200, "{body}");
    envelope(&serde_json::from_str::<Value>(&body).unwrap()["result"])
}

#[test]
fn what_a_token_does_not_permit_is_neither_seen_nor_called() {
    let place = place();
    let token = mint(&place, &["--allow", "s:read_*", "--expires", "1h"]);
    let listed = text(&run_with(&place, &token, &["tools"]));
    let types = text(&run_with(&place, &token, &["types"]));
    let found = text(&run_with(&place, &token, &["search", "a file or a mail"]));
    for (where_, shown) in [("tools", &listed), ("types", &types), ("search", &found)] {
        assert!(shown.contains("read_file"), "{where_}: {shown}");
        for hidden in ["write_file", "send_mail"] {
            assert!(!shown.contains(hidden), "{where_}: {shown}");
        }
    }
    let search = "return (await searchTools('a file or a mail')).map(hit => hit.name)";
    assert_eq!(
        script(&place, &token, &[], search)["result"],
        json!(["read_file"])
    );

    fs::write(place.folder().join("write.ts"), WRITE).unwrap();
    let checked = run_with(&place, &token, &["check", "write.ts"]);
    assert_eq!(checked.status.code(), Some(1), "{}", text(&checked));

    for code in [
        WRITE,
        "return await tools.s.send_mail({ path: 'a' })",
        "return await describeTool('s:write_file')",
    ] {
        for flags in [&[][..], &["--dry-run"]] {
            let envelope = script(&place, &token, flags, code);
            assert_eq!(
                envelope["error"]["kind"], "denied",
                "{flags:?} {code}: {envelope:#}"
            );
        }
    }
    // A dry run sends no request for resources, permitted or not.
    let resources = script(&place, &token, &[], "return await listResources('s')");
    assert_eq!(resources["error"]["kind"], "denied", "{resources:#}");
    let error = script(&place, &token, &[], WRITE)["error"]["message"].to_string();
    assert!(error.contains("the capability token `agent@"), "{error}");
    assert_eq!(calls(&place), 0);
    let done = script(&place, &token, &[], READ);
    assert_eq!(done["result"], json!({ "path": "a" }), "{done:#}");
    assert_eq!(calls(&place), 1);

    // Without the token, the user has all tools, and the cache has them, too.
    let all = text(&place.run(&["types"]));
    assert!(all.contains("write_file"), "{all}");
    let types = text(&run_with(&place, &token, &["types"]));
    assert!(!types.contains("write_file"), "{types}");
}

#[test]
fn a_plan_and_a_child_of_a_script_have_no_more_than_the_token() {
    let place = place();
    let token = mint(&place, &["--allow", "s:read_*"]);
    let plan = json!({ "tasks": [
        { "id": "ok", "tool": "s:read_file", "args": { "path": "a" } },
        { "id": "no", "tool": "s:write_file", "args": { "path": "a" } },
    ] });
    let code = format!("return await runWorkflow({plan})");
    let envelope = script(&place, &token, &[], &code);
    assert!(
        envelope.to_string().contains("may not be called"),
        "{envelope:#}"
    );
    let code = "return await runWorkflow({ tasks: [{ id: 'c', code: \
        \"return await tools.s.write_file({ path: 'b' })\" }] })";
    let envelope = script(&place, &token, &[], code);
    assert!(
        envelope.to_string().contains("may not be called"),
        "{envelope:#}"
    );
    let log = fs::read_to_string(place.folder().join("server.json.calls")).unwrap_or_default();
    assert!(!log.contains("write_file"), "{log}");
}

#[test]
fn an_attenuated_token_does_less_and_needs_no_key() {
    let place = place();
    let parent = mint(&place, &["--allow", "s:*", "--expires", "2h"]);
    // Another machine, which has neither the key nor the configuration.
    let elsewhere = Place::empty();
    let child = token(&elsewhere, &["attenuate", &parent, "--allow", "s:read_*"]);
    let grandchild = token(&elsewhere, &["attenuate", &child, "--allow", "*"]);
    assert_eq!(script(&place, &parent, &[], WRITE)["ok"], true);
    for token in [&child, &grandchild] {
        assert_eq!(script(&place, token, &[], READ)["ok"], true);
        assert_eq!(script(&place, token, &[], WRITE)["error"]["kind"], "denied");
    }
    let nothing = elsewhere.run(&["token", "attenuate", &parent]);
    assert_eq!(nothing.status.code(), Some(2));
    assert!(text(&nothing).contains("nothing is restricted"));
}

#[test]
fn a_wrong_token_is_refused_in_one_sentence_and_starts_no_server() {
    let (place, other) = (place(), Place::empty());
    let valid = mint(&place, &["--allow", "*"]);
    let expired = mint(&place, &["--allow", "*", "--expires", "1s"]);
    let revoked = mint(&place, &["--allow", "*"]);
    token(&place, &["revoke", &revoked]);
    let forged = mint(&other, &["--allow", "*"]);
    std::thread::sleep(Duration::from_millis(2100));
    for (token, words) in [
        (forged.as_str(), "not signed with the root key"),
        (&expired, "expired at 20"),
        (&revoked, "was revoked ("),
        (&valid[..valid.len() / 2], "damaged or truncated"),
        ("not a token", "damaged or truncated"),
        ("", "is empty"),
    ] {
        for args in [&["run", "-e", "return 1"][..], &["serve"], &["tools"]] {
            let output = run_with(&place, token, args);
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(2), "{args:?} {words}: {said}");
            assert!(said.contains(words), "{args:?}: {said}");
            assert_eq!(said.trim().lines().count(), 1, "{args:?}: {said}");
        }
    }
    assert!(!place.folder().join("server.json.calls").exists());
    let inspected = place.run(&["token", "inspect", &expired, "--json"]);
    assert_eq!(inspected.status.code(), Some(1));
    let said: Value = serde_json::from_slice(&inspected.stdout).unwrap();
    assert_eq!(said["valid"], false, "{said}");
    assert_eq!(said["principal"], "agent", "{said}");
    assert_eq!(
        place.run(&["token", "inspect", &valid]).status.code(),
        Some(0)
    );
}

#[test]
fn the_calls_of_a_token_are_counted_over_processes_and_never_exceeded() {
    let place = place();
    let token = mint(&place, &["--allow", "s:*", "--budget", "calls=10"]);
    let child = self::token(&place, &["attenuate", &token, "--budget", "calls=4"]);
    // A dry run spends nothing, and predicts what would be refused.
    let many = "for (let n = 0; n < 12; n++) await tools.s.read_file({ path: `${n}` }); return 1";
    let planned = script(&place, &token, &["--dry-run"], many);
    assert_eq!(planned["error"]["kind"], "calls", "{planned:#}");
    assert_eq!(calls(&place), 0);
    let code = "const all = await Promise.allSettled([...Array(6).keys()].map(n => \
        tools.s.write_file({ path: `${n}` }))); \
        return all.filter(one => one.status === 'fulfilled').length";
    assert_eq!(script(&place, &child, &[], code)["result"], 4);
    // Four processes at once.
    let made: u64 = std::thread::scope(|scope| {
        let runs: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    script(&place, &token, &[], code)["result"]
                        .as_u64()
                        .unwrap()
                })
            })
            .collect();
        runs.into_iter().map(|run| run.join().unwrap()).sum()
    });
    assert_eq!(made, 6);
    assert_eq!(calls(&place), 10);
    let refused = script(&place, &token, &[], READ);
    assert_eq!(refused["error"]["kind"], "calls", "{refused:#}");
    let message = refused["error"]["message"].to_string();
    assert!(message.contains("has used all its 10 calls"), "{message}");
    let inspected = text(&place.run(&["token", "inspect", &token]));
    assert!(inspected.contains("10 of 10 made"), "{inspected}");
}

#[test]
fn the_root_key_and_the_lists_are_for_their_owner_alone() {
    let place = place();
    let key = token(&place, &["key"]);
    assert!(key.starts_with("ed25519/") && key.len() == 72, "{key}");
    assert_eq!(token(&place, &["key"]), key, "the key is made once");
    let minted = mint(&place, &["--allow", "*", "--budget", "calls=5"]);
    script(&place, &minted, &[], READ);
    token(&place, &["revoke", &minted]);
    let folder = place.folder().join("../.local/share/pml/tokens");
    let calls = fs::read_dir(folder.join("calls"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    for file in [
        folder.join("root.key"),
        folder.join("revoked"),
        calls.path(),
    ] {
        let mode = file.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{}", file.display());
    }
    fs::set_permissions(folder.join("root.key"), PermissionsExt::from_mode(0o644)).unwrap();
    let output = place.run(&["token", "mint", "--allow", "*"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output).contains("chmod 600"), "{}", text(&output));
}

#[test]
fn a_machine_without_the_key_accepts_the_tokens_of_a_pinned_one() {
    let (minter, place) = (Place::empty(), place());
    let key = token(&minter, &["key"]);
    let minted = mint(&minter, &["--allow", "s:read_*", "--principal", "ci"]);
    let output = run_with(&place, &minted, &["run", "-e", "return 1"]);
    assert!(
        text(&output).contains("there is no root key"),
        "{}",
        text(&output)
    );
    let mut config: Value =
        serde_json::from_str(&fs::read_to_string(place.file()).unwrap()).unwrap();
    config["pml"]["tokens"] = json!({ "trustedKeys": [key] });
    fs::write(place.file(), config.to_string()).unwrap();
    assert_eq!(script(&place, &minted, &[], READ)["ok"], true);
    // Its own tokens are not those of the pinned key.
    let own = mint(&place, &["--allow", "*"]);
    let output = run_with(&place, &own, &["run", "-e", "return 1"]);
    assert!(
        text(&output).contains("not signed with the root key"),
        "{}",
        text(&output)
    );
    config["pml"]["tokens"] = json!({ "trustedKeys": ["ed25519/12"] });
    fs::write(place.file(), config.to_string()).unwrap();
    let output = place.run(&["tools", "--capability", &minted]);
    assert!(
        text(&output).contains("`pml.tokens.trustedKeys[0]`"),
        "{}",
        text(&output)
    );
}

#[test]
fn http_clients_have_what_their_tokens_permit() {
    let place = place();
    let reader = mint(&place, &["--allow", "s:read_*", "--principal", "ci"]);
    let writer = mint(&place, &["--allow", "s:*", "--principal", "ci"]);
    let server = serve(&place);
    assert_eq!(
        http(&server, &reader, READ)["result"],
        json!({ "path": "a" })
    );
    assert_eq!(http(&server, &reader, WRITE)["error"]["kind"], "denied");
    assert_eq!(
        http(&server, &writer, WRITE)["result"],
        json!({ "path": "a" })
    );
    assert_eq!(
        http(&server, PLAIN, WRITE)["result"],
        json!({ "path": "a" })
    );
    let search = "return (await searchTools('a file or a mail')).length";
    assert_eq!(http(&server, &reader, search)["result"], 1);
    assert_eq!(http(&server, &writer, search)["result"], 3);
    let (_, listed) = ask(&server, &reader, "tools/list", json!({}));
    assert!(
        listed.contains("s 1") && !listed.contains("s 3"),
        "{listed}"
    );

    // `call_tool` and `search_tools` without a script.
    let call = json!({ "name": "call_tool", "arguments": { "tool": "s:write_file", "arguments": { "path": "a" } } });
    let (_, answer) = ask(&server, &reader, "tools/call", call);
    assert!(answer.contains("may not be called"), "{answer}");
    let search = json!({ "name": "search_tools", "arguments": { "query": "a file or a mail" } });
    let (_, answer) = ask(&server, &reader, "tools/call", search);
    assert!(
        answer.contains("read_file") && !answer.contains("write_file"),
        "{answer}"
    );

    // The metrics are about all clients.
    let metrics = |token: &str| {
        let authorization = format!("Bearer {token}");
        server.send_to("/metrics", "GET", &[("Authorization", &authorization)], "")
    };
    assert_eq!(metrics(&reader).0, 403);

    // A token that was made from another one reaches none of its sessions.
    let of = |token: &str| format!("Bearer {token}");
    let (of_writer, weaker) = (
        of(&writer),
        token(&place, &["attenuate", &writer, "--allow", "s:read_*"]),
    );
    let (status, head, _) = server.post(&[("Authorization", &of_writer)], &initialize());
    assert_eq!(status, 200);
    let session = session_in(&head).to_owned();
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }).to_string();
    for (authorization, expected) in [(of(&weaker), 404), (of(&reader), 404), (of_writer, 200)] {
        let headers = [
            ("Authorization", &*authorization),
            ("Mcp-Session-Id", &session),
        ];
        assert_eq!(server.post(&headers, &list).0, expected);
    }
}

#[test]
fn a_running_server_refuses_a_token_that_is_revoked_or_expires() {
    let place = place();
    let parent = mint(&place, &["--allow", "s:*"]);
    let child = token(&place, &["attenuate", &parent, "--allow", "s:read_*"]);
    let short = mint(&place, &["--allow", "s:*", "--expires", "3s"]);
    let server = serve(&place);
    assert_eq!(http(&server, &child, READ)["ok"], true);
    assert_eq!(http(&server, &short, READ)["ok"], true);
    token(&place, &["revoke", &parent]);
    std::thread::sleep(Duration::from_millis(300));
    for revoked in [&parent, &child] {
        let (status, said) = ask(&server, revoked, "tools/list", json!({}));
        assert_eq!(status, 401);
        assert!(said.contains("was revoked"), "{said}");
    }
    std::thread::sleep(Duration::from_secs(4));
    let (status, said) = ask(&server, &short, "tools/list", json!({}));
    assert_eq!(status, 401);
    assert!(said.contains("expired at 20"), "{said}");
    for hostile in ["AAAA", &"A".repeat(20_000), &parent[..90], "%%%"] {
        let (status, said) = ask(&server, hostile, "tools/list", json!({}));
        assert_eq!(status, 401, "{said}");
    }
    assert_eq!(http(&server, PLAIN, READ)["ok"], true, "the server goes on");
}

#[test]
fn a_run_whose_token_expires_while_it_runs_makes_no_more_calls() {
    let place = place();
    let token = mint(&place, &["--allow", "s:*", "--expires", "3s"]);
    let code = "await tools.s.write_file({ path: '1' }); \
        await new Promise(done => setTimeout(done, 4500)); \
        return await tools.s.write_file({ path: '2' })";
    let envelope = script(&place, &token, &["--timeout", "20s"], code);
    assert_eq!(envelope["error"]["kind"], "denied", "{envelope:#}");
    assert!(
        envelope["error"]["message"]
            .to_string()
            .contains("expired at")
    );
    assert_eq!(calls(&place), 1);
}

#[test]
fn serve_over_stdio_is_bound_by_its_token() {
    let place = place();
    let token = mint(&place, &["--allow", "s:read_*"]);
    let file = place.folder().join("token.txt");
    fs::write(&file, format!("{token}\n")).unwrap();
    let mut client = StdioClient::open(&place, &["--capability", "@token.txt"]);
    assert_eq!(client.run(READ)["result"], json!({ "path": "a" }));
    assert_eq!(client.run(WRITE)["error"]["kind"], "denied");
    assert_eq!(calls(&place), 1);
}

#[test]
fn a_durable_run_goes_on_with_its_token_and_no_other() {
    let place = place();
    let token = mint(&place, &["--allow", "s:*"]);
    let stronger = mint(&place, &["--allow", "*"]);
    let mut config: Value =
        serde_json::from_str(&fs::read_to_string(place.file()).unwrap()).unwrap();
    config["pml"]["policy"] = json!({ "ask": ["s:write_*"] });
    fs::write(place.file(), config.to_string()).unwrap();
    let flags = ["--durable", "--run-id", "bound"];
    let waiting = script(&place, &token, &flags, WRITE);
    assert_eq!(waiting["error"]["kind"], "waiting", "{waiting:#}");
    let id = text(&place.run(&["approvals", "list", "--json"]));
    let id: Value = serde_json::from_str(&id).unwrap();
    let id = id["approvals"][0]["id"].as_str().unwrap().to_owned();
    let allowed = place.run(&["approvals", "allow", &id]);
    assert!(allowed.status.success(), "{}", text(&allowed));
    for refused in [
        place.run(&["resume", "bound"]),
        run_with(&place, &stronger, &["resume", "bound"]),
    ] {
        assert_eq!(refused.status.code(), Some(2), "{}", text(&refused));
        assert!(
            text(&refused).contains("began as `agent@"),
            "{}",
            text(&refused)
        );
    }
    let resumed = run_with(&place, &token, &["resume", "bound"]);
    assert_eq!(resumed.status.code(), Some(0), "{}", text(&resumed));
    assert_eq!(calls(&place), 1);
}

#[test]
fn a_server_that_restarted_leaves_a_run_to_the_holder_of_its_token() {
    let place = place();
    let token = mint(&place, &["--allow", "s:*"]);
    let mut config: Value =
        serde_json::from_str(&fs::read_to_string(place.file()).unwrap()).unwrap();
    config["pml"]["policy"] = json!({ "ask": ["s:write_*"] });
    fs::write(place.file(), config.to_string()).unwrap();
    let mut server = serve(&place);
    let params = json!({ "name": "execute_code", "arguments": { "code": WRITE } });
    let (status, waiting) = ask(&server, &token, "tools/call", params);
    assert_eq!(status, 200, "{waiting}");
    let json = |args: &[&str]| -> Value {
        let output = place.run(args);
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output)))
    };
    let listed = json(&["runs", "--json"]);
    let run = listed["runs"][0]["id"].as_str().unwrap().to_owned();
    server.terminate();
    server
        .ended_within(Duration::from_secs(20))
        .expect("it ends");
    let open = json(&["approvals", "list", "--json"]);
    let id = open["approvals"][0]["id"].as_str().unwrap().to_owned();
    assert!(place.run(&["approvals", "allow", &id]).status.success());
    // The new server has the authority of its user, which is more than that of the token.
    let server = serve(&place);
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(http(&server, PLAIN, READ)["ok"], true);
    assert_eq!(calls(&place), 1, "the read alone");
    drop(server);
    let resumed = run_with(&place, &token, &["resume", &run]);
    assert_eq!(resumed.status.code(), Some(0), "{}", text(&resumed));
    assert_eq!(calls(&place), 2);
}

#[test]
fn policies_know_the_principal_and_the_tenant_of_a_token() {
    let place = place();
    let mut config: Value =
        serde_json::from_str(&fs::read_to_string(place.file()).unwrap()).unwrap();
    config["pml"]["policy"] = json!({ "file": "policy.cedar" });
    fs::write(place.file(), config.to_string()).unwrap();
    let policy =
        "permit(principal == Principal::\"acme/ci\", action in Action::\"call\", resource);";
    fs::write(place.folder().join("policy.cedar"), policy).unwrap();
    let of = |tenant: &str, allow: &str| {
        mint(
            &place,
            &["--allow", allow, "--principal", "ci", "--tenant", tenant],
        )
    };
    assert_eq!(script(&place, &of("acme", "*"), &[], WRITE)["ok"], true);
    // A policy permits nothing that the token does not, and a token nothing that no policy permits.
    let narrow = of("acme", "s:read_*");
    assert_eq!(
        script(&place, &narrow, &[], WRITE)["error"]["kind"],
        "denied"
    );
    let other = of("other", "*");
    assert_eq!(
        script(&place, &other, &[], WRITE)["error"]["kind"],
        "denied"
    );
}

#[test]
fn minting_and_revoking_are_recorded_without_the_token() {
    let place = place();
    let minted = mint(&place, &["--allow", "s:*"]);
    token(&place, &["revoke", &minted]);
    let log = text(&place.run(&["audit", "query", "--json"]));
    assert!(log.contains("pml.token.minted"), "{log}");
    assert!(log.contains("pml.token.revoked"), "{log}");
    assert!(!log.contains(&minted));
}

#[test]
fn the_example_of_delegation_does_what_it_says() {
    let home = Place::empty();
    let binary = crate::support::binary();
    let path = std::env::var("PATH").unwrap();
    let output = std::process::Command::new("sh")
        .arg("examples/tokens/delegate.sh")
        .current_dir(repository())
        .env("HOME", home.folder())
        .env_remove("XDG_DATA_HOME")
        .env(
            "PATH",
            format!("{}:{path}", binary.parent().unwrap().display()),
        )
        .output()
        .unwrap();
    let shown = text(&output);
    assert!(output.status.success(), "{shown}");
    let (parent, child) = shown.split_once("tools of the child:").unwrap();
    assert!(
        parent.contains("demo:list_files") && parent.contains("demo:read_json"),
        "{shown}"
    );
    assert!(
        !child.contains("list_files") && child.contains("demo:read_json"),
        "{shown}"
    );
    assert!(
        child.contains("read\nread\ncalls\nthe child is revoked"),
        "{shown}"
    );
}
