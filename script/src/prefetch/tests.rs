//! Scripts and the calls that are foreseen in them.

use std::collections::BTreeMap;

use pml_protocol::{PrefetchStep, PrefetchValue};
use serde_json::Value as Json;

use crate::transpile_and_prefetch;

/// The plan on one line: `a({"x":1}); each #0.files [b({"path":item})]`.
fn plan(source: &str) -> String {
    let args = ["first".to_owned(), "second".to_owned()];
    let (_, plan) = transpile_and_prefetch("a.ts", source, &args)
        .unwrap_or_else(|_| panic!("not a script: {source}"));
    let json = serde_json::to_string(&plan).unwrap();
    assert_eq!(
        serde_json::from_str::<pml_protocol::PrefetchPlan>(&json).unwrap(),
        plan
    );
    steps(&plan.steps)
}

fn steps(list: &[PrefetchStep]) -> String {
    let one = |step: &PrefetchStep| match step {
        PrefetchStep::Call { tool, args, .. } => match args {
            Some(args) => format!("{tool}({})", value(args)),
            None => format!("{tool}(?)"),
        },
        PrefetchStep::Load { key, .. } => format!("load({key})"),
        PrefetchStep::Each {
            list, steps: inner, ..
        } => {
            format!("each {} [{}]", value(list), steps(inner))
        }
    };
    list.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// Whether objects keep the order of their keys depends on what else is built.
fn sorted(json: &Json) -> Json {
    match json {
        Json::Object(fields) => {
            let fields: BTreeMap<_, _> = fields.iter().collect();
            let fields = fields.into_iter();
            Json::Object(
                fields
                    .map(|(key, value)| (key.clone(), sorted(value)))
                    .collect(),
            )
        }
        Json::Array(items) => items.iter().map(sorted).collect(),
        json => json.clone(),
    }
}

fn value(of: &PrefetchValue) -> String {
    let list = |parts: &[PrefetchValue]| parts.iter().map(value).collect::<Vec<_>>().join(",");
    match of {
        PrefetchValue::Json(Json::Object(fields)) if fields.is_empty() => String::new(),
        PrefetchValue::Json(json) => sorted(json).to_string(),
        PrefetchValue::Result(id) => format!("#{id}"),
        PrefetchValue::Item(_) => "item".to_owned(),
        PrefetchValue::Get(of, key) => format!("{}.{key}", value(of)),
        PrefetchValue::At(of, at) => format!("{}[{at}]", value(of)),
        PrefetchValue::Slice(of, begin, end) => match end {
            Some(end) => format!("{}[{begin}..{end}]", value(of)),
            None => format!("{}[{begin}..]", value(of)),
        },
        PrefetchValue::Text(parts) => format!("text({})", list(parts)),
        PrefetchValue::List(parts) => format!("[{}]", list(parts)),
        PrefetchValue::Object(fields) => {
            let field = |(key, of): &(String, PrefetchValue)| format!("{key}:{}", value(of));
            format!(
                "{{{}}}",
                fields.iter().map(field).collect::<Vec<_>>().join(",")
            )
        }
    }
}

#[track_caller]
fn check(cases: &[(&str, &str)]) {
    for (source, expected) in cases {
        assert_eq!(plan(source), *expected, "{source}");
    }
}

#[test]
fn calls_in_a_row_are_foreseen_in_every_spelling() {
    check(&[
        (
            "const a = await callTool('s:a', { n: 1 }); const b = await tools.s.b({ n: 2 }); return [a, b]",
            r#"s:a({"n":1}); s:b({"n":2})"#,
        ),
        ("await tools['s']['c']()", "s:c()"),
        ("await tools['s:c.d']({})", "s:c.d()"),
        ("await tools.s.c.d({})", "s:c.d()"),
        (
            "const { s } = tools; const read = s.read; await read({ n: 1 })",
            r#"s:read({"n":1})"#,
        ),
        (
            "import { callTool as call } from 'pml'; await call('s:a')",
            "s:a()",
        ),
        (
            "import * as pml from 'pml'; await pml.callTool('s:a'); await pml.tools.s.b()",
            "s:a(); s:b()",
        ),
        (
            "const [a, b] = await Promise.all([tools.s.a(), callTool('s:b', {})]); await tools.s.c()",
            "s:a(); s:b(); s:c()",
        ),
        (
            "await callToolsBatch([{ tool: 's:a', args: { n: 1 } }, { tool: 's:b' }])",
            r#"s:a({"n":1}); s:b()"#,
        ),
        (
            "return { a: callTool('s:a'), b: [tools.s.b()] }",
            "s:a(); s:b()",
        ),
    ]);
}

#[test]
fn arguments_are_constants_args_and_parts_of_earlier_results() {
    check(&[
        (
            "await tools.s.a({ path: args[0], n: args.length })",
            r#"s:a({"n":2,"path":"first"})"#,
        ),
        (
            "const base = 'docs'; await tools.s.a({ path: `${base}/${args[1]}.md`, n: -1, on: true })",
            r#"s:a({"n":-1,"on":true,"path":"docs/second.md"})"#,
        ),
        (
            "const r = await tools.s.a(); await tools.s.b({ id: r.items[0].id, url: `/x/${r.name}` })",
            r#"s:a(); s:b({id:#0.items[0].id,url:text("/x/",#0.name)})"#,
        ),
        (
            "const { result: { id } } = await callTool('s:a'); await callTool('s:b', { id })",
            "s:a(); s:b({id:#0.id})",
        ),
        (
            "const v = await load('k'); await tools.s.b({ path: v.path })",
            "load(k); s:b({path:#0.path})",
        ),
        (
            "const r = await tools.s.a(); await tools.s.b({ now: r.x.toUpperCase() }); await tools.s.c()",
            "s:a(); s:b(?); s:c()",
        ),
        (
            "const o = { n: 1 }; o.n = 2; const l = ['a']; l.push('b'); await tools.s.a({ o, l })",
            r#"s:a({"l":["a","b"],"o":{"n":2}})"#,
        ),
    ]);
}

#[test]
fn loops_and_functions_are_followed() {
    check(&[
        (
            "for (const n of [1, 2]) await tools.s.a({ n })",
            r#"s:a({"n":1}); s:a({"n":2})"#,
        ),
        (
            "for (let i = 0; i < 2; i++) { await tools.s.a({ n: i * 10 }) }",
            r#"s:a({"n":0}); s:a({"n":10})"#,
        ),
        (
            "const all = await Promise.all(['x', 'y'].map((p) => tools.s.a({ p }))); await tools.s.b()",
            r#"s:a({"p":"x"}); s:a({"p":"y"}); s:b()"#,
        ),
        (
            "const l = await tools.s.list(); const out = []; for (const f of l.files) { out.push(await tools.s.read({ path: f.path })); } return out",
            "s:list(); each #0.files [s:read({path:item.path})]",
        ),
        (
            "const l = await tools.s.list(); return Promise.all(l.slice(0, 3).map(async (f) => await tools.s.read({ path: `d/${f}` })))",
            r#"s:list(); each #0[0..3] [s:read({path:text("d/",item)})]"#,
        ),
        (
            "async function read(path) { const r = await callTool('s:read', { path }); return r.result.text } const t = await read('a'); await read('b')",
            r#"s:read({"path":"a"}); s:read({"path":"b"})"#,
        ),
        (
            "async function main() { await tools.s.a(); return 1 }",
            "s:a()",
        ),
        ("export default async () => { await tools.s.a() }", "s:a()"),
        (
            "async function go() { await tools.s.a(); console.log('x') }\ngo().catch((e) => console.error(e))",
            "s:a()",
        ),
        (
            "(async () => { await tools.s.a(); console.log(1); })()",
            "s:a()",
        ),
    ]);
}

#[test]
fn the_failure_of_a_call_is_not_foreseen() {
    check(&[
        (
            "const a = await callTool('s:a'); if (!a.success) throw a.error; await callTool('s:b')",
            "s:a(); s:b()",
        ),
        (
            "const a = await callTool('s:a'); const n = a.success ? a.result.n : 0; await callTool('s:b', { n })",
            "s:a(); s:b({n:#0.n})",
        ),
        (
            "try { await tools.s.a(); await tools.s.b(); } catch (e) { console.error(e.message); return null }",
            "s:a(); s:b()",
        ),
    ]);
}

#[test]
fn what_may_not_run_is_known_by_its_tool_alone() {
    check(&[
        (
            "const r = await tools.s.a(); if (r.n > 1) { await tools.s.b({ x: 1 }) } await tools.s.c()",
            "s:a(); s:b(?); s:c()",
        ),
        (
            "const r = await tools.s.a(); for (const x of r.l.filter((x) => x.ok)) { await tools.s.b({ x: 1 }) } await tools.s.c()",
            "s:a(); s:b(?); s:c()",
        ),
        (
            "const r = await tools.s.a(); if (r.n > 1) return 0; await tools.s.c()",
            "s:a()",
        ),
        (
            "const r = await tools.s.a(); if (r.n > 1) throw new Error('x'); await tools.s.c()",
            "s:a()",
        ),
        (
            "const r = await tools.s.a(); while (r.n) { await tools.s.b() } await tools.s.c()",
            "s:a()",
        ),
    ]);
}

#[test]
fn the_clock_timers_races_and_unknown_code_end_the_plan() {
    for stop in [
        "Date.now()",
        "new Date()",
        "performance.now()",
        "await new Promise((done) => setTimeout(done, 5))",
        "setTimeout(() => {}, 5)",
        "await Promise.race([tools.s.x(), 1])",
        "await Promise.any([tools.s.x()])",
        "await searchTools('x')",
        "await fetch('x')",
        "globalThis.callTool = () => 1",
        "Array.prototype.map = () => []",
        "JSON.parse = () => 1",
        "await callTool(args[0] + Math.random())",
        "tools.s.x().then((v) => console.log(v))",
        "tools.s.x().catch(() => 1)",
        "await store('k', 1)",
        "await checkpoint('k', () => 1)",
        "class A { static x = tools.s.x() }",
        "for await (const x of [tools.s.x()]) {}",
        "label: for (const x of [1]) { break label }",
    ] {
        let source = format!("await tools.s.a();\n{stop};\nawait tools.s.b()\nreturn 1");
        assert_eq!(plan(&source), "s:a()", "{stop}");
    }
}

#[test]
fn calls_whose_order_of_answers_can_be_seen_are_left_out() {
    check(&[
        // What holds the promises is not known.
        (
            "const a = tools.s.a(); const b = tools.s.b(); await Promise.race([a, b])",
            "",
        ),
        (
            "await tools.s.a(); const b = tools.s.b(); setTimeout(() => 1, 1); await b",
            "s:a()",
        ),
        // The callback has an effect when the answer comes.
        (
            "const order = []; await Promise.all(['a', 'b'].map(async (n) => { await tools.s.a({ n }); order.push(n) })); return order",
            "",
        ),
        (
            "await Promise.all(['a', 'b'].map(async (n) => { await tools.s.a({ n }); console.log(n) }))",
            "",
        ),
        // The first error is the one that is thrown.
        (
            "await Promise.all(['a', 'b'].map(async (n) => JSON.parse(await tools.s.a({ n }))))",
            "",
        ),
        // Nothing awaits it.
        ("tools.s.a(); await tools.s.b(); return 1", ""),
    ]);
}

#[test]
fn a_handler_that_goes_on_is_followed_for_one_call_alone() {
    check(&[
        (
            "async function read(p) { try { return await tools.s.read({ p }) } catch { return null } } await read(1); await read(2); return 0",
            r#"s:read({"p":1}); s:read({"p":2})"#,
        ),
        (
            "try { await tools.s.a(); await tools.s.b() } catch {} await tools.s.b(); return 0",
            "",
        ),
        (
            "try { await tools.s.a() } catch { await new Promise((done) => setTimeout(done, 9)); await tools.s.b() } return 0",
            "",
        ),
    ]);
}

#[test]
fn names_of_the_script_hide_those_of_the_api() {
    check(&[
        (
            "const callTool = async () => 1; await callTool('s:a'); await tools.s.b()",
            "s:b()",
        ),
        (
            "{ const tools = { s: { a() { return 1 } } }; await tools.s.a() } await tools.s.b()",
            "s:b()",
        ),
        ("let callTool; callTool('s:a')", ""),
    ]);
}

#[test]
fn a_plan_is_bounded_whatever_the_script_says() {
    for source in [
        "for (const a of [1,2,3]) for (let i = 0; i < 60; i++) await tools.s.a({ a, i })",
        "const f = async (n) => { await tools.s.a({ n }); await f(n + 1) }; await f(0)",
        "let s = 'x'; for (let i = 0; i < 60; i++) { s = s + s } await tools.s.a({ s })",
        "let r = await tools.s.a(); for (let i = 0; i < 60; i++) { r = { a: r, b: r } } await tools.s.b({ r })",
        "let r = (await tools.s.a()).x; for (let i = 0; i < 60; i++) { r = `${r}${r}` } await tools.s.b({ r })",
    ] {
        let json = plan(source);
        assert!(json.len() < 64 * 1024, "{source}");
    }
    let deep = format!("await tools.s.a({}1{})", "[".repeat(300), "]".repeat(300));
    assert_eq!(plan(&deep), "");
}

#[test]
fn results_with_cycles_and_shared_values_are_walked_in_bounds() {
    let shared = (0..60).fold("const v0 = [1];\n".to_owned(), |code, n| {
        format!("{code}const v{} = [v{n}, v{n}];\n", n + 1)
    });
    let doubled = (0..40).fold("let list = [1];\n".to_owned(), |code, _| {
        code + "list = [...list, ...list];\n"
    });
    check(&[
        (
            "await tools.s.a(); const a = { n: 1 }; a.self = a; a.list = [a]; a",
            "s:a()",
        ),
        (
            "await tools.s.a(); const a = []; if (args[5]) a.push(a); a.push(a); return a",
            "s:a()",
        ),
        (&format!("await tools.s.a(); {shared} return v60"), "s:a()"),
        (
            &format!("await tools.s.a(); {shared} return JSON.stringify(v60)"),
            "s:a()",
        ),
        (
            &format!("await tools.s.a(); {doubled} return list"),
            "s:a()",
        ),
    ]);
}
