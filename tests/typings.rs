//! `typings/pml.d.ts` declares exactly the globals of a script, and the examples compile with it.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use serde_json::{Value, json};

use crate::support::{pml, repository, result_of};

const PACKAGE: &str = include_str!("typings/package.json");
const LOCK: &str = include_str!("typings/package-lock.json");

/// Web classes of a script that are not part of the language.
const CLASSES: [&str; 10] = [
    "AbortController",
    "AbortSignal",
    "CustomEvent",
    "DOMException",
    "Event",
    "EventTarget",
    "TextDecoder",
    "TextEncoder",
    "URL",
    "URLSearchParams",
];
const OBJECTS: [&str; 3] = ["console", "crypto", "performance"];

/// Internal members of Deno, which are not declared.
fn is_internal(class: &str, member: &str) -> bool {
    matches!(
        (class, member),
        ("Event", "initialized") | ("EventTarget", "getParent")
    )
}

// The TypeScript compiler.

/// The compiler, installed once below the user's cache folder.
pub fn compiler() -> &'static Path {
    static COMPILER: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    COMPILER
        .get_or_init(install)
        .as_deref()
        .unwrap_or_else(|reason| panic!("{reason}"))
}

fn install() -> Result<PathBuf, String> {
    let package: Value = serde_json::from_str(PACKAGE).map_err(|error| error.to_string())?;
    let version = package["dependencies"]["typescript"]
        .as_str()
        .ok_or("tests/typings/package.json names no version")?;
    let cache = cache_folder()?.join("pml");
    let home = cache.join(format!("typescript-{version}"));
    let script = home.join("node_modules/typescript/bin/tsc");
    if script.is_file() {
        return Ok(script);
    }
    eprintln!(
        "installing typescript@{version} with npm into {}",
        home.display()
    );
    let cannot = |reason: &dyn std::fmt::Display| {
        format!(
            "typescript@{version} is needed to check the typings and npm could not install it; \
             check that `npm` runs and reaches its registry. {reason}"
        )
    };
    // Installed into a temporary folder first: a concurrent test run may do the same.
    fs::create_dir_all(&cache).map_err(|error| cannot(&error))?;
    let fresh = tempfile::tempdir_in(&cache).map_err(|error| cannot(&error))?;
    fs::write(fresh.path().join("package.json"), PACKAGE).map_err(|error| cannot(&error))?;
    fs::write(fresh.path().join("package-lock.json"), LOCK).map_err(|error| cannot(&error))?;
    let output = Command::new("npm")
        .args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"])
        .current_dir(fresh.path())
        .output()
        .map_err(|error| cannot(&error))?;
    if !output.status.success() {
        return Err(cannot(&String::from_utf8_lossy(&output.stderr)));
    }
    match fs::rename(fresh.path(), &home) {
        Ok(()) => {}
        Err(_) if script.is_file() => {}
        Err(error) => return Err(cannot(&error)),
    }
    Ok(script)
}

