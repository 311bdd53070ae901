//! Mistakes that are reported, and correct code that is not.

use std::collections::BTreeMap;
use std::sync::Arc;

use pml_catalog::{Catalog, CatalogTool, ListingStatus};
use serde_json::{Value, json};

use crate::{Finding, Rule, check};

mod against_validator;
mod correct_scripts;
mod flows;

fn tool(id: &str, input_schema: Value) -> CatalogTool {
    CatalogTool {
        id: id.to_owned(),
        description: String::new(),
        input_schema,
        output_schema: None,
        open_world: None,
    }
}

fn catalog() -> Arc<Catalog> {
    let servers = BTreeMap::from([
        ("fs".to_owned(), ListingStatus::Listed),
        ("my-git".to_owned(), ListingStatus::Listed),
        ("slow".to_owned(), ListingStatus::Silent),
        ("off".to_owned(), ListingStatus::Disabled),
    ]);
    let read = json!({
        "type": "object",
        "properties": {
            "path": { "type": "string", "minLength": 1 },
            "head": { "type": "integer", "minimum": 1 },
            "mode": { "enum": ["text", "binary"] },
            "edits": { "type": "array", "items": {
                "type": "object",
                "properties": { "from": { "type": "string" }, "to": { "type": "string" } },
                "required": ["from", "to"],
                "additionalProperties": false,
            } },
            "either": { "anyOf": [{ "type": "string" }, { "type": "null" }] },
        },
        "required": ["path"],
    });
    let strict = json!({
        "type": "object",
        "properties": { "repo": { "type": "string", "pattern": "^/" } },
        "additionalProperties": false,
    });
    let tools = [
        tool("fs:read_file", read),
        tool("fs:list", json!({ "type": "object" })),
        tool("my-git:log", strict),
    ];
    Arc::new(Catalog::new("", 0, servers, &tools))
}

fn findings(source: &str) -> Vec<Finding> {
    check("script.ts", source, Some(&catalog()))
}

/// The rule, the line and the message of the only finding.
fn only(source: &str) -> (Rule, u32, String) {
    let found = findings(source);
    assert_eq!(found.len(), 1, "{source}\n{found:#?}");
    let finding = &found[0];
    (finding.rule, finding.start.line, finding.message.clone())
}

fn nothing(source: &str) {
    let found = findings(source);
    assert!(found.is_empty(), "{source}\n{found:#?}");
}

/// The script after the fix of its only finding.
fn fixed(source: &str) -> String {
    let found = findings(source);
    assert_eq!(found.len(), 1, "{source}\n{found:#?}");
    let fix = found[0]
        .fix
        .as_ref()
        .unwrap_or_else(|| panic!("no fix: {found:#?}"));
    let offset = |at: crate::Position| {
        let line: usize = source
            .split_inclusive('\n')
            .take(at.line as usize - 1)
            .map(str::len)
            .sum();
        let rest = &source[line..];
        line + rest
            .chars()
            .take(at.column as usize - 1)
            .map(char::len_utf8)
            .sum::<usize>()
    };
    let (start, end) = (offset(fix.start), offset(fix.end));
    format!("{}{}{}", &source[..start], fix.replacement, &source[end..])
}

#[test]
fn a_syntax_error_is_reported_with_its_position() {
    let (rule, line, _) = only("const a = 1;\nconst = 2;");
    assert_eq!((rule, line), (Rule::Syntax, 2));
}

#[test]
fn every_shape_of_a_script_can_be_checked() {
    for source in [
        "return await callTool('fs:list')",
        "async () => { await tools.fs.list() }",
        "{ a: 1 }",
        "```ts\nawait tools.fs.list()\n```",
        "export default await tools.fs.list({ any: 1 })",
        "async function main() { return tools.fs.list() }",
    ] {
        nothing(source);
    }
    let (rule, line, _) = only("Here it is:\n```ts\nawait tools.fs.lost()\n```");
    assert_eq!((rule, line), (Rule::UnknownTool, 3));
}

