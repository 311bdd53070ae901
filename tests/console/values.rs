//! How the console prints values of every kind.

use super::assert_logs;

#[test]
fn strings_are_plain_at_the_top_and_quoted_inside() {
    assert_logs(
        r#"console.log("plain", ["it's", 'say "hi"', `both ' and "`, "back`tick", "all ' \" `", "line\nbreak", "tab\t", ""]);"#,
        r#"plain [
  "it's",
  'say "hi"',
  `both ' and "`,
  "back`tick",
  "all ' \" `",
  "line\nbreak",
  "tab\t",
  ""
]"#,
    );
}

#[test]
fn numbers_keep_their_sign_and_bigint_its_suffix() {
    assert_logs(
        r#"console.log(0, -0, 1e21, NaN, -Infinity, 0.1, 10n, [-0, 5n]);"#,
        r#"0 -0 1e+21 NaN -Infinity 0.1 10n [ -0, 5n ]"#,
    );
}

#[test]
fn symbols_booleans_null_and_undefined() {
    assert_logs(
        r#"console.log(Symbol("s"), Symbol(), Symbol.iterator, true, null, undefined, [undefined, null]);"#,
        r#"Symbol(s) Symbol() Symbol(Symbol.iterator) true null undefined [ undefined, null ]"#,
    );
}

#[test]
fn functions_and_classes_show_their_kind() {
    assert_logs(
        r#"function named() {}
class Base {}
class Derived extends Base { static count = 1 }
console.log(named, () => {}, async () => {}, function* () {}, async function* gen() {}, Base, Derived, class {});
console.log(Object.assign(function withProps() {}, { a: 1 }), Math.max, { method() {}, get: () => 1 });"#,
        r#"[Function: named] [Function (anonymous)] [AsyncFunction (anonymous)] [GeneratorFunction (anonymous)] [AsyncGeneratorFunction: gen] [class Base] [class Derived extends Base] { count: 1 } [class (anonymous)]
[Function: withProps] { a: 1 } [Function: max] { method: [Function: method], get: [Function: get] }"#,
    );
}

#[test]
fn objects_show_keys_accessors_and_symbols() {
    assert_logs(
        r#"console.log({ a: 1, "b-c": 2, 3: "three", [Symbol("k")]: 4, get g() { return 1 }, set s(v: number) {}, get gs() { return 1 }, set gs(v) {} });
console.log({}, Object.create(null), Object.assign(Object.create(null), { x: 1 }));"#,
        r#"{
  "3": "three",
  a: 1,
  "b-c": 2,
  g: [Getter],
  s: [Setter],
  gs: [Getter/Setter],
  Symbol(k): 4
}
{} [Object: null prototype] {} [Object: null prototype] { x: 1 }"#,
    );
}

#[test]
fn nested_objects_stop_at_depth_four() {
    assert_logs(
        r#"console.log({ a: { b: { c: { d: { e: { f: 1 } } } } } });
console.log([[[[[[1]]]]]]);"#,
        r#"{
  a: {
    b: { c: { d: { e: [Object] } } }
  }
}
[
  [
    [ [ [ [Array] ] ] ]
  ]
]"#,
    );
}

#[test]
fn long_objects_break_over_lines() {
    assert_logs(
        r#"console.log({ name: "a fairly long name that fills the line", description: "and a description that does so as well", n: 1 });
console.log([{ id: 1, tags: ["a", "b"] }, { id: 2, tags: [] }]);"#,
        r#"{
  name: "a fairly long name that fills the line",
  description: "and a description that does so as well",
  n: 1
}
[ { id: 1, tags: [ "a", "b" ] }, { id: 2, tags: [] } ]"#,
    );
}

