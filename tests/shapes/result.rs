//! Which value is the result of a script.

use serde_json::{Value, json};

use super::assert_results;
use crate::support::{error_of, result_of, run_json};

#[test]
fn the_last_expression_is_the_result() {
    assert_results(&[
        ("6 * 7", json!(42)),
        ("1; 2; 3", json!(3)),
        ("let x = 5; x", json!(5)),
        ("const { a, b } = { a: 1, b: 2 }\na + b", json!(3)),
        (
            "[1, 2, 3].map((x) => x * 2)\n  .filter((x) => x > 2)",
            json!([4, 6]),
        ),
        ("`template ${1 + 1}`", json!("template 2")),
        ("const n = 1; n;\n// a comment at the end\n", json!(1)),
        ("\"use strict\"; 5", json!(5)),
        ("await Promise.resolve(5)", json!(5)),
        ("(async () => { return 11 })()", json!(11)),
        ("function f() { return 1 }\nawait f();", json!(1)),
    ]);
}

#[test]
fn a_statement_at_the_end_leaves_no_result() {
    for script in [
        "const x = 1;",
        "for (const x of [1]) x",
        "// nothing but a comment",
        "class A {}",
        "export const x = 1;",
    ] {
        assert_eq!(result_of(script), Value::Null, "{script}");
    }
}

#[test]
fn a_return_outside_any_function_gives_the_result() {
    assert_results(&[
        ("return 6 * 7", json!(42)),
        ("return", Value::Null),
        (
            "if (args.length === 0) return 'early';\nconst x = 5;\nx",
            json!("early"),
        ),
        ("try { return 1 } finally { console.log('f') }", json!(1)),
        (
            "for (const x of [1, 2, 3]) { if (x > 1) return x }",
            json!(2),
        ),
        (
            "return await Promise.all([1, 2].map(async (x) => x * 2))",
            json!([2, 4]),
        ),
        (
            "import { args } from 'pml';\nconst n: number = args.length;\nreturn n",
            json!(0),
        ),
        ("async function f() { return 3 }\nreturn f()", json!(3)),
    ]);
}

#[test]
fn a_body_whose_return_is_not_taken_gives_what_any_other_would() {
    let guard = "if (args.length > 9) return 1;\n";
    assert_results(&[
        (&format!("{guard}'last'"), json!("last")),
        (&format!("{guard}const x = 1;"), Value::Null),
        (&format!("{guard}export default 2;"), json!(2)),
        (
            &format!("{guard}async function main() {{ return 3 }}"),
            json!(3),
        ),
    ]);
}

#[test]
fn functions_and_types_may_stand_behind_the_last_expression() {
    assert_results(&[
        (
            "await main();\nasync function main() { return 42 }",
            json!(42),
        ),
        ("[1, 2].length;\ninterface Row { id: number }", json!(2)),
        ("6 * 7;;\ntype Name = string;", json!(42)),
        (
            "const x = 1;\nfunction unused() { return 2 }\nconst y = 2;",
            Value::Null,
        ),
    ]);
}

#[test]
fn what_a_script_calls_itself_is_not_called_once_more() {
    let count = "let count = 0;\nasync function main() { count += 1; return count }\n";
    assert_results(&[
        (
            &format!("{count}export default main;\nawait main();\ncount"),
            json!(1),
        ),
        (
            "export default async function main() { return 5 }\nawait main();",
            json!(5),
        ),
        (
            "export default async function main() { return 6 }",
            json!(6),
        ),
        (
            "export default async function build() { return 7 }\nconst later = () => build();",
            json!(7),
        ),
    ]);
}

#[test]
fn an_entry_point_may_call_itself_be_exported_and_stand_beside_imports_and_types() {
    assert_results(&[
        (
            "async function main(n = 2): Promise<string> { return n ? main(n - 1) : 'done' }",
            json!("done"),
        ),
        (
            "async function main() { return 1 }\nexport { main };",
            json!(1),
        ),
        (
            "import { callTool } from 'pml';\nasync function report() { return 2 }",
            json!(2),
        ),
        (
            "type Row = number;\nconst report = async (): Promise<Row> => 3;",
            json!(3),
        ),
        (
            "const fact = (n = 4): number => n < 2 ? 1 : n * fact(n - 1);",
            json!(24),
        ),
    ]);
}