fn cache_folder() -> Result<PathBuf, String> {
    let folder = |name| {
        env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    folder("XDG_CACHE_HOME")
        .or_else(|| Some(folder("HOME")?.join(".cache")))
        .ok_or_else(|| "neither XDG_CACHE_HOME nor HOME is set".to_owned())
}

pub fn compile(project: &Path) -> Result<(), String> {
    let Output { status, stdout, .. } = Command::new("node")
        .arg(compiler())
        .args(["--strict", "--noEmit", "--pretty", "false", "-p"])
        .arg(project)
        .output()
        .expect("node is there");
    if status.success() {
        Ok(())
    } else {
        Err(String::from_utf8_lossy(&stdout).into_owned())
    }
}

/// Compiles a script as an editor would check it.
fn check(script: &str) -> Result<(), String> {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let config = json!({
        "extends": typings().join("tsconfig.json"),
        "include": ["script.ts"],
    });
    fs::write(folder.path().join("tsconfig.json"), config.to_string())
        .expect("a file can be written");
    fs::write(folder.path().join("script.ts"), script).expect("a file can be written");
    compile(folder.path())
}

pub fn typings() -> PathBuf {
    repository()
        .canonicalize()
        .expect("the repository is there")
        .join("typings")
}

fn declarations() -> String {
    fs::read_to_string(typings().join("pml.d.ts")).expect("the typings are there")
}

// The declared names, parsed line by line.

/// Names after `declare var` and `declare function`.
fn declared_globals() -> BTreeSet<String> {
    let text = declarations();
    text.lines()
        .filter_map(|line| {
            let rest = line.strip_prefix("declare ")?;
            let rest = rest
                .strip_prefix("var ")
                .or_else(|| rest.strip_prefix("function "))?;
            Some(leading_name(rest).to_owned())
        })
        .collect()
}

/// Members of the block whose first line starts with `block`, such as `interface URL {`.
fn members_of(block: &str) -> BTreeSet<String> {
    let text = declarations();
    let mut lines = text.lines().skip_while(|line| !line.starts_with(block));
    lines
        .next()
        .unwrap_or_else(|| panic!("there is no `{block}`"));
    lines
        .take_while(|line| !line.starts_with('}'))
        .filter_map(|line| {
            let line = line
                .strip_prefix("  ")
                .filter(|line| !line.starts_with(' '))?;
            let line = line.strip_prefix("readonly ").unwrap_or(line);
            let name = leading_name(line);
            let rest = &line[name.len()..];
            let is_member = rest.starts_with(['(', ':', '?', '<']);
            (is_member && !name.is_empty() && !matches!(name, "new" | "prototype"))
                .then(|| name.to_owned())
        })
        .collect()
}

fn leading_name(text: &str) -> &str {
    let end = text
        .find(|c: char| !(c.is_alphanumeric() || c == '_'))
        .unwrap_or(text.len());
    &text[..end]
}

// The names that a script really has.

fn names(script: &str) -> BTreeSet<String> {
    serde_json::from_value(result_of(script)).expect("a list of names")
}

/// Names as an array literal for a script.
fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    json!(names.into_iter().collect::<Vec<_>>()).to_string()
}

#[test]
fn every_global_of_a_script_is_declared() {
    let script: String = names("Object.getOwnPropertyNames(globalThis)")
        .iter()
        .map(|name| format!("void {name};\n"))
        .collect();
    assert!(script.contains("void callTool;"), "{script}");
    assert_eq!(check(&script), Ok(()));
}

#[test]
fn every_declared_global_exists() {
    let declared = declared_globals();
    assert!(
        declared.contains("callTool") && declared.contains("URL"),
        "{declared:?}"
    );
    let missing = names(&format!(
        "{}.filter((name) => globalThis[name] === undefined)",
        list(declared.iter().map(String::as_str))
    ));
    assert_eq!(missing, BTreeSet::new());
}

#[test]
fn every_member_that_a_script_sees_is_declared() {
    let mut script = String::new();
    for class in CLASSES {
        let own = format!("Object.getOwnPropertyNames({class}.prototype)");
        for member in names(&own).iter().filter(|name| !is_internal(class, name)) {
            script += &format!("void {class}.prototype.{member};\n");
        }
        // Without those that every function has.
        let statics = names(&format!(
            "Object.getOwnPropertyNames({class}).filter((name) => !(name in (() => 1)))"
        ));
        for member in statics.iter().filter(|name| !is_internal(class, name)) {
            script += &format!("void {class}.{member};\n");
        }
    }
    for object in OBJECTS {
        let all = format!(
            "[...Object.getOwnPropertyNames({object}), ...Object.getOwnPropertyNames(Object.getPrototypeOf({object}))]"
        );
        for member in names(&all) {
            script += &format!("void {object}.{member};\n");
        }
    }
    assert!(
        script.contains("void URL.prototype.searchParams;"),
        "{script}"
    );
    assert_eq!(check(&script), Ok(()));
}