#[test]
fn an_unknown_tool_is_reported_with_the_nearest() {
    for source in [
        "await callTool('fs:raed_file', { path: 'a' });",
        "await tools.fs.raed_file({ path: 'a' });",
        "const { fs } = tools; await fs.raed_file({ path: 'a' });",
        "const files = tools['fs']; await files.raed_file({ path: 'a' });",
        "const { raed_file } = tools.fs; await raed_file({ path: 'a' });",
        "import { callTool as call } from 'pml'; await call(`fs:raed_file`, { path: 'a' });",
        "import * as pml from 'pml'; await pml.tools.fs.raed_file({ path: 'a' });",
        "await globalThis.callTool('fs:raed_file', { path: 'a' });",
        "await describeTool('fs:raed_file');",
        "await callToolsBatch([{ tool: 'fs:raed_file', args: { path: 'a' } }]);",
        "await callToolsBatch(args.map((path) => ({ tool: 'fs:raed_file', args: { path } })));",
        "await callToolsBatch(args.map((path) => { return { tool: 'fs:raed_file', args: { path } }; }));",
    ] {
        let (rule, _, message) = only(source);
        assert_eq!(rule, Rule::UnknownTool, "{source}");
        assert_eq!(
            message,
            "there is no tool `fs:raed_file`; did you mean `fs:read_file`?"
        );
    }
    assert_eq!(
        fixed("await callTool('fs:raed_file', { path: 'a' });"),
        "await callTool(\"fs:read_file\", { path: 'a' });"
    );
    assert_eq!(
        fixed("const ü = 1; await tools.fs.lst();"),
        "const ü = 1; await tools.fs.list();"
    );
    assert_eq!(
        fixed("await callTool('list');"),
        "await callTool(\"fs:list\");"
    );
    assert_eq!(
        fixed("await tools['my-git']['lgo']();"),
        "await tools['my-git'][\"log\"]();"
    );
}

#[test]
fn a_misspelled_server_is_fixed_where_it_is_named() {
    for (source, expected) in [
        ("await tools.fz.list();", "await tools.fs.list();"),
        ("await callTool('fz:list');", "await callTool(\"fs:list\");"),
        (
            "await tools['my-gti'].log();",
            "await tools[\"my-git\"].log();",
        ),
        ("await listPrompts('fz');", "await listPrompts(\"fs\");"),
    ] {
        assert_eq!(fixed(source), expected);
    }
}

#[test]
fn a_server_is_unknown_disabled_or_silent() {
    let (rule, _, message) = only("await tools.fz.list();");
    assert_eq!(
        (rule, message.as_str()),
        (
            Rule::UnknownServer,
            "there is no server `fz`; did you mean `fs`?"
        )
    );
    let start = findings("await tools.fz.list();")[0].start;
    assert_eq!(start.column, 13);
    let (_, _, message) = only("await listResources('off');");
    assert_eq!(message, "the server `off` is disabled in the configuration");
    nothing("await tools.slow.anything({ x: 1 });");
}