#[test]
fn names_in_braces_are_an_object_at_the_end_of_a_script() {
    assert_results(&[
        ("// the answer\n{ total: 3 }", json!({ "total": 3 })),
        (
            "const total = 1, count = 2;\n{ total, count }",
            json!({ "total": 1, "count": 2 }),
        ),
        ("const total = 1;\n{ total }", json!({ "total": 1 })),
        ("let x = 1;\n{ let y = 2; x += y }", Value::Null),
    ]);
}

#[test]
fn code_blocks_of_a_text_are_one_script_and_its_prose_is_ignored() {
    assert_results(&[
        ("Sure!\n\n```ts\n6 * 7\n```", json!(42)),
        ("Okay\n```ts\n6 * 7\n```", json!(42)),
        ("// sum.ts\n```ts\n6 * 7\n```", json!(42)),
        ("Uses `callTool`:\n\n```ts\nreturn 1\n```", json!(1)),
        ("return 5\n```", json!(5)),
        (
            "Data:\n```json\n{\"a\":1}\n```\nScript:\n```typescript\nreturn 13\n```",
            json!(13),
        ),
        (
            "```ts\nconst a = 20;\n```\nthen\n```ts\nreturn a + 1\n```\nwhich prints\n```\n21 !\n```",
            json!(21),
        ),
    ]);
    let error = error_of(&[], "Here you are:\n\n```ts\nlet b = ;\n```");
    assert_eq!(error["line"], 4, "{error:#}");
}

#[test]
fn a_function_alone_is_called() {
    assert_results(&[
        ("() => 42", json!(42)),
        ("async () => ({ a: 1 })", json!({ "a": 1 })),
        ("async () => { return 4; };", json!(4)),
        ("(() => 12)", json!(12)),
        ("x => typeof x", json!("undefined")),
        ("function () { return 3 }", json!(3)),
        ("async function () { return 3 }", json!(3)),
        (
            "async function anyName(): Promise<number> { return 3 }",
            json!(3),
        ),
        (
            "async (): Promise<number> => {\n  const n: number = 2;\n  return n;\n}",
            json!(2),
        ),
    ]);
}

#[test]
fn a_function_that_is_returned_or_named_last_is_called() {
    assert_results(&[
        ("const f = () => 5; f", json!(5)),
        ("const f = async () => 6;\nreturn f", json!(6)),
        ("return async () => ({ a: 1 })", json!({ "a": 1 })),
    ]);
}

#[test]
fn a_declared_run_or_main_is_called() {
    assert_results(&[
        ("async function run() { return 1 }", json!(1)),
        ("function main(): number { return 2 }", json!(2)),
        ("const run = async () => 5;", json!(5)),
        ("const main = function () { return 6 };", json!(6)),
        ("export async function main() { return 7 }", json!(7)),
        (
            "function helper() { return 9 }\nfunction main() { return helper() }",
            json!(9),
        ),
        (
            "const n = 4;\nfunction run() { return n }\nconst unused = 1;",
            json!(4),
        ),
        ("async function run({ n = 5 } = {}) { return n }", json!(5)),
    ]);
}

#[test]
fn run_comes_before_main() {
    assert_eq!(
        result_of("function main() { return 2 }\nfunction run() { return 1 }"),
        1
    );
}

#[test]
fn a_run_that_the_script_calls_itself_is_called_once() {
    let script = "function run() { console.log('called'); return 1 }\nconst r = run();";
    let envelope = run_json(&[], script);
    assert_eq!(envelope["logs"].as_array().map(Vec::len), Some(1));
    assert_eq!(
        result_of("async function main() { return 5 }\nmain().catch(console.error);"),
        5
    );
}

