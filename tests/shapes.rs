//! Every shape a script may have, every part of TypeScript it may use, and what is said of the
//! rest. Lines and columns are always those of the script as it was written.

use serde_json::{Value, json};

use crate::support::{error_of, result_of, run_json};

/// Runs each script and compares its result.
fn assert_results(cases: &[(&str, Value)]) {
    for (script, expected) in cases {
        assert_eq!(result_of(script), *expected, "{script}");
    }
}

/// A script that is refused before it runs: kind, message, line, column.
fn assert_rejected(script: &str, kind: &str, message: &str, line: u32, column: u32) {
    let error = error_of(&[], script);
    assert_eq!(error["kind"], kind, "{script}\n{error:#}");
    assert_eq!(error["message"], message, "{script}");
    assert_eq!(
        (&error["line"], &error["column"]),
        (&json!(line), &json!(column)),
        "{script}\n{error:#}"
    );
}

// The result.

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
        "if (true) { 5 }",
        "for (const x of [1]) x",
        "{ let x = 1; x }",
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
fn blocks_of_a_text_are_one_script_and_its_words_are_none() {
    assert_results(&[
        ("Sure!\n\n```ts\n6 * 7\n```", json!(42)),
        ("Okay\n```ts\n6 * 7\n```", json!(42)),
        ("// sum.ts\n```ts\n6 * 7\n```", json!(42)),
        ("Uses `callTool`:\n\n```ts\nreturn 1\n```", json!(1)),
        ("return 5\n```", json!(5)),
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

// What JSON has no word for.

#[test]
fn values_that_json_lacks_have_a_plain_form() {
    assert_results(&[
        (
            "new Map([['a', 1], ['b', new Map([['c', 2]])]])",
            json!({ "a": 1, "b": { "c": 2 } }),
        ),
        ("new Map([[1, 'a']])", json!([[1, "a"]])),
        ("new Set([1, 'two', [3]])", json!([1, "two", [3]])),
        (
            "[1n, 9007199254740993n, -9007199254740993n]",
            json!([1, "9007199254740993", "-9007199254740993"]),
        ),
        ("[NaN, Infinity, -0]", json!([null, null, 0])),
        (
            "({ u: undefined, f() {}, s: Symbol('x'), n: null })",
            json!({ "n": null }),
        ),
        (
            "[undefined, () => 1, Symbol('x')]",
            json!([null, null, null]),
        ),
        ("new Date(0)", json!("1970-01-01T00:00:00.000Z")),
        ("/a+/gi", json!("/a+/gi")),
        ("new Uint8Array([1, 255])", json!([1, 255])),
        ("new ArrayBuffer(2)", json!([0, 0])),
        (
            "new DataView(new Uint8Array([1, 2, 3, 4]).buffer, 1, 2)",
            json!([2, 3]),
        ),
        ("'\\ud800'", json!("\u{fffd}")),
        (
            "new URL('https://example.com/a')",
            json!("https://example.com/a"),
        ),
        ("[new URLSearchParams('a=1&b=x+y')]", json!(["a=1&b=x+y"])),
        (
            "[new String('s'), new Number(1), new Boolean(false), Object(4n)]",
            json!(["s", 1, false, 4]),
        ),
        ("({ toJSON() { return 'own form' } })", json!("own form")),
        (
            "class P { x = 1; #y = 2; get z() { return 3 } }\nnew P()",
            json!({ "x": 1 }),
        ),
        (
            "Object.create(null, { a: { value: 1, enumerable: true } })",
            json!({ "a": 1 }),
        ),
    ]);
}

#[test]
fn a_result_may_nest_a_hundred_levels() {
    let nested = |levels: u32| {
        format!("let x: unknown = 1;\nfor (let i = 0; i < {levels}; i++) x = [x];\nx")
    };
    assert_eq!(run_json(&[], &nested(100))["ok"], true);
    let error = error_of(&[], &nested(101));
    assert_eq!(error["kind"], "output");
    let message = error["message"].as_str().expect("a message");
    assert!(
        message.ends_with("the result nests deeper than 100 levels; flatten it first"),
        "{message}"
    );
}

#[test]
fn an_error_as_a_result_keeps_its_name_and_message() {
    let result = result_of("[Object.assign(new TypeError('bad'), { code: 7 })]");
    assert_eq!(result[0]["name"], "TypeError");
    assert_eq!(result[0]["message"], "bad");
    assert_eq!(result[0]["code"], 7);
}

#[test]
fn an_error_as_a_result_keeps_what_caused_it_and_what_it_gathers() {
    let error = |name: &str, message: &str| json!({ "name": name, "message": message });
    let mut high = error("Error", "high");
    high["cause"] = error("RangeError", "low");
    let mut all = error("AggregateError", "all");
    all["errors"] = json!([high, "text"]);
    let mut round = error("Error", "round");
    round["cause"] = json!("[Circular]");
    assert_results(&[
        ("new Error('high', { cause: new RangeError('low') })", high),
        (
            "new AggregateError([new Error('high', { cause: new RangeError('low') }), 'text'], 'all')",
            all,
        ),
        ("const e = new Error('round'); e.cause = e; e", round),
    ]);
    let chain = "let e = new Error('0');\n\
        for (let i = 1; i < 200; i++) e = new Error(String(i), { cause: e });\ne";
    assert_eq!(error_of(&[], chain)["kind"], "output");
}

#[test]
fn an_async_generator_as_a_result_is_a_list_of_what_it_yields() {
    assert_results(&[
        (
            "export default async function* () { yield 1; yield Promise.resolve(2) }",
            json!([1, 2]),
        ),
        (
            "async function* give(n: number) { yield n; yield { later: Promise.resolve(n) } }\n\
             ({ a: give(1), b: [give(2)] })",
            json!({ "a": [1, { "later": 1 }], "b": [[2, { "later": 2 }]] }),
        ),
    ]);
    let error = error_of(
        &[],
        "(async function* () { yield 1; throw new Error('half way') })()",
    );
    assert_eq!(error["message"], "Error: half way");
    let endless = "(async function* () { for (;;) yield 'x'.repeat(1_000_000) })()";
    assert_eq!(error_of(&[], endless)["kind"], "output");
}

#[test]
fn cycles_are_marked_and_shared_values_repeated() {
    assert_results(&[
        (
            "const a: any = { n: 1 }; a.self = a; a.list = [a]; a",
            json!({ "n": 1, "self": "[Circular]", "list": ["[Circular]"] }),
        ),
        (
            "const s = { n: 1 }; ({ l: s, r: s })",
            json!({ "l": { "n": 1 }, "r": { "n": 1 } }),
        ),
    ]);
}

// Idioms of elsewhere.

#[test]
fn a_script_is_always_the_main_module() {
    let script =
        "async function main() { console.log('ran'); }\nif (import.meta.main) await main();";
    let envelope = run_json(&[], script);
    assert_eq!(
        envelope["logs"].as_array().map(Vec::len),
        Some(1),
        "{envelope:#}"
    );
}

#[test]
fn the_address_of_a_script_says_nothing_of_the_machine() {
    assert_eq!(result_of("import.meta.url"), "file:///stdin.ts");
}

// Fences.

#[test]
fn a_fenced_block_is_unpacked() {
    assert_results(&[
        ("```ts\nconst x: number = 4;\nreturn x\n```", json!(4)),
        ("```\n1 + 1\n```\n", json!(2)),
        ("\n\n```typescript\nasync () => 3\n```", json!(3)),
        ("````js\n'`' + '``'\n````", json!("```")),
        ("```ts\n'never closed'", json!("never closed")),
        (
            "Here is the code:\n\n```typescript\nconst x: number = 4;\nx + 1\n```\n\nIt adds one.",
            json!(5),
        ),
    ]);
}

#[test]
fn a_block_fenced_with_tildes_is_unpacked() {
    assert_eq!(result_of("~~~ts\n1 + 2\n~~~"), 3);
}

#[test]
fn lines_inside_a_fence_keep_their_numbers() {
    let error = error_of(&[], "Sure:\n\n```ts\nconst a = 1;\nnull!.x;\n```\n");
    assert_eq!(error["line"], 5);
    assert_eq!(error["column"], 7);
}

#[test]
fn a_template_with_backticks_is_no_fence() {
    assert_eq!(result_of("const s = `a\n\\`\\`\\`\nb`;\ns.length"), 7);
}

// Plain JavaScript.

#[test]
fn plain_javascript_runs_unchanged() {
    assert_results(&[
        ("var a = 1; var a = 2; a", json!(2)),
        (
            "function f(a, b) { return arguments.length } f(1, 2, 3)",
            json!(3),
        ),
        (
            "var type = 1, of = 2, as = 3, from = 4, declare = 5; type + of + as + from + declare",
            json!(15),
        ),
        (
            "const { abstract, readonly = 2 } = { abstract: 1 }; abstract + readonly",
            json!(3),
        ),
        ("#!/usr/bin/env pml\n7", json!(7)),
        ("\u{feff}8", json!(8)),
        ("/* @flow */ let x = 1\r\nx + 1\r\n", json!(2)),
        (
            "label: for (;;) { for (;;) break label } 'out'",
            json!("out"),
        ),
        (
            "class A { static #n = 1; static { A.#n++ } static get n() { return A.#n } } A.n",
            json!(2),
        ),
        ("[1, [2, [3]]].flat(Infinity).at(-1) ?? 0", json!(3)),
        ("let o = { a: 1 }; o.b ??= 2; o?.b ** 2", json!(4)),
        (
            "Object.groupBy([1, 2, 3], (n) => n % 2 ? 'odd' : 'even')",
            json!({ "odd": [1, 3], "even": [2] }),
        ),
        (
            "/(?<year>\\d{4})/v.exec('in 2026').groups.year",
            json!("2026"),
        ),
    ]);
}

#[test]
fn javascript_that_typescript_would_refuse_runs() {
    assert_results(&[
        // In TypeScript a type may not follow `?` here.
        (
            "const pick = (ok) => ok ? (1) : x => 2; pick(true)",
            json!(1),
        ),
        (
            "class A { constructor() { this.x = 1 } } new A().x",
            json!(1),
        ),
        (
            "function f(x) { x = 'other'; return x } f(1)",
            json!("other"),
        ),
    ]);
}

// TypeScript.

#[test]
fn types_vanish() {
    assert_results(&[
        (
            "type A = { a: number }; interface B extends A { b: string }\nconst v: B = { a: 1, b: 'c' }; v",
            json!({ "a": 1, "b": "c" }),
        ),
        (
            "let u = 5 as const; let y = u!; y satisfies number",
            json!(5),
        ),
        (
            "const c = { a: 1 } satisfies Record<string, number>; c.a as unknown as string",
            json!(1),
        ),
        ("const a = <number>5; a", json!(5)),
        (
            "function is(x: unknown): x is string { return typeof x === 'string' } is('a')",
            json!(true),
        ),
        (
            "function must(x: unknown): asserts x { if (!x) throw 1 } must(1); 2",
            json!(2),
        ),
        (
            "let t: [a: number, b?: string, ...rest: boolean[]] = [1]; t",
            json!([1]),
        ),
        (
            "type Getters<T> = { [K in keyof T as `get${string & K}`]: () => T[K] }; 1",
            json!(1),
        ),
        (
            "declare const later: number; declare module 'x' {} declare global { var y: 1 }\n3",
            json!(3),
        ),
        (
            "function f(this: unknown, x?: number): number | undefined { return x } f(4)",
            json!(4),
        ),
        ("let x!: number; x = 1; x", json!(1)),
        (
            "const u: unique symbol = Symbol(); typeof u",
            json!("symbol"),
        ),
    ]);
}

#[test]
fn generics_are_not_jsx() {
    assert_results(&[
        ("const id = <T>(x: T): T => x; id<number>(4)", json!(4)),
        ("const id = <T,>(x: T) => x; id(3)", json!(3)),
        (
            "const f = async <T extends string>(x: T) => x; f('k')",
            json!("k"),
        ),
        (
            "class Box<T> { constructor(public v: T) {} map<U>(f: (v: T) => U) { return new Box(f(this.v)) } }\nnew Box(1).map((n) => n + 1).v",
            json!(2),
        ),
    ]);
}

#[test]
fn overloads_leave_one_function() {
    assert_eq!(
        result_of(
            "function f(a: string): string;\nfunction f(a: number): number;\nfunction f(a: any) { return a }\nf(3)"
        ),
        3
    );
}

#[test]
fn an_overloaded_run_is_still_called() {
    let script = "function run(): number;\nfunction run(n?: number): number { return n ?? 3 }";
    assert_eq!(result_of(script), 3);
}

#[test]
fn enums_work_in_every_form() {
    assert_results(&[
        (
            "enum A { X = 1, Y, Z = 'z' }\n({ x: A.X, name: A[1], y: A.Y, z: A.Z })",
            json!({ "x": 1, "name": "X", "y": 2, "z": "z" }),
        ),
        (
            "const enum C { A = 1 << 3, B = A | 1, D = 'a'.length }\n[C.A, C.B, C.D]",
            json!([8, 9, 1]),
        ),
        ("enum A { X }\nenum A { Y = 1 }\n[A.X, A.Y]", json!([0, 1])),
        (
            "export enum E { On = 'on' }\nexport default E.On",
            json!("on"),
        ),
        ("declare enum D { X }\n1", json!(1)),
    ]);
}

#[test]
fn namespaces_nest_and_merge() {
    assert_results(&[
        (
            "namespace N { export const x = 1; export namespace M { export function f() { return x + 1 } } }\n[N.x, N.M.f()]",
            json!([1, 2]),
        ),
        (
            "namespace N { export const a = 1 }\nnamespace N { export const b = N.a + 1 }\nN.b",
            json!(2),
        ),
        (
            "namespace T { export type Only = number }\nconst x: T.Only = 1; x",
            json!(1),
        ),
        (
            "namespace A.B { export const c = 3 }\nimport c = A.B.c;\nc",
            json!(3),
        ),
    ]);
}

#[test]
fn classes_have_all_that_typescript_adds() {
    assert_results(&[
        (
            "abstract class Shape { abstract area(): number; twice() { return this.area() * 2 } }\n\
             class Square extends Shape {\n  constructor(private readonly side: number, public name = 'sq') { super() }\n  override area() { return this.side ** 2 }\n}\n\
             const s = new Square(3); [s.twice(), s.name]",
            json!([18, "sq"]),
        ),
        (
            "class A { protected static x?: number = 1; readonly y: number = 2; declare z: string; [k: string]: unknown; static get() { return A.x } }\n[A.get(), new A().y, 'z' in new A()]",
            json!([1, 2, false]),
        ),
        (
            "interface I { a(): number } class A implements I { a() { return 1 } } new A().a()",
            json!(1),
        ),
        (
            "class A { m(): void; m(x?: number) { return x } } new A().m(5 as never)",
            json!(5),
        ),
    ]);
}

#[test]
fn fields_may_read_parameter_properties() {
    let script = "class Client {\n  url = this.base + '/x';\n  constructor(private base: string) {}\n}\nnew Client('http://a').url";
    assert_eq!(result_of(script), "http://a/x");
}

#[test]
fn auto_accessors_run_or_are_refused_in_clear_words() {
    let envelope = run_json(&[], "class A { accessor x = 1 }\nnew A().x");
    let message = envelope["error"]["message"].as_str().unwrap_or("accessor");
    assert!(
        envelope["result"] == 1 || message.contains("accessor"),
        "{envelope:#}"
    );
}

#[test]
fn using_disposes_at_the_end_of_its_block() {
    let script = "const log: string[] = [];\n\
        { using r = { [Symbol.dispose]() { log.push('disposed') } }; log.push('used') }\n\
        { await using r = { async [Symbol.asyncDispose]() { log.push('awaited') } } }\n\
        log";
    assert_eq!(result_of(script), json!(["used", "disposed", "awaited"]));
}

// Imports.

#[test]
fn imports_of_types_vanish_from_anywhere() {
    assert_results(&[
        (
            "import type { Foo } from 'elsewhere';\nconst x: Foo = 1; x",
            json!(1),
        ),
        (
            "import { type Foo } from 'pml';\nexport type { Bar } from './bar.ts';\n5",
            json!(5),
        ),
        (
            "import { MCPTool, callTool } from 'pml';\nconst t: MCPTool[] = []; [t, typeof callTool]",
            json!([[], "function"]),
        ),
    ]);
}

#[test]
fn any_import_but_pml_is_denied_with_its_line() {
    for (statement, specifier) in [
        ("import fs from 'fs';", "fs"),
        ("import * as path from 'node:path';", "node:path"),
        ("import { z } from 'npm:zod';", "npm:zod"),
        ("import './side-effect.js';", "./side-effect.js"),
        (
            "export * from 'https://example.com/mod.ts';",
            "https://example.com/mod.ts",
        ),
        ("export { a } from 'jsr:@std/assert';", "jsr:@std/assert"),
        ("import fs = require('fs');", "fs"),
    ] {
        let error = error_of(&[], &format!("const a = 1;\n{statement}\na"));
        assert_eq!(error["kind"], "denied", "{statement}\n{error:#}");
        assert_eq!(error["line"], 2, "{statement}");
        let message = format!(
            "the import of \"{specifier}\" is refused: a script can import \"pml\" and nothing else"
        );
        assert_eq!(error["message"], message, "{statement}");
    }
}

#[test]
fn a_dynamic_import_is_denied_too() {
    let error = error_of(&[], "const fs = await import('node:fs');\nfs");
    assert_eq!(error["kind"], "denied");
    assert!(
        error["message"]
            .as_str()
            .is_some_and(|text| text.contains("the import of \"node:fs\" is refused")),
        "{error:#}"
    );
}

#[test]
fn a_denied_import_can_be_caught() {
    let script = "try { await import('node:fs') } catch (e) { (e as Error).name }\nawait import('x').catch((e) => e.constructor.name)";
    assert_eq!(result_of(script), "TypeError");
}

#[test]
fn pml_can_be_imported_in_every_form() {
    assert_results(&[
        (
            "import { callTool as call } from 'pml'; call === callTool",
            json!(true),
        ),
        (
            "import * as pml from \"pml\"; Object.keys(pml).sort()",
            json!([
                "ToolError",
                "args",
                "callTool",
                "callToolsBatch",
                "describeTool",
                "getPrompt",
                "listPrompts",
                "listResources",
                "load",
                "readResource",
                "searchTools",
                "store",
                "tools"
            ]),
        ),
        (
            "(await import('pml')).searchTools === searchTools",
            json!(true),
        ),
        ("export * from 'pml';\n5", json!(5)),
    ]);
}

#[test]
fn a_name_that_pml_does_not_export_is_a_syntax_error_with_its_place() {
    let error = error_of(
        &[],
        "import {\n  callTool,\n  listTools,\n} from 'pml';\nlistTools()",
    );
    assert_eq!(error["kind"], "syntax");
    assert_eq!(error["line"], 3);
    let message = error["message"].as_str().expect("a message");
    assert!(
        message.contains("'pml' does not provide an export named 'listTools'"),
        "{message}"
    );
}

#[test]
fn commonjs_is_explained() {
    let error = error_of(&[], "const fs = require('fs')");
    assert_eq!(error["message"], "ReferenceError: require is not defined");
    assert!(
        error["hint"]
            .as_str()
            .is_some_and(|hint| hint.contains("There is no require"))
    );
}

// What is refused.

#[test]
fn jsx_is_refused_in_clear_words() {
    let words = "JSX is not supported; return plain data or a string instead";
    assert_rejected("let x = <div>hi</div>;\nx", "syntax", words, 1, 9);
    assert_rejected(
        "const a = 1;\nreturn (\n  <><b/></>\n);",
        "syntax",
        words,
        3,
        3,
    );
}

#[test]
fn decorators_are_refused_in_clear_words() {
    let words = "decorators are not supported; call the function on the class instead";
    assert_rejected("@sealed\nclass A {}", "syntax", words, 1, 1);
    assert_rejected("class A {\n  @log() m() {}\n}", "syntax", words, 2, 3);
    assert_rejected(
        "class A { constructor(@inject x: string) {} }",
        "syntax",
        words,
        1,
        23,
    );
}

#[test]
fn sloppy_mode_syntax_is_refused() {
    for script in ["with (Math) { floor(1.5) }", "010", "let a; delete a"] {
        assert_eq!(error_of(&[], script)["kind"], "syntax", "{script}");
    }
}

#[test]
fn an_export_assignment_does_not_vanish() {
    let envelope = run_json(&[], "export = { a: 1 };");
    assert!(
        envelope["result"] == json!({ "a": 1 }) || envelope["error"]["kind"] == "syntax",
        "{envelope:#}"
    );
}

// Parse errors.

#[test]
fn a_parse_error_has_a_line_a_column_and_a_frame() {
    let error = error_of(&[], "const a = 1;\nconst b = [1, 2;\na + b");
    assert_eq!(
        error,
        json!({
            "kind": "syntax",
            "message": "Expected ',', got ';'",
            "line": 2,
            "column": 16,
            "frame": "  1 | const a = 1;\n> 2 | const b = [1, 2;\n    |                ^\n  3 | a + b",
        })
    );
}

#[test]
fn common_mistakes_are_placed_where_they_are() {
    for (script, line, column) in [
        ("let x: number = ;", 1, 17),
        ("\n\n  foo bar", 3, 7),
        ("const x;", 1, 7),
        ("if (true) {\n  1", 2, 4),
        ("break;", 1, 1),
        ("'unterminated", 1, 1),
        ("`unterminated", 1, 1),
        ("const x = { a: 1,, b: 2 }", 1, 18),
        ("let a = 1;\nlet a = 2;", 2, 5),
        ("function f() {\n  await g();\n}\nconst x = f();", 2, 3),
        ("const re = /(/;", 1, 12),
        ("retrun 5", 1, 8),
    ] {
        let error = error_of(&[], script);
        assert_eq!(error["kind"], "syntax", "{script}\n{error:#}");
        assert_eq!(
            (&error["line"], &error["column"]),
            (&json!(line), &json!(column)),
            "{script}\n{error:#}"
        );
    }
}

#[test]
fn a_mistake_that_v8_finds_reads_like_one_that_the_parser_finds() {
    let error = error_of(&[], "let a = 1;\nlet a = 2;");
    assert_eq!(error["message"], "Identifier 'a' has already been declared");
}

#[test]
fn a_string_that_is_broken_over_lines_is_named_as_such() {
    let error = error_of(&[], "const a = 1;\nconst text = \"one\ntwo\";\na");
    assert_eq!(
        error["message"], "Unterminated string constant",
        "{error:#}"
    );
    assert_eq!(error["line"], 2);
    assert_eq!(error["column"], 14);
}

#[test]
fn columns_count_characters_as_an_editor_does() {
    let error = error_of(&[], "const größe = 'äöü'; const = 1;");
    assert_eq!(error["column"], 28, "{error:#}");
}

#[test]
fn nothing_runs_when_the_script_does_not_parse() {
    let envelope = run_json(&[], "console.log('ran');\nlet x = ;");
    assert_eq!(envelope["logs"], json!([]));
}

// Lines and stacks of failing scripts.

const TYPED: &str = "\
import type { Reader } from \"somewhere\";

interface Order {
  id: number;
  lines: Array<{ sku: string; price: number }>;
}

type Totals = Record<string, number>;

enum State {
  Open = 1,
  Closed,
}

/**
 * A comment that does not survive.
 */
declare function vanish(x: Reader): void;

function total(order: Order, seen: Totals = {}): number {
  // Another comment.
  return order.lines.reduce((sum: number, line): number => {
    seen[line.sku] = line.price;
    return sum + line.price.valueOf();
  }, 0);
}

class Ledger<T extends Order> {
  constructor(
    private readonly orders: readonly T[],
    protected state: State = State.Open,
  ) {}

  async sum(): Promise<number> {
    await null;
    return this.orders.map((order) => total(order)).length;
  }
}

const broken = { id: 1, lines: [{ sku: \"a\", price: null! }] } satisfies Order;
await new Ledger<Order>([broken]).sum();
";

#[test]
fn an_error_line_is_the_line_of_the_script_as_written() {
    let error = error_of(&[], TYPED);
    assert_eq!(error["kind"], "runtime");
    assert_eq!(
        error["message"],
        "TypeError: Cannot read properties of null (reading 'valueOf')"
    );
    assert_eq!(error["line"], 24);
    assert_eq!(error["column"], 29);
    assert_eq!(
        error["frame"],
        "  22 |   return order.lines.reduce((sum: number, line): number => {\n  \
           23 |     seen[line.sku] = line.price;\n\
         > 24 |     return sum + line.price.valueOf();\n     \
              |                             ^\n  \
           25 |   }, 0);\n  \
           26 | }"
    );
}

#[test]
fn a_stack_names_functions_methods_and_lines_of_the_script() {
    let stack = error_of(&[], TYPED)["stack"].clone();
    let stack: Vec<&str> = stack.as_str().expect("a stack").lines().collect();
    assert_eq!(
        stack[0],
        "TypeError: Cannot read properties of null (reading 'valueOf')"
    );
    let places: Vec<&str> = stack[1..].iter().map(|line| line.trim()).collect();
    assert!(places[0].contains("stdin.ts:24:29"), "{stack:#?}");
    assert!(
        places
            .iter()
            .any(|place| place.starts_with("at total (stdin.ts:22:")),
        "{stack:#?}"
    );
    assert!(
        places
            .iter()
            .any(|place| place.contains("Ledger.sum (stdin.ts:36:")),
        "{stack:#?}"
    );
    assert!(
        places
            .last()
            .is_some_and(|place| place.contains("stdin.ts:41:")),
        "{stack:#?}"
    );
}

#[test]
fn the_stack_that_a_script_sees_has_the_same_lines() {
    let script = "type A = {\n  a: 1;\n};\nenum E { X }\nconst e = new Error('here');\ne.stack";
    assert_eq!(
        result_of(script),
        "Error: here\n    at file:///stdin.ts:5:11"
    );
}

#[test]
fn lines_are_right_in_a_body_with_return_too() {
    let error = error_of(
        &[],
        "interface A {\n  a: 1\n}\nif (args.length) return 1;\nnull!.x;\nreturn 2",
    );
    assert_eq!(error["line"], 5);
    assert_eq!(error["column"], 7);
}

#[test]
fn an_error_in_the_last_expression_has_its_place() {
    for (script, line, column) in [
        ("missing", 1, 1),
        ("  missing.part", 1, 3),
        ("missing()", 1, 1),
        ("const a = 1\nmissing(a)", 2, 1),
        ("type A = 1;\nawait missing()", 2, 1),
        ("export default missing", 1, 16),
        ("[1, missing]", 1, 5),
        ("const main = async () => { missing() }", 1, 28),
    ] {
        let error = error_of(&[], script);
        assert_eq!(error["message"], "ReferenceError: missing is not defined");
        assert_eq!(
            (&error["line"], &error["column"]),
            (&json!(line), &json!(column)),
            "{script}\n{error:#}"
        );
    }
}

#[test]
fn lines_are_right_in_a_function_alone_too() {
    let error = error_of(
        &[],
        "async (): Promise<void> => {\n  const x: any = null;\n  x.y;\n}",
    );
    assert_eq!(error["line"], 3);
    assert_eq!(error["column"], 5);
}

#[test]
fn a_source_map_comment_of_the_script_changes_nothing() {
    let error = error_of(
        &[],
        "type A = 1;\nnull!.x;\n//# sourceMappingURL=data:application/json;base64,e30=\n",
    );
    assert_eq!(error["line"], 2);
}

#[test]
fn a_thrown_value_that_is_no_error_is_shown() {
    assert_eq!(error_of(&[], "throw 'just words'")["message"], "just words");
    assert_eq!(error_of(&[], "throw 42")["message"], "the script threw 42");
    assert_eq!(
        error_of(&[], "throw { code: 5, why: 'full' }")["message"],
        "the script threw { code: 5, why: \"full\" }"
    );
}

#[test]
fn the_cause_of_an_error_is_in_its_stack() {
    let error = error_of(
        &[],
        "const low = new RangeError('low');\nthrow new Error('high', { cause: low })",
    );
    assert_eq!(error["message"], "Error: high");
    let stack = error["stack"].as_str().expect("a stack");
    assert!(stack.contains("Caused by: RangeError: low"), "{stack}");
    assert!(stack.contains("stdin.ts:1:13"), "{stack}");
}

#[test]
fn the_errors_of_an_aggregate_are_in_its_stack() {
    let error = error_of(
        &[],
        "await Promise.any([Promise.reject(new Error('one')), Promise.reject(new Error('two'))])",
    );
    assert_eq!(
        error["message"],
        "AggregateError: All promises were rejected"
    );
    let stack = error["stack"].as_str().expect("a stack");
    assert!(
        stack.contains("Error: one") && stack.contains("Error: two"),
        "{stack}"
    );
}

// When a run is over.

#[test]
fn an_unhandled_rejection_fails_the_run() {
    let error = error_of(&[], "Promise.reject(new Error('lost'));\n5");
    assert_eq!(error["kind"], "runtime");
    assert_eq!(error["message"], "Error: lost");
    assert_eq!(error["line"], 1);
}

#[test]
fn a_rejection_that_is_handled_later_is_fine() {
    let script = "const p = Promise.reject(new Error('late'));\nawait new Promise((done) => setTimeout(done, 10));\np.catch(() => 'caught')";
    assert_eq!(result_of(script), "caught");
}

#[test]
fn a_script_without_a_result_runs_until_nothing_is_left_to_do() {
    let envelope = run_json(
        &[],
        "setTimeout(() => { console.log('later') }, 30);\nconst x = 1;",
    );
    assert_eq!(envelope["logs"][0]["text"], "later");
}

#[test]
fn a_timer_as_the_last_line_still_fires() {
    let envelope = run_json(&[], "setTimeout(() => console.log('later'), 10)");
    assert_eq!(envelope["logs"][0]["text"], "later", "{envelope:#}");
}

#[test]
fn a_leftover_timer_does_not_hold_up_a_result() {
    let script =
        "setTimeout(() => console.log('never'), 20_000);\nsetInterval(() => {}, 5);\n'done'";
    let envelope = run_json(&["--timeout", "5s"], script);
    assert_eq!(envelope["result"], "done");
    assert_eq!(envelope["logs"], json!([]));
}

#[test]
fn an_error_in_a_timer_fails_the_run() {
    let error = error_of(
        &[],
        "setTimeout(() => { throw new Error('in timer') }, 5);\nconst x = 1;",
    );
    assert_eq!(error["message"], "Error: in timer");
    assert_eq!(error["line"], 1);
}

#[test]
fn waiting_for_what_can_never_happen_is_an_error_and_no_timeout() {
    for script in [
        "await new Promise(() => {})",
        "return new Promise(() => {})",
        "[new Promise(() => {})]",
    ] {
        let error = error_of(&["--timeout", "5s"], script);
        assert_eq!(error["kind"], "runtime", "{script}\n{error:#}");
        assert_eq!(
            error["hint"],
            "Make sure that every promise you await is resolved or rejected by something.",
            "{script}"
        );
    }
}