#[test]
fn every_declared_member_exists() {
    for class in CLASSES {
        let block = if class == "CustomEvent" {
            "interface CustomEvent<"
        } else {
            &format!("interface {class} ")
        };
        let members = members_of(block);
        assert!(!members.is_empty(), "{class}");
        let missing = names(&format!(
            "{}.filter((name) => !(name in {class}.prototype))",
            list(members.iter().map(String::as_str))
        ));
        assert_eq!(missing, BTreeSet::new(), "{class}");
        let statics = members_of(&format!("declare var {class}: "));
        let missing = names(&format!(
            "{}.filter((name) => !(name in {class}))",
            list(statics.iter().map(String::as_str))
        ));
        assert_eq!(missing, BTreeSet::new(), "static {class}");
    }
    for (interface, object) in [
        ("Console", "console"),
        ("Crypto", "crypto"),
        ("Performance", "performance"),
    ] {
        let members = members_of(&format!("interface {interface} "));
        assert!(!members.is_empty(), "{interface}");
        let missing = names(&format!(
            "{}.filter((name) => !(name in {object}))",
            list(members.iter().map(String::as_str))
        ));
        assert_eq!(missing, BTreeSet::new(), "{object}");
    }
}

#[test]
fn the_module_declares_exactly_what_it_exports() {
    let text = declarations();
    let declared: BTreeSet<String> = text
        .lines()
        .filter_map(|line| line.strip_prefix("  export const "))
        .map(|rest| leading_name(rest).to_owned())
        .collect();
    assert_eq!(
        declared,
        names("import * as pml from 'pml';\nObject.keys(pml)")
    );
}

#[test]
fn the_declarations_of_tools_and_errors_hold_at_run_time() {
    let tool_error = members_of("interface ToolError ");
    let of_a_failure =
        names("Object.keys((await callTool('a:b')).error).concat('name', 'retryAfterMs')");
    assert_eq!(tool_error, of_a_failure);
}

#[test]
fn the_declarations_of_codes_and_of_the_module_itself_hold_at_run_time() {
    let codes = "Object.keys(DOMException).filter((name) => name.endsWith('_ERR'))";
    assert_eq!(members_of("interface DOMExceptionCodes "), names(codes));
    assert_eq!(
        members_of("interface ImportMeta "),
        names("Object.keys(import.meta)")
    );
    let script = "const code: 20 = DOMException.ABORT_ERR;\n\
        const same: boolean = new DOMException().ABORT_ERR === code;\n\
        const path: string = import.meta.dirname + import.meta.filename;";
    assert_eq!(check(script), Ok(()));
}

#[test]
fn a_script_in_every_style_passes_the_checker() {
    let script = r#"
import { type MCPTool, ToolError as Failure, callTool as call, tools as all } from "pml";
const found: MCPTool[] = await searchTools("x", 5, 0.5);
const answer = await call<{ rows: number[] }>("db:query", { sql: "select 1" });
const rows: number[] = answer.success ? answer.result.rows : [];
const why: string | undefined = answer.success ? undefined : answer.error.message;
const text = await tools.fs.read_file<string>({ path: "a" }).catch((e: unknown) => {
  if (e instanceof ToolError && e.retryable) return String(e.retryAfterMs ?? 0);
  throw e;
});
const many = await callToolsBatch<number>(found.map((tool) => ({ tool: tool.id })), { concurrency: 2, stopOnError: true });
const sum = many.reduce((total, one) => total + (one.success ? one.result : 0), 0);
await callToolsBatch<number>((function* () { yield { tool: "a:b" }; })(), { chunk: 9, onResult: (one, index) => one.success && index, onProgress: ({ done }) => done });
for await (const part of streamTool<number>("db:rows", { page: 1 }, { next: ({ args, length }) => length > 0 ? { page: args.page + 1 } : undefined })) {
  const row: number = part.type === "item" ? part.value : part.type === "text" ? part.text.length : 0;
  console.log(row);
}
const ran = await runWorkflow<number>({ tasks: [{ id: "a", code: "return 1" }] }, { x: 1 });
const state: string = ran.tasks.a?.state ?? "none";
console.log(ran.output + 1, state);
await new Promise((done) => setTimeout(done, 5));
const id: number = setInterval((label: string) => console.log(label), 10, "tick");
clearInterval(id);
AbortSignal.timeout(10).addEventListener("abort", () => {}, { once: true });
const query = Object.fromEntries(new URL("https://example.com?a=1").searchParams);
const bytes: Uint8Array = crypto.getRandomValues(new Uint8Array(4));
const same = globalThis.callTool === call && Failure === ToolError && all === tools;
const day = Temporal.Now.plainDateISO().toString();
export default { rows, why, text, sum, query, bytes, same, day, clone: structuredClone({ args }) };
"#;
    assert_eq!(check(script), Ok(()));
}