#[test]
fn long_arrays_are_set_in_columns() {
    assert_logs(
        r#"console.log(Array.from({ length: 30 }, (_, i) => i * 7));
console.log(["apple", "banana", "cherry", "date", "elderberry", "fig", "grape", "honeydew"]);"#,
        r#"[
    0,   7,  14,  21,  28,  35,  42,  49,
   56,  63,  70,  77,  84,  91,  98, 105,
  112, 119, 126, 133, 140, 147, 154, 161,
  168, 175, 182, 189, 196, 203
]
[
  "apple",
  "banana",
  "cherry",
  "date",
  "elderberry",
  "fig",
  "grape",
  "honeydew"
]"#,
    );
}

#[test]
fn an_array_shows_a_hundred_items() {
    assert_logs(
        r#"console.log(Array.from({ length: 120 }, () => 0));"#,
        r#"[
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0,
  ... 20 more items
]"#,
    );
}

#[test]
fn holes_and_extra_properties_of_arrays() {
    assert_logs(
        r#"console.log([1, , 3], [, , ,], Object.assign([1], { extra: true }), new Array(3));"#,
        r#"[ 1, <1 empty item>, 3 ] [ <3 empty items> ] [ 1, extra: true ] [ <3 empty items> ]"#,
    );
}

#[test]
fn maps_and_sets() {
    assert_logs(
        r#"console.log(new Map<unknown, unknown>([["a", 1], [{ k: 1 }, new Set([1])]]), new Set(["x", [1]]), new Map(), new Set());
console.log(new WeakMap(), new WeakSet(), new Map([["a", 1]]).entries(), new Set([1]).values(), [1, 2][Symbol.iterator]());"#,
        r#"Map(2) { "a" => 1, { k: 1 } => Set(1) { 1 } } Set(2) { "x", [ 1 ] } Map(0) {} Set(0) {}
WeakMap { <items unknown> } WeakSet { <items unknown> } [Map Entries] { [ "a", 1 ] } [Set Iterator] { 1 } Object [Array Iterator] {}"#,
    );
}

#[test]
fn instances_show_their_class() {
    assert_logs(
        r#"class Point { x = 1; #hidden = 2; get sum() { return this.#hidden } }
class Named { [Symbol.toStringTag] = "Tag" }
class Empty {}
console.log(new Point(), new Named(), new Empty(), new (class extends Map {})([["a", 1]]), new (class Stack extends Array {})(1, 2));"#,
        r#"Point { x: 1 } Named [Tag] { Symbol(Symbol.toStringTag): "Tag" } Empty {} Map(1) { "a" => 1 } Stack(2) [ 1, 2 ]"#,
    );
}

#[test]
fn circular_references_are_marked() {
    assert_logs(
        r#"const a: any = { name: "a" };
a.self = a;
a.list = [a, { up: a }];
console.log(a);"#,
        r#"<ref *1> {
  name: "a",
  self: [Circular *1],
  list: [ [Circular *1], { up: [Circular *1] } ]
}"#,
    );
}

#[test]
fn a_shared_value_is_not_a_cycle() {
    assert_logs(
        r#"const shared = { n: 1 };
console.log({ left: shared, right: shared });"#,
        r#"{ left: { n: 1 }, right: { n: 1 } }"#,
    );
}

#[test]
fn proxies_show_their_target() {
    assert_logs(
        r#"console.log(new Proxy({ a: 1 }, { get: () => 2 }), new Proxy([1, 2], {}), new Proxy(function f() {}, {}));"#,
        r#"{ a: 1 } [ 1, 2 ] [Function: f]"#,
    );
}

#[test]
fn typed_arrays_and_buffers() {
    assert_logs(
        r#"console.log(new Uint8Array([1, 2]), new Float64Array(2), new BigInt64Array([1n]), new ArrayBuffer(4), new DataView(new ArrayBuffer(2)));"#,
        r#"Uint8Array(2) [ 1, 2 ] Float64Array(2) [ 0, 0 ] BigInt64Array(1) [ 1n ] ArrayBuffer { [Uint8Contents]: <00 00 00 00>, byteLength: 4 } DataView {
  byteLength: 2,
  byteOffset: 0,
  buffer: ArrayBuffer { [Uint8Contents]: <00 00>, byteLength: 2 }
}"#,
    );
}