#[test]
fn arguments_that_do_not_fit_are_reported() {
    for (arguments, message) in [
        ("", "`path` is missing: string"),
        ("undefined", "`path` is missing: string"),
        ("{}", "`path` is missing: string"),
        ("{ path: undefined }", "`path` is missing: string"),
        (
            "{ pth: 'a' }",
            "there is no argument `pth`; did you mean `path`?",
        ),
        ("{ path: 5 }", "`path` must be string, not a number"),
        ("{ path: '' }", "`path` must not be empty"),
        (
            "{ path: 'a', hed: 1 }",
            "there is no argument `hed`; did you mean `head`?",
        ),
        (
            "{ path: 'a', head: 1.5 }",
            "`head` must be an integer, not 1.5",
        ),
        (
            "{ path: 'a', head: -1 }",
            "`head` must be at least 1, not -1",
        ),
        (
            "{ path: 'a', mode: 'txt' }",
            "`mode` must be one of \"text\", \"binary\", not \"txt\"",
        ),
        (
            "{ path: `${args[0]}`, mode: 3 }",
            "`mode` must be one of \"text\", \"binary\", not 3",
        ),
        (
            "{ path: 'a', edits: [{ from: 'x' }] }",
            "`edits[0].to` is missing: string",
        ),
        (
            "{ path: 'a', edits: [{ from: 'x', to: 'y', at: 1 }] }",
            "there is no argument `edits[0].at`; there is `from` and `to`",
        ),
        (
            "{ path: 'a', either: 7 }",
            "`either` must be string | null, not 7",
        ),
        (
            "{ ...args, path: 5 }",
            "`path` must be string, not a number",
        ),
    ] {
        let (rule, _, reported) = only(&format!("await tools.fs.read_file({arguments});"));
        assert_eq!(rule, Rule::WrongArguments);
        assert_eq!(reported, format!("fs:read_file: {message}"), "{arguments}");
    }
    let (_, _, reported) = only("await callTool('fs:read_file', 'a');");
    assert_eq!(reported, "fs:read_file takes an object of named arguments");
    let (_, _, reported) = only("await tools['my-git'].log({ repo: 'x' });");
    assert_eq!(reported, "my-git:log: `repo` must match /^//");
    let (_, _, reported) = only("await callToolsBatch([{ tool: 'fs:read_file' }]);");
    assert_eq!(reported, "fs:read_file: `path` is missing: string");
}

#[test]
fn arguments_that_may_fit_are_left_alone() {
    for arguments in [
        "{ path: args[0] }",
        "{ path: `${args[0]}.json` }",
        "{ ...rest }",
        "{ path: 5, ...rest }",
        "{ [name]: 1, path: 'a' }",
        "{ path }",
        "rest",
        "...list",
        "{ path: 'a', unheard_of: 1 }",
        "{ path: 5 as any }",
        "{ path: 'a', edits: [...list] }",
        "{ path: 'a', edits: [rest] }",
        "{ path: 'a', head: Number(args[0]) }",
        "{ path: 'a', head: undefined, either: null }",
        "{ path: args[0] ? 'a' : 'b' }",
        "{ get path() { return 'a' } }",
    ] {
        nothing(&format!(
            "const rest: any = {{}}; const list: any = []; const name = 'x', path = 'a';\nawait tools.fs.read_file({arguments});"
        ));
    }
}

#[test]
fn names_that_are_the_scripts_own_are_left_alone() {
    for source in [
        "const callTool = (id: string) => id; callTool('no:such');",
        "function f(tools: any) { tools.no.such(); }",
        "const o = { callTool(id: string) {} }; o.callTool('no:such');",
        "class A { tools = 1; m() { return this.tools; } }",
        "let t = tools.fs; t = other(); await t.lost(); function other(): any {}",
        "globalThis.callTool = (() => 1) as any; callTool('no:such');",
        "const id = args[0] ?? 'x'; await callTool(id, { any: 1 });",
    ] {
        nothing(source);
    }
}

#[test]
fn fixes_of_arguments_leave_a_script_without_mistakes() {
    for (wrong, right) in [
        ("{ pth: 'a' }", "{ path: 'a' }"),
        ("{ path: 'a', head: '5' }", "{ path: 'a', head: 5 }"),
        ("{ path: 5 }", "{ path: \"5\" }"),
        (
            "{ path: 'a', mode: 'tex' }",
            "{ path: 'a', mode: \"text\" }",
        ),
    ] {
        let script = |arguments: &str| format!("await tools.fs.read_file({arguments});");
        let source = fixed(&script(wrong));
        assert_eq!(source, script(right));
        nothing(&source);
    }
}

