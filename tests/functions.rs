//! Functions of files as tools, through the binary.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{binary, pml, repository};

/// A folder with a configuration that has the demo server and functions.
struct Folder(TempDir);

impl Folder {
    fn new(functions: &str) -> Self {
        Self::with(functions, json!({}), json!({}))
    }

    /// With further keys of the entry, and a `pml` section.
    fn with(functions: &str, entry: Value, pml: Value) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        fs::create_dir_all(folder.path().join("tools")).unwrap();
        fs::create_dir_all(folder.path().join("data")).unwrap();
        folder.write("data/a.json", "{ \"version\": \"1.0.0\" }");
        folder.write("tools/functions.ts", functions);
        let mut local = json!({ "functions": "tools/*.ts" });
        for (key, value) in entry.as_object().unwrap() {
            local[key] = value.clone();
        }
        let demo = json!({
            "command": binary(), "args": ["demo-server", folder.path().join("data")],
            "trust": "annotations",
        });
        let config = json!({ "mcpServers": { "demo": demo, "local": local }, "pml": pml });
        folder.write(".mcp.json", &config.to_string());
        folder
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path().join(name), text).unwrap();
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = pml();
        command
            .args(args)
            .current_dir(self.path())
            .env("HOME", self.path());
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// The outcome of a script.
    fn script(&self, script: &str) -> Value {
        self.script_with(&[], script)
    }

    fn script_with(&self, flags: &[&str], script: &str) -> Value {
        let output = self.run(&[&["run", "--json"], flags, &["-e", script]].concat());
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("no outcome ({error}): {}", stderr(&output)))
    }
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn message(outcome: &Value) -> &str {
    outcome["error"]["message"].as_str().unwrap_or_default()
}