#[test]
fn other_functions_that_are_only_declared_are_not_called() {
    let script = "function first() { console.log('no') }\nfunction second() { console.log('no') }";
    assert_eq!(run_json(&[], script)["logs"], json!([]));
}

#[test]
fn the_default_export_is_the_result() {
    assert_results(&[
        ("export default 5", json!(5)),
        ("const result = 6;\nexport default result;", json!(6)),
        ("const a = 1; export { a as default }", json!(1)),
        (
            "export default { a: [1] };\n'not this'",
            json!({ "a": [1] }),
        ),
        ("export default Promise.resolve(3)", json!(3)),
    ]);
}

#[test]
fn a_default_export_that_is_a_function_is_called() {
    assert_results(&[
        ("export default async () => 6", json!(6)),
        ("export default function () { return 8 }", json!(8)),
        (
            "export default async function main() { return 9 }",
            json!(9),
        ),
    ]);
}

#[test]
fn exports_keep_their_meaning_wherever_they_stand() {
    assert_results(&[
        ("export const x = 1;\nx + 1", json!(2)),
        ("export function f() { return 2 }\nf()", json!(2)),
        ("export class A {}\nnew A() instanceof A", json!(true)),
        ("export { a };\nconst a = 1;\na", json!(1)),
        (
            "export const { p, q: [r] } = { p: 1, q: [2] };\np + r",
            json!(3),
        ),
        ("export const k = 5;\nreturn k", json!(5)),
        ("let x = 1; export { x as default }; x = 2", json!(2)),
        (
            "export default function f() { return later }\nconst later = 3",
            json!(3),
        ),
    ]);
}

#[test]
fn the_top_of_a_script_is_the_top_of_a_module() {
    assert_results(&[
        ("typeof this", json!("undefined")),
        ("typeof arguments", json!("undefined")),
        ("const x = f(); function f() { return 7 } x", json!(7)),
    ]);
}

#[test]
fn a_class_is_not_called() {
    assert_eq!(
        result_of("export default class A { constructor() { throw 1 } }"),
        Value::Null
    );
}

#[test]
fn braces_around_everything_are_an_object() {
    assert_results(&[
        ("{ a: 1, b: [2] }", json!({ "a": 1, "b": [2] })),
        (
            "{ \"a\": 1, \"b\": { \"c\": null } }\n",
            json!({ "a": 1, "b": { "c": null } }),
        ),
        ("{ a: 1 };", json!({ "a": 1 })),
        ("{}", json!({})),
        ("({ a: 1 })", json!({ "a": 1 })),
    ]);
}

#[test]
fn an_object_literal_can_await_its_values() {
    assert_eq!(
        result_of("{ a: await Promise.resolve(1) }"),
        json!({ "a": 1 })
    );
}

#[test]
fn promises_inside_the_result_are_awaited_however_deep() {
    assert_results(&[
        ("Promise.resolve(Promise.resolve(3))", json!(3)),
        ("[Promise.resolve(1), 2]", json!([1, 2])),
        (
            "({ a: Promise.resolve({ b: [Promise.resolve({ c: Promise.resolve(2) })] }) })",
            json!({ "a": { "b": [{ "c": 2 }] } }),
        ),
        (
            "new Map([['k', Promise.resolve('v')]])",
            json!({ "k": "v" }),
        ),
        (
            "return [1, 2].map(async (n) => ({ n }))",
            json!([{ "n": 1 }, { "n": 2 }]),
        ),
        (
            "({ late: new Promise((done) => setTimeout(() => done('timer'), 20)) })",
            json!({ "late": "timer" }),
        ),
    ]);
}

#[test]
fn a_rejected_promise_inside_the_result_fails_the_run() {
    let error = error_of(&[], "({ ok: 1, bad: Promise.reject(new Error('inside')) })");
    assert_eq!(error["kind"], "runtime");
    assert_eq!(error["message"], "Error: inside");
}