#[test]
fn imports_lead_to_pml_and_nowhere_else() {
    for source in [
        "import fs from 'node:fs';\nfs;",
        "import './other.ts';",
        "export * from 'lodash';",
        "await import('https://example.test/x.js');",
        "import { test } from 'pml/test';\ntest;",
        "import x = require('x');\nx;",
    ] {
        let (rule, line, _) = only(source);
        assert_eq!((rule, line), (Rule::UnreachableImport, 1), "{source}");
    }
    let (_, _, message) = only("import { calTool } from 'pml';\nawait calTool('fs:list');");
    assert_eq!(
        message,
        "\"pml\" has no `calTool`; did you mean `callTool`?"
    );
    for source in [
        "import { callTool, tools, type MCPTool } from 'pml';\nawait callTool('fs:list');",
        "import { load, store } from 'pml';\nawait store('a', await load('b'));",
        "import type { Thing } from './types.ts';\nexport default 1 as any as Thing;",
        "import { MCPTool } from 'pml';\nexport default [] as MCPTool[];",
        "await import(args[0]);",
    ] {
        nothing(source);
    }
    assert!(
        check(
            "a.test.ts",
            "import { test } from 'pml/test';\ntest('x', () => {});",
            None
        )
        .is_empty()
    );
}

#[test]
fn globals_that_a_script_does_not_have_are_reported() {
    for (source, expected) in [
        (
            "await fetch('https://example.test');",
            "a script has no `fetch`; call a tool",
        ),
        (
            "console.log(process.env.HOME);",
            "a script has no `process`; its arguments are `args`",
        ),
        (
            "const fs = require('fs');",
            "a script has no `require`; what it needs is global",
        ),
        (
            "Buffer.from('x');",
            "a script has no `Buffer`; use Uint8Array",
        ),
        (
            "eval('1');",
            "a script has no `eval`; it cannot compile code from text",
        ),
        (
            "await calltool('fs:list');",
            "`calltool` is not defined; did you mean `callTool`?",
        ),
        ("const x = { undeclared };", "`undeclared` is not defined"),
        (
            "new Function('return 1')();",
            "a script cannot compile code from text",
        ),
    ] {
        let (rule, _, message) = only(source);
        assert_eq!(rule, Rule::UnknownGlobal, "{source}");
        assert!(message.starts_with(expected), "{source}: {message}");
    }
    for source in [
        "const home = typeof process === 'undefined' ? '' : process.env.HOME;",
        "const r: Response | undefined = undefined; interface Response { a: Window }",
        "function f() { return arguments.length; }",
        "globalThis.shared = 1; console.log(shared);",
        "enum A { B } namespace N { export const x = 1; } console.log(A.B, N.x);",
        "outer: for (const a of [1]) { for (const b of [2]) continue outer; }",
        "const { fetch } = args as any; fetch();",
        "new URL('https://example.test').searchParams; structuredClone(Temporal.Now);",
        "try { throw 1 } catch (e) { console.log(e) } class A { static x = 1; #y = A.x; }",
    ] {
        nothing(source);
    }
}

#[test]
fn a_call_that_is_not_awaited_is_reported() {
    for source in [
        "callTool('fs:list');\nexport default 1;",
        "tools.fs.list();\nconsole.log(1);",
        "tools.fs.list().then((x) => console.log(x));\nconsole.log(1);",
        "async function f() { tools.fs.list(); }\nawait f();",
        "const f = () => { searchTools('x'); };\nf();",
        "if (args.length) { callTool('fs:list'); }\nconsole.log(1);",
        "args.forEach(async (path) => { await tools.fs.read_file({ path }); });\nconsole.log(1);",
        "args.forEach((path) => tools.fs.read_file({ path }));\nconsole.log(1);",
        "const x = callTool('fs:list').result;",
        "const { result } = callTool('fs:list');",
        "const [first] = searchTools('x');",
        // The default export or the entry point is the result, so no call is.
        "callTool('fs:list');\nconst x = 1;\nexport default x;",
        "callTool('fs:list');\nfunction run() { return 1; }",
    ] {
        let (rule, line, _) = only(source);
        assert_eq!((rule, line), (Rule::FloatingPromise, 1), "{source}");
    }
    for source in [
        "const x = 1; export default x; callTool('fs:list')",
        "function run() { return 1; }\ncallTool('fs:list')",
    ] {
        let (rule, _, _) = only(source);
        assert_eq!(rule, Rule::FloatingPromise, "{source}");
    }
    for source in [
        "await callTool('fs:list');",
        "callTool('fs:list')",
        "function run() { return 1; }\nrun();\ncallTool('fs:list')",
        "const p = callTool('fs:list'); await p;",
        "void callTool('fs:list');\nconsole.log(1);",
        "tools.fs.list().catch(() => {});\nconsole.log(1);",
        "tools.fs.list().then(() => {}, () => {});\nconsole.log(1);",
        "await Promise.all(args.map((path) => tools.fs.read_file({ path })));",
        "for (const path of args) await tools.fs.read_file({ path });",
        "async function f() { return tools.fs.list(); }\nawait f();",
        "const text = (await callTool('fs:list')).result;",
        "args.forEach((path) => console.log(path));",
    ] {
        nothing(source);
    }
    assert_eq!(
        fixed("tools.fs.list();\nconsole.log(1);"),
        "await tools.fs.list();\nconsole.log(1);"
    );
    assert_eq!(
        fixed("const x = callTool('fs:list').result;"),
        "const x = (await callTool('fs:list')).result;"
    );
    assert_eq!(
        fixed("const { result } = callTool('fs:list');"),
        "const { result } = await callTool('fs:list');"
    );
}