#[test]
fn dates_and_regular_expressions() {
    assert_logs(
        r#"console.log(new Date(0), new Date(NaN), [new Date(86400000)], /a+/gi, { re: /x/ });"#,
        r#"1970-01-01T00:00:00.000Z Invalid Date [ 1970-01-02T00:00:00.000Z ] /a+/gi { re: /x/ }"#,
    );
}

#[test]
fn promises_show_their_state() {
    assert_logs(
        r#"console.log(Promise.resolve(5), new Promise(() => {}), [Promise.resolve({ a: 1 })]);"#,
        r#"Promise { 5 } Promise { <pending> } [ Promise { { a: 1 } } ]"#,
    );
}

#[test]
fn boxed_primitives() {
    assert_logs(
        r#"console.log(new String("s"), new Number(-0), new Boolean(true), Object(1n), Object(Symbol("b")));"#,
        r#"[String: "s"] [Number: -0] [Boolean: true] [BigInt: 1n] [Symbol: Symbol(b)]"#,
    );
}

#[test]
fn arguments_generators_and_globals() {
    assert_logs(
        r#"(function (..._: number[]) { console.log(arguments) })(1, 2);
console.log((function* () {})(), Math, JSON, Reflect, Atomics, Intl);"#,
        r#"[Arguments] { "0": 1, "1": 2 }
Object [Generator] {} Object [Math] {} Object [JSON] {} Object [Reflect] {} Object [Atomics] {} Object [Intl] {}"#,
    );
}

#[test]
fn web_values() {
    assert_logs(
        r#"console.log(new URL("https://user@example.com:8080/p?q=1#h"), new URLSearchParams("a=1&b=2"));
console.log(new AbortController().signal.aborted, new TextEncoder(), new DOMException("gone", "AbortError").name);"#,
        r##"URL {
  href: "https://user@example.com:8080/p?q=1#h",
  origin: "https://example.com:8080",
  protocol: "https:",
  username: "user",
  password: "",
  host: "example.com:8080",
  hostname: "example.com",
  port: "8080",
  pathname: "/p",
  hash: "#h",
  search: "?q=1"
} URLSearchParams { "a" => "1", "b" => "2" }
false TextEncoder { encoding: "utf-8" } AbortError"##,
    );
}

#[test]
fn long_strings_in_objects_are_not_cut() {
    assert_logs(
        r#"console.log({ text: "x".repeat(120) });
console.log(["y".repeat(90), "z"]);"#,
        r#"{
  text: "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
}
[
  "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy",
  "z"
]"#,
    );
}

#[test]
fn an_object_shows_all_its_keys() {
    assert_logs(
        r#"console.log(Object.fromEntries(Array.from({ length: 12 }, (_, i) => ["key" + i, i])));"#,
        r#"{
  key0: 0,
  key1: 1,
  key2: 2,
  key3: 3,
  key4: 4,
  key5: 5,
  key6: 6,
  key7: 7,
  key8: 8,
  key9: 9,
  key10: 10,
  key11: 11
}"#,
    );
}