#[test]
fn the_checker_finds_what_a_script_does_not_have() {
    let wrong = [
        "fetch('https://example.com');",
        "document.title;",
        "window.location;",
        "process.env;",
        "Deno.cwd();",
        "require('fs');",
        "import('fs');",
        "callTool(5);",
        "callTool('a:b', 'text');",
        "callToolsBatch([{ args: {} }]);",
        "searchTools(['words']);",
        "(await callTool<string>('a:b')).result.length;",
        "const error: string = (await callTool('a:b')).error;",
        "new URL();",
        "crypto.subtle;",
    ];
    let script: String = wrong
        .iter()
        .map(|line| format!("// @ts-expect-error\n{line}\n"))
        .collect();
    assert_eq!(check(&script), Ok(()));
}

// The examples.

#[test]
fn the_examples_compile_under_strict_typescript() {
    assert_eq!(compile(&repository().join("examples")), Ok(()));
}

fn run_example(name: &str, args: &[&str]) -> (Value, String) {
    let output = pml()
        .current_dir(repository())
        .args(["run", &format!("examples/{name}"), "--"])
        .args(args)
        .output()
        .expect("the binary starts");
    let logs = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{logs}");
    (
        serde_json::from_slice(&output.stdout).expect("the result is JSON"),
        logs,
    )
}

#[test]
fn the_quickstart_reads_files_through_the_demo_server() {
    let (result, logs) = run_example("quickstart.ts", &["3"]);
    assert_eq!(
        result,
        json!({
            "services": ["billing 2.4.1", "checkout 2.4.1", "search 3.0.2"],
            "replicas": 13,
            "owners": ["team-payments", "team-shop"],
        })
    );
    assert!(
        logs.starts_with("Not in here: fetch, Deno, process, require, eval\n"),
        "{logs}"
    );
    assert!(logs.contains("demo:read_json"), "{logs}");
    assert!(
        logs.contains(
            "As expected: there is no services/nothing.json; list_files shows what there is"
        ),
        "{logs}"
    );
}

#[test]
fn the_report_takes_an_argument() {
    let (all, table) = run_example("report.ts", &[]);
    assert_eq!(all.as_array().map(Vec::len), Some(3));
    assert!(
        table.contains("│ \"south\"  │      2 │ \"$100.00\" │ \"2026-04-03\" │"),
        "{table}"
    );
    let (euros, _) = run_example("report.ts", &["EUR"]);
    assert_eq!(euros.as_array().map(Vec::len), Some(2));
}

#[test]
fn the_gatherer_reads_what_there_is_and_names_what_is_not() {
    let (result, logs) = run_example("gather.ts", &["welcome.txt", "gone.txt"]);
    assert_eq!(
        result,
        json!({ "read": 1, "lines": { "welcome.txt": 5 }, "missing": ["gone.txt"] })
    );
    assert!(logs.contains("gone.txt: there is no gone.txt"), "{logs}");
}