#[test]
fn await_is_not_suggested_where_it_is_invalid() {
    for source in [
        "const f = () => { tools.fs.list(); };\nf();",
        "function f() { store('a', 1); }\nf();",
        "class A { x = callTool('fs:list').result; }\nnew A();",
        "async function f() { [1].map(() => { tools.fs.list(); }); }\nawait f();",
    ] {
        let found = findings(source);
        assert_eq!(found.len(), 1, "{source}");
        assert_eq!(found[0].rule, Rule::FloatingPromise, "{source}");
        assert_eq!(found[0].fix, None, "{source}");
    }
    assert_eq!(
        fixed("const f = async () => { tools.fs.list(); };\nawait f();"),
        "const f = async () => { await tools.fs.list(); };\nawait f();"
    );
}

#[test]
fn a_pattern_refuses_no_text_that_javascript_would_match() {
    let words = json!({ "type": "object", "properties": { "x": { "pattern": "^[^\\w]+$" } } });
    let servers = BTreeMap::from([("a".to_owned(), ListingStatus::Listed)]);
    let catalog = Arc::new(Catalog::new("", 0, servers, &[tool("a:b", words)]));
    let found = |source: &str| check("script.ts", source, Some(&catalog)).len();
    assert_eq!(found("await tools.a.b({ x: 'é' });"), 0);
    assert_eq!(found("await tools.a.b({ x: 'e' });"), 1);
}

#[test]
fn a_hostile_schema_or_script_ends_quickly() {
    let mut tree = json!({ "anyOf": [{ "$ref": "#" }, { "$ref": "#" }, { "$ref": "#" }] });
    tree["properties"] = json!({ "a": { "$ref": "#" } });
    let servers = BTreeMap::from([("s".to_owned(), ListingStatus::Listed)]);
    let catalog = Arc::new(Catalog::new("", 0, servers, &[tool("s:t", tree)]));
    let deep = format!(
        "await tools.s.t({}1{});",
        "{ a: ".repeat(60),
        " }".repeat(60)
    );
    check("script.ts", &deep, Some(&catalog));
    for piece in ["(", "[", "!", "1+", "x.", "f(", "if(a)", "await ", "x:"] {
        for times in [8_000, 200_000] {
            check(
                "script.ts",
                &format!("{}1", piece.repeat(times)),
                Some(&catalog),
            );
        }
    }
    check("script.ts", "\u{feff}", Some(&catalog));
}

#[test]
fn a_name_that_is_only_assigned_to_is_not_defined() {
    let (rule, line, message) = only("total = 0;\nconsole.log('x');");
    assert_eq!((rule, line), (Rule::UnknownGlobal, 1));
    assert!(message.contains("`total`"), "{message}");
}

#[test]
fn the_api_has_no_default_export() {
    let (rule, _, message) = only("import pml from 'pml';\nreturn 1");
    assert_eq!(rule, Rule::UnreachableImport);
    assert!(message.contains("import * as pml"), "{message}");
}
