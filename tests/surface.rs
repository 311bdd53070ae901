//! The names that a script can reach, compared with pinned lists. An upgrade of V8 or deno_core
//! that adds a name fails here, so that it is reviewed before it ships.
//!
//! `PML_BLESS=1 cargo test surface` rewrites the lists; review their diff.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use pml_hosts::StaticHost;
use pml_protocol::Limits;

use crate::support::{pool, repository, run_in};
use crate::walls::probe;

/// Walks everything reachable from the global object, the module `pml` and the intrinsics without a
/// global name, and returns a path for each value. Getters are not called: their functions are
/// walked.
const WALK: &str = r#"
import * as api from "pml";
const seen = new Map<unknown, string>();
const paths: string[] = [];
const queue: [unknown, string][] = [];
const visit = (value: unknown, path: string) => {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return;
  if (seen.has(value)) return;
  seen.set(value, path);
  queue.push([value, path]);
};
const nameOf = (key: PropertyKey) => typeof key === "symbol" ? `[${String(key)}]` : String(key);
const hidden: Record<string, unknown> = {
  "(async function)": async () => {},
  "(generator)": (function* () {})(),
  "(async generator)": (async function* () {})(),
  "(array iterator)": [][Symbol.iterator](),
  "(map iterator)": new Map().keys(),
  "(set iterator)": new Set().keys(),
  "(string iterator)": ""[Symbol.iterator](),
  "(regexp iterator)": "".matchAll(/x/g),
  "(iterator helper)": [].values().map((value) => value),
  "(wrapped iterator)": Iterator.from({ next: () => ({ done: true, value: 1 }) }),
  "(segmenter)": new Intl.Segmenter().segment("x"),
  "(arguments)": (function (..._rest: unknown[]) { return arguments; })(),
  "(import.meta)": import.meta,
  "(url)": new URL("https://example.com/?a=b"),
  "(search params)": new URLSearchParams("a=b").entries(),
  "(abort controller)": new AbortController(),
  "(event)": new Event("x"),
  "(event target)": new EventTarget(),
  "(exception)": new DOMException("x"),
  "(encoder)": new TextEncoder(),
  "(decoder)": new TextDecoder(),
  "(timer)": setTimeout(() => {}, 0),
  "(tool error)": (await callTool("no:tool")).error,
};
visit(globalThis, "globalThis");
visit(api, "pml");
for (const [name, value] of Object.entries(hidden)) visit(value, name);
for (let at = 0; at < queue.length; at++) {
  const [value, path] = queue[at];
  // `tools` makes a property for any name that is asked for.
  for (const key of Reflect.ownKeys(value as object)) {
    const own = Reflect.getOwnPropertyDescriptor(value as object, key)!;
    const name = path === "globalThis" ? nameOf(key) : `${path}.${nameOf(key)}`;
    paths.push(name);
    visit(own.value, name);
    visit(own.get, `${name}.get`);
    visit(own.set, `${name}.set`);
  }
  visit(Reflect.getPrototypeOf(value as object), `${path}.__proto__`);
}
const suspicious: string[] = [];
for (const [value, path] of seen) {
  if (typeof value === "function" && /^(async_)?op_/.test(value.name)) suspicious.push(path);
  // A symbol description is not a path.
  const names = path.replaceAll(/\[Symbol\(.*?\)\]/g, "symbol").split(".");
  if (names.some((name) => /^(Deno|core|ops|primordials|internals|__bootstrap|__pml|op_.*)$/.test(name))) suspicious.push(path);
}
export default { globals: Reflect.ownKeys(globalThis).map(nameOf), paths, suspicious };
"#;

#[derive(serde::Deserialize)]
struct Surface {
    globals: BTreeSet<String>,
    paths: BTreeSet<String>,
    suspicious: Vec<String>,
}

fn surface() -> Surface {
    let pool = pool(Limits {
        output_chars: 4_000_000,
        ..Limits::default()
    });
    let outcome = tokio::runtime::Runtime::new()
        .expect("an event loop starts")
        .block_on(run_in(&pool, Arc::new(StaticHost::empty()), WALK));
    assert!(outcome.ok, "{:?}", outcome.error);
    let result = outcome.result.expect("the walk gives its paths");
    serde_json::from_str(result.get()).expect("the walk gives what it should")
}

/// Compares with the pinned list, or replaces it.
#[track_caller]
fn assert_pinned(file: &str, found: &BTreeSet<String>) {
    let path = repository().join("tests/surface").join(file);
    if std::env::var_os("PML_BLESS").is_some() {
        let text: String = found.iter().map(|name| format!("{name}\n")).collect();
        std::fs::write(&path, text).expect("the list can be written");
        return;
    }
    let text = std::fs::read_to_string(&path).expect("the list is there");
    let pinned: BTreeSet<String> = text.lines().map(str::to_owned).collect();
    let mut difference = String::new();
    for name in found.difference(&pinned) {
        writeln!(difference, "+ {name}").expect("memory is free");
    }
    for name in pinned.difference(found) {
        writeln!(difference, "- {name}").expect("memory is free");
    }
    assert!(
        difference.is_empty(),
        "what a script can reach differs from tests/surface/{file}:\n{difference}"
    );
}

#[test]
fn the_names_of_the_global_object_are_the_pinned_ones() {
    assert_pinned("globals.txt", &surface().globals);
}

#[test]
fn everything_a_script_can_reach_is_pinned() {
    assert_pinned("reachable.txt", &surface().paths);
}

#[test]
fn no_op_and_no_namespace_of_the_runtime_can_be_reached() {
    assert_eq!(surface().suspicious, Vec::<String>::new());
}

/// No script gets an op; these are the ops that one could call if it found a way. The refused ones
/// throw.
#[test]
fn the_registered_ops_are_the_pinned_ones() {
    assert_pinned("ops.txt", &probe::run(true).ops);
}