#[test]
fn a_set_and_a_map_show_a_hundred_entries() {
    assert_logs(
        r#"console.log(new Set(Array.from({ length: 102 }, (_, i) => i)));
console.log(new Map(Array.from({ length: 101 }, (_, i) => [i, 0])));"#,
        r#"Set(102) {
  0,
  1,
  2,
  3,
  4,
  5,
  6,
  7,
  8,
  9,
  10,
  11,
  12,
  13,
  14,
  15,
  16,
  17,
  18,
  19,
  20,
  21,
  22,
  23,
  24,
  25,
  26,
  27,
  28,
  29,
  30,
  31,
  32,
  33,
  34,
  35,
  36,
  37,
  38,
  39,
  40,
  41,
  42,
  43,
  44,
  45,
  46,
  47,
  48,
  49,
  50,
  51,
  52,
  53,
  54,
  55,
  56,
  57,
  58,
  59,
  60,
  61,
  62,
  63,
  64,
  65,
  66,
  67,
  68,
  69,
  70,
  71,
  72,
  73,
  74,
  75,
  76,
  77,
  78,
  79,
  80,
  81,
  82,
  83,
  84,
  85,
  86,
  87,
  88,
  89,
  90,
  91,
  92,
  93,
  94,
  95,
  96,
  97,
  98,
  99,
  ... 2 more items
}
Map(101) {
  0 => 0,
  1 => 0,
  2 => 0,
  3 => 0,
  4 => 0,
  5 => 0,
  6 => 0,
  7 => 0,
  8 => 0,
  9 => 0,
  10 => 0,
  11 => 0,
  12 => 0,
  13 => 0,
  14 => 0,
  15 => 0,
  16 => 0,
  17 => 0,
  18 => 0,
  19 => 0,
  20 => 0,
  21 => 0,
  22 => 0,
  23 => 0,
  24 => 0,
  25 => 0,
  26 => 0,
  27 => 0,
  28 => 0,
  29 => 0,
  30 => 0,
  31 => 0,
  32 => 0,
  33 => 0,
  34 => 0,
  35 => 0,
  36 => 0,
  37 => 0,
  38 => 0,
  39 => 0,
  40 => 0,
  41 => 0,
  42 => 0,
  43 => 0,
  44 => 0,
  45 => 0,
  46 => 0,
  47 => 0,
  48 => 0,
  49 => 0,
  50 => 0,
  51 => 0,
  52 => 0,
  53 => 0,
  54 => 0,
  55 => 0,
  56 => 0,
  57 => 0,
  58 => 0,
  59 => 0,
  60 => 0,
  61 => 0,
  62 => 0,
  63 => 0,
  64 => 0,
  65 => 0,
  66 => 0,
  67 => 0,
  68 => 0,
  69 => 0,
  70 => 0,
  71 => 0,
  72 => 0,
  73 => 0,
  74 => 0,
  75 => 0,
  76 => 0,
  77 => 0,
  78 => 0,
  79 => 0,
  80 => 0,
  81 => 0,
  82 => 0,
  83 => 0,
  84 => 0,
  85 => 0,
  86 => 0,
  87 => 0,
  88 => 0,
  89 => 0,
  90 => 0,
  91 => 0,
  92 => 0,
  93 => 0,
  94 => 0,
  95 => 0,
  96 => 0,
  97 => 0,
  98 => 0,
  99 => 0,
  ... 1 more item
}"#,
    );
}

#[test]
fn custom_inspect_is_honoured() {
    assert_logs(
        r#"console.log({ [Symbol.for("Deno.customInspect")]() { return "shown my way" } });
console.log([{ [Symbol.for("nodejs.util.inspect.custom")]() { return "node way" } }]);"#,
        r#"shown my way
[ node way ]"#,
    );
}

#[test]
fn a_getter_that_throws_does_not_break_the_line() {
    assert_logs(
        r#"console.log({ get bad() { throw new Error("never") }, ok: 1 });"#,
        r#"{ bad: [Getter], ok: 1 }"#,
    );
}

#[test]
fn unicode_passes_unchanged() {
    assert_logs(
        r#"console.log("grüße", "日本", "👩‍👩‍👧", ["é", "\u0000", "\u001b[31m"], { "ключ": 1 });"#,
        r#"grüße 日本 👩‍👩‍👧 [ "é", "\x00", "\x1b[31m" ] { "ключ": 1 }"#,
    );
}

#[test]
fn abort_controllers_and_events() {
    assert_logs(
        r#"console.log(new AbortController());
console.log(new Event("x").type, new CustomEvent("y", { detail: { n: 1 } }).detail);"#,
        r#"AbortController {
  signal: AbortSignal { aborted: false, reason: undefined, onabort: null }
}
x { n: 1 }"#,
    );
}
