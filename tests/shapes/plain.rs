//! Serialization of values that JSON cannot represent.

use serde_json::json;

use super::assert_results;
use crate::support::{error_of, result_of, run_json};

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
