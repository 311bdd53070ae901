//! Idioms of other runtimes, code fences, and plain JavaScript.

use serde_json::json;

use super::assert_results;
use crate::support::{error_of, result_of, run_json};

// Idioms of other runtimes.
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

// Code fences.
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
fn a_template_with_backticks_is_not_a_fence() {
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
        // TypeScript does not allow a type after `?` here.
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

#[test]
fn this_is_nothing_outside_of_functions() {
    assert_results(&[
        ("typeof this", json!("undefined")),
        ("[1].map(() => typeof this)", json!(["undefined"])),
        (
            "class A { [typeof this]() {} }\nreturn Object.getOwnPropertyNames(A.prototype)",
            json!(["constructor", "undefined"]),
        ),
        (
            "class A extends (this === undefined ? Array : Object) {}\nreturn new A() instanceof Array",
            json!(true),
        ),
        (
            "class A { own = this; of() { return this === this.own } }\nreturn new A().of()",
            json!(true),
        ),
    ]);
}

#[test]
fn blocks_with_different_names_of_the_language_are_one_script() {
    assert_results(&[(
        "First:\n```ts\nconst a = 1;\n```\nThen:\n```typescript\na + 1\n```\nIt prints:\n```json\n2\n```",
        json!(2),
    )]);
}