#[test]
fn the_example_runs_and_its_functions_have_types_classes_and_places() {
    let home = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| {
        pml()
            .args(args)
            .args(["--config", "examples/functions/servers.json"])
            .current_dir(repository())
            .env("HOME", home.path())
            .output()
            .unwrap()
    };
    let output = run(&["run", "examples/functions/top.ts"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(result["best"]["customer"], "c02", "{result}");
    assert_eq!(
        result["first"],
        json!({ "id": 1, "customer": "c99", "amount": 183.69 })
    );
    assert_eq!(result["note"], 1);

    let checked = run(&["functions", "check", "--json"]);
    assert!(checked.status.success(), "{}", stdout(&checked));
    let checked: Value = serde_json::from_slice(&checked.stdout).unwrap();
    let tools: Vec<&str> = checked["functions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|function| function["tool"].as_str().unwrap())
        .collect();
    assert_eq!(
        tools,
        ["local:order", "local:rememberOrder", "local:topCustomers"]
    );
    let shown = stdout(&run(&["functions", "check", "local"]));
    assert!(shown.contains("tools/orders.ts:"), "{shown}");

    let effects = stdout(&run(&["tools", "--effects"]));
    let class = |tool: &str| {
        let line = effects
            .lines()
            .map(str::trim)
            .find(|line| line.starts_with(tool));
        line.and_then(|line| line.split_whitespace().nth(1))
            .unwrap_or_default()
            .to_owned()
    };
    assert_eq!(class("local:order "), "read", "{effects}");
    assert_eq!(class("local:rememberOrder"), "guarded", "{effects}");
    let types = stdout(&run(&["types"]));
    assert!(
        types.contains("topCustomers") && types.contains("\"amount\" | \"orders\""),
        "{types}"
    );
    let found = stdout(&run(&["search", "customers with the largest totals"]));
    assert!(found.contains("local:topCustomers"), "{found}");
    let called = run(&["call", "local:order", "{ \"id\": 2 }"]);
    assert!(
        stdout(&called).contains("\"c09\""),
        "{}{}",
        stdout(&called),
        stderr(&called)
    );
}

#[test]
fn arguments_are_passed_by_name_and_checked_before_anything_runs() {
    let folder = Folder::new(
        "export async function join(a: string, b = 'x', ...rest: string[]) { return [a, b, ...rest].join('-') }\n\
         export async function one({ a, b = 2 }: { a: number; b?: number }) { return a + b }\n\
         export async function untyped(a, b) { return [a, b ?? null] }\n\
         export async function nothing() {}",
    );
    let outcome = folder.script(
        "return [\n\
           await tools.local.join({ a: 'a' }),\n\
           await tools.local.join({ rest: ['c', 'd'], b: 'b', a: 'a' }),\n\
           await tools.local.one({ a: 1 }),\n\
           await tools.local.untyped({ a: { deep: [1] }, b: null }),\n\
           await tools.local.nothing(),\n\
         ]",
    );
    assert_eq!(
        outcome["result"],
        json!(["a-x", "a-b-c-d", 3, [{ "deep": [1] }, null], null]),
        "{outcome:#}"
    );
    for (call, part) in [
        ("join({ a: 1 })", "arguments.a"),
        ("join({ a: 'a', c: 'c' })", "c"),
        ("one({ b: 1 })", "a"),
    ] {
        let outcome = folder.script(&format!("return await tools.local.{call}"));
        assert_eq!(outcome["error"]["kind"], "tool", "{outcome:#}");
        assert!(
            message(&outcome).contains(part),
            "{call}: {}",
            message(&outcome)
        );
        assert!(
            !message(&outcome).contains("functions.ts"),
            "{}",
            message(&outcome)
        );
    }
}

#[test]
fn a_function_that_fails_says_where_and_the_script_may_go_on() {
    let folder = Folder::new(
        "export async function fail(): Promise<void> {\n  throw new Error('no luck');\n}\n\
         export async function reads(): Promise<unknown> {\n  return await tools.demo.read_json({ path: 'none.json' });\n}",
    );
    let outcome = folder.script(
        "try { await tools.local.fail() } catch (error) { return [error.kind, error.message] }",
    );
    assert_eq!(outcome["result"][0], "tool", "{outcome:#}");
    let said = outcome["result"][1].as_str().unwrap();
    assert!(
        said.contains("no luck") && said.contains("tools/functions.ts:2:"),
        "{said}"
    );
    let outcome = folder.script("return await tools.local.reads()");
    assert!(message(&outcome).contains("none.json"), "{outcome:#}");
}

#[test]
fn functions_in_a_circle_and_too_deep_are_refused_with_their_path() {
    let mut functions = String::from(
        "export async function a() { return await tools.local.b() }\n\
         export async function b() { return await tools.local.a() }\n",
    );
    for n in 0..12 {
        functions.push_str(&format!(
            "export async function deep{n}(): Promise<unknown> {{ return await tools.local.deep{}() }}\n",
            n + 1
        ));
    }
    functions.push_str("export async function deep12() { return 'bottom' }\n");
    let folder = Folder::new(&functions);
    let outcome = folder.script("return await tools.local.a()");
    assert!(
        message(&outcome).contains("`local:a` → `local:b` → `local:a`"),
        "{outcome:#}"
    );
    let outcome = folder.script("return await tools.local.deep0()");
    assert!(
        message(&outcome).contains("8 functions inside of each other"),
        "{outcome:#}"
    );
    // Eight are allowed.
    let outcome = folder.script("return await tools.local.deep5()");
    assert_eq!(outcome["result"], "bottom", "{outcome:#}");
}

#[test]
fn many_functions_that_wait_for_functions_do_not_wait_for_each_other() {
    let folder = Folder::new(
        "export async function outer(n: number): Promise<number> { return await tools.local.inner({ n }) + 1 }\n\
         export async function inner(n: number): Promise<number> { return n }",
    );
    let outcome = folder.script(
        "const all = Array.from({ length: 40 }, (_, n) => tools.local.outer({ n }));\n\
         return (await Promise.all(all)).reduce((a, b) => a + b)",
    );
    assert_eq!(outcome["result"], 40 * 39 / 2 + 40, "{outcome:#}");
}

#[test]
fn a_function_has_no_more_effect_than_its_class_says() {
    let functions = "/** @effect read */\n\
         export async function sly(): Promise<unknown> { return await tools.demo.add_note({ title: 't', text: 'x' }) }\n\
         /** @effect read */\n\
         export async function reader(): Promise<unknown> { return await tools.demo.read_json({ path: 'a.json' }) }\n\
         export async function writer(): Promise<unknown> { return await tools.demo.add_note({ title: 't', text: 'x' }) }";
    let trusted = Folder::with(functions, json!({ "trust": "annotations" }), json!({}));
    let outcome = trusted.script("return await tools.local.sly()");
    let said = message(&outcome);
    assert!(
        said.contains("`local:sly` is `read`")
            && said.contains("`demo:add_note`, which is `guarded`"),
        "{outcome:#}"
    );
    let outcome = trusted.script("return [await tools.local.reader(), await tools.local.writer()]");
    assert_eq!(
        outcome["result"][0],
        json!({ "version": "1.0.0" }),
        "{outcome:#}"
    );
    // Without trust in comments, every function is guarded.
    let effects = stdout(&Folder::new(functions).run(&["tools", "--effects"]));
    let line = effects
        .lines()
        .map(str::trim)
        .find(|line| line.starts_with("local:reader"));
    assert!(line.unwrap_or_default().contains("guarded"), "{effects}");
}

#[test]
fn a_call_of_a_function_has_limits_of_its_own() {
    let folder = Folder::with(
        "export async function spin(): Promise<void> { for (;;) {} }\n\
         export async function wait(): Promise<void> { await new Promise((done) => setTimeout(done, 60000)) }\n\
         export async function fill(): Promise<number> { const all = []; for (;;) all.push('x'.repeat(1000) + all.length) }\n\
         export async function call(times: number): Promise<void> { for (let n = 0; n < times; n++) await tools.demo.read_json({ path: 'a.json' }) }",
        json!({ "timeout": "2s", "limits": { "memory": "32m", "cpu": "300ms", "calls": 3 } }),
        json!({}),
    );
    for (call, part) in [
        ("spin()", "CPU"),
        ("wait()", "2000 ms"),
        ("fill()", "heap exceeds 32 MiB"),
        ("call({ times: 4 })", "limit of 3"),
    ] {
        let script = format!(
            "let said = 'nothing'; try {{ await tools.local.{call} }} catch (error) {{ said = error.message }} return said"
        );
        let outcome = folder.script(&script);
        let said = outcome["result"].as_str().unwrap_or_default();
        assert!(
            said.contains("failed") && said.contains(part),
            "{call}: {outcome:#}"
        );
    }
    let outcome = folder.script("return await tools.local.call({ times: 3 })");
    assert_eq!(outcome["ok"], true, "{outcome:#}");
}

#[test]
fn all_functions_of_a_run_share_the_calls_of_a_run() {
    let folder = Folder::new(
        "export async function call(times: number): Promise<void> { for (let n = 0; n < times; n++) await tools.demo.read_json({ path: 'a.json' }) }",
    );
    let script = "await tools.local.call({ times: 4 }); await tools.local.call({ times: 4 })";
    let outcome = folder.script_with(&["--max-calls", "6"], script);
    assert!(message(&outcome).contains("6 calls"), "{outcome:#}");
    let outcome = folder.script_with(&["--max-calls", "10"], script);
    assert_eq!(outcome["ok"], true, "{outcome:#}");
}

#[test]
fn what_cannot_be_a_tool_is_named_and_the_rest_works() {
    let folder = Folder::new(
        "export async function good(): Promise<string> { return 'good' }\n\
         export async function bad(when: Date): Promise<void> {}",
    );
    folder.write("tools/broken.ts", "export async function f( {");
    folder.write("tools/other.ts", "export async function good() {}");
    let checked = folder.run(&["functions", "check"]);
    assert_eq!(checked.status.code(), Some(1));
    let said = stdout(&checked);
    for part in [
        "local:bad is no tool",
        "a `Date` is no JSON",
        "tools/broken.ts:1",
        "local:good is no tool",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let doctor = folder.run(&["doctor"]);
    assert!(doctor.status.success(), "{}", stdout(&doctor));
    assert!(
        stdout(&doctor).contains(
            "the function bad (tools/functions.ts:2) cannot be used: a `Date` is no JSON"
        ),
        "{}",
        stdout(&doctor)
    );
    let outcome = folder.script("return await tools.local.good()");
    assert_eq!(outcome["result"], "good", "{outcome:#}");

    let none = Folder::new("");
    fs::remove_file(none.path().join("tools/functions.ts")).unwrap();
    let checked = none.run(&["functions", "check"]);
    assert_eq!(checked.status.code(), Some(2));
    assert!(
        stderr(&checked).contains("no file matches `tools/*.ts`"),
        "{}",
        stderr(&checked)
    );
}

#[test]
fn the_policy_the_labels_and_the_audit_log_know_functions_and_what_they_call() {
    let functions = "export async function fetched(): Promise<unknown> { return await tools.demo.read_json({ path: 'a.json' }) }\n\
         export async function noted(): Promise<unknown> { return await tools.demo.add_note({ title: 't', text: 'x' }) }";
    let pml = json!({
        "policy": { "deny": ["demo:add_note"] },
        "labels": { "mode": "enforce", "sources": { "local:*": "trusted", "demo:read_json": "untrusted" } },
        "audit": { "commands": true },
    });
    let folder = Folder::with(functions, json!({}), pml);
    let outcome = folder.script("return await tools.local.noted()");
    assert!(message(&outcome).contains("demo:add_note"), "{outcome:#}");
    // The function is trusted; what it has read is not.
    let outcome = folder.script("return await tools.local.fetched()");
    assert_eq!(
        outcome["labels"]["read"]["untrusted"], "demo:read_json → run",
        "{outcome:#}"
    );
    let events = stdout(&folder.run(&["audit", "query", "--json"]));
    for tool in ["local:fetched", "demo:read_json"] {
        let of_tool = |line: &&str| line.contains(&format!("\"subject\":\"{tool}\""));
        assert!(
            events.lines().filter(of_tool).count() >= 2,
            "{tool}: {events}"
        );
    }
}

#[test]
fn add_writes_an_entry_whose_functions_work() {
    let folder =
        Folder::new("export async function hello(name: string) { return `hello ${name}` }");
    folder.write(".mcp.json", "{ \"mcpServers\": {} }");
    let added = folder.run(&["add", "mine", "--functions", "tools/*.ts"]);
    assert!(added.status.success(), "{}", stderr(&added));
    let outcome = folder.script("return await tools.mine.hello({ name: 'you' })");
    assert_eq!(outcome["result"], "hello you", "{outcome:#}");
}

#[test]
fn mistakes_in_an_entry_are_named() {
    for (entry, part) in [
        (
            json!({ "functions": "tools/*.ts", "command": "x" }),
            "both `functions` and `command`",
        ),
        (json!({ "functions": 1 }), "expected a pattern of files"),
        (json!({ "functions": "" }), "names no files"),
        (
            json!({ "command": "x", "limits": {} }),
            "has no `functions`",
        ),
        (
            json!({ "functions": "a.ts", "limits": { "memroy": "1m" } }),
            "memroy",
        ),
    ] {
        let folder = Folder::new("");
        folder.write(
            ".mcp.json",
            &json!({ "mcpServers": { "local": entry } }).to_string(),
        );
        let output = folder.run(&["tools"]);
        assert!(!output.status.success());
        assert!(
            stderr(&output).contains(part),
            "{entry}: {}",
            stderr(&output)
        );
    }
}

#[test]
fn no_type_or_value_of_a_file_can_exhaust_the_program() {
    let deep = format!("{}1{}", "[".repeat(1_000), "]".repeat(1_000));
    let mut doubling = "type A0 = [string, string];\n".to_owned();
    for n in 1..=30 {
        doubling += &format!("type A{n} = [A{m}, A{m}];\n", m = n - 1);
    }
    let folder = Folder::new(&format!(
        "const X = {deep} as const;\n{doubling}\
         export async function deep(x: typeof X) {{}}\n\
         export async function wide(x: A30) {{}}\n\
         export async function fine(x: A0): Promise<number> {{ return x.length }}\n"
    ));
    let outcome = folder.script("return await tools.local.fine({ x: ['a', 'b'] })");
    assert_eq!(outcome["result"], 2, "{outcome}");
    let check = folder.run(&["functions", "check"]);
    assert_eq!(check.status.code(), Some(1));
    let text = stdout(&check) + &stderr(&check);
    assert_eq!(
        text.matches("too large or nested too deep").count(),
        2,
        "{text}"
    );
}

#[test]
fn what_is_no_file_is_not_read() {
    let folder = Folder::new("export async function fine() { return 1 }");
    let pipe = folder.path().join("tools/pipe.ts");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    std::os::unix::fs::symlink("/dev/zero", folder.path().join("tools/zero.ts")).unwrap();
    let outcome = folder.script("return await tools.local.fine({})");
    assert_eq!(outcome["result"], 1, "{outcome}");
}

#[test]
fn the_budget_of_a_run_counts_what_its_functions_call() {
    let folder = Folder::with(
        "/** @effect read */ export async function version() { return (await tools.demo.read_json({ path: 'a.json' })).version }",
        json!({ "trust": "annotations" }),
        json!({ "policy": { "budget": { "tools": { "demo:*": 2 } } } }),
    );
    let outcome = folder.script(
        "const all = [];\n\
         for (let i = 0; i < 4; i++) all.push((await callTool('local:version', {})).success);\n\
         return all",
    );
    assert_eq!(
        outcome["result"],
        json!([true, true, false, false]),
        "{outcome}"
    );
}

#[test]
fn a_function_holds_no_slot_that_its_own_calls_wait_for() {
    let folder = Folder::with(
        "/** @effect read */ export async function version() { return (await tools.demo.read_json({ path: 'a.json' })).version }",
        json!({ "trust": "annotations" }),
        json!({ "policy": { "concurrency": { "perPrincipal": 1, "tools": { "*": 1 }, "perServer": 1 } } }),
    );
    let outcome = folder.script_with(
        &["--timeout", "20s"],
        "return await Promise.all([1, 2, 3].map(() => tools.local.version({})))",
    );
    assert_eq!(
        outcome["result"],
        json!(["1.0.0", "1.0.0", "1.0.0"]),
        "{outcome}"
    );
}

#[test]
fn answers_of_functions_are_not_cached() {
    let folder = Folder::with(
        "export async function now() { return await tools.demo.add_note({ title: 'a', text: 'b' }) }",
        json!({}),
        json!({ "policy": { "cache": { "tools": { "local:*": "10m" } } } }),
    );
    let outcome = folder.script(
        "const ids = [await tools.local.now({}), await tools.local.now({})];\n\
         return ids[0].id !== ids[1].id",
    );
    assert_eq!(outcome["result"], true, "{outcome}");
}

#[test]
fn parameters_may_be_called_like_members_of_every_object() {
    let folder = Folder::new(
        "export async function f(toString = 'd', valueOf = 2) { return [toString, valueOf] }",
    );
    let outcome = folder.script("return await tools.local.f({})");
    assert_eq!(outcome["result"], json!(["d", 2]), "{outcome}");
}