#[test]
fn an_object_in_braces_at_the_end_is_the_result() {
    assert_results(&[
        ("const n = 3;\n{ count: n }", json!({ "count": 3 })),
        (
            "const n = 3;\n{ count: n, m: 2 }",
            json!({ "count": 3, "m": 2 }),
        ),
        (
            "const n = 3\n{ count: n, nested: { a: [1, 2] }, n };",
            json!({ "count": 3, "nested": { "a": [1, 2] }, "n": 3 }),
        ),
        (
            "const a = { x: 1 };\n{\n  ...a,\n  y: await Promise.resolve(2),\n}\n",
            json!({ "x": 1, "y": 2 }),
        ),
        (
            "function f() { return { a: 1 } }\n{ value: f().a, text: `}` }",
            json!({ "value": 1, "text": "}" }),
        ),
        ("let x = 1; { x: x }", json!({ "x": 1 })),
        (
            "const f = () => 1\n{ a: 1, 'b c': 2, [`d`]: 3 }",
            json!({ "a": 1, "b c": 2, "d": 3 }),
        ),
        // Code in braces stays code.
        (
            "let n = 0;\n{ outer: for (const i of [1, 2]) { n += i; continue outer } }\nn",
            json!(3),
        ),
        ("let n = 0; if (n === 0) { n = 7 }\nreturn n", json!(7)),
    ]);
    let error = error_of(&[], "const a = 1;\n{ b: a, c: missing }");
    assert!(
        error.to_string().contains("missing is not defined"),
        "{error}"
    );
    assert_eq!(
        (&error["line"], &error["column"]),
        (&json!(2), &json!(12)),
        "{error}"
    );
}

#[test]
fn braces_around_statements_are_a_block_of_code() {
    let error = error_of(&[], "{ if (args) { throw new Error('ran') } }");
    assert!(error.to_string().contains("ran"), "{error}");
    assert_results(&[
        (
            "{ for (const x of [1]) { globalThis.seen = x } }\nseen",
            json!(1),
        ),
        ("{ a: 1, if: 2 }", json!({ "a": 1, "if": 2 })),
    ]);
}

#[test]
fn a_function_that_the_last_statement_stores_is_not_called() {
    assert_results(&[
        (
            "globalThis.ran = 0; const o = {}; o.deleteAll = async () => { ran++ };",
            Value::Null,
        ),
        (
            "const o = {}; const f = () => { throw new Error('called') };\no.f = f",
            Value::Null,
        ),
        (
            "let f;\nf = function () { throw new Error('called') }",
            Value::Null,
        ),
        ("let x; x = 5", json!(5)),
        ("let x; x ??= { a: 1 }", json!({ "a": 1 })),
    ]);
}

#[test]
fn the_ends_of_the_branches_are_the_result() {
    assert_results(&[
        ("const c = true; if (c) { 42 } else { 0 }", json!(42)),
        (
            "if (args.length) 1; else if (true) { const a = 2; a * 2 }",
            json!(4),
        ),
        (
            "async function main() { return 5 }\nif (import.meta.main) await main()",
            json!(5),
        ),
        (
            "const main = async () => 6;\ntry { await main() } catch (error) { console.error(error) }",
            json!(6),
        ),
        (
            "try { JSON.parse('{') } catch (error) { `failed: ${error.name}` } finally { console.log('end') }",
            json!("failed: SyntaxError"),
        ),
        ("let n = 0; if (n === 0) { n = 7 }", Value::Null),
        ("if (true) { console.log('only printed') }", Value::Null),
        ("for (const x of [1]) { x }", Value::Null),
        ("if (true) { setTimeout(() => {}, 1) }", Value::Null),
    ]);
}

#[test]
fn classes_and_enums_may_follow_the_last_expression() {
    assert_results(&[
        ("const n = 2;\nn * 3\nclass Helper {}", json!(6)),
        ("const n = 2;\nn * 3\nenum Size { Big }", json!(6)),
    ]);
}
