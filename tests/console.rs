//! The console. The expected lines are exactly those that Deno 2.9 prints for the same code without
//! colours.

mod errors;
mod values;

use serde_json::{Value, json};

use crate::support::run_json;

/// Compares the log of a script, joined by newlines.
fn assert_logs(script: &str, expected: &str) {
    let envelope = run_json(&[], script);
    assert_eq!(envelope["ok"], true, "{script}\n{envelope:#}");
    assert_eq!(texts(&envelope).join("\n"), expected, "{script}");
}

fn texts(envelope: &Value) -> Vec<&str> {
    let logs = envelope["logs"].as_array().expect("a list of lines");
    logs.iter()
        .map(|line| line["text"].as_str().expect("a text"))
        .collect()
}

fn levels(script: &str) -> Vec<String> {
    let envelope = run_json(&[], script);
    let logs = envelope["logs"].as_array().expect("a list of lines");
    logs.iter()
        .map(|line| line["level"].as_str().expect("a level").to_owned())
        .collect()
}

#[test]
fn every_method_has_its_level() {
    assert_eq!(
        run_json(
            &[],
            "console.debug('d'); console.log('l'); console.info('i'); console.warn('w'); console.error('e')"
        )["logs"],
        json!([
            { "level": "debug", "text": "d" },
            { "level": "log", "text": "l" },
            { "level": "info", "text": "i" },
            { "level": "warn", "text": "w" },
            { "level": "error", "text": "e" },
        ])
    );
}

#[test]
fn the_other_methods_are_errors_and_warnings_where_deno_says_so() {
    assert_eq!(levels("console.table([1])"), ["log"]);
    assert_eq!(levels("console.group('g')"), ["log"]);
    assert_eq!(levels("console.dir({})"), ["log"]);
    assert_eq!(levels("console.count()"), ["log"]);
    assert_eq!(levels("console.time(); console.timeEnd()"), ["log"]);
    assert_eq!(levels("console.assert(false)"), ["error"]);
    assert_eq!(levels("console.trace()"), ["error"]);
    assert_eq!(levels("console.countReset('none')"), ["warn"]);
    assert_eq!(levels("console.timeEnd('none')"), ["warn"]);
}

#[test]
fn a_line_logged_while_another_is_formatted_keeps_its_own_level() {
    let script =
        "console.error({ get [Symbol.toStringTag]() { console.log('inside'); return 'T' } });";
    let envelope = run_json(&[], script);
    let logs = envelope["logs"].as_array().expect("a list of lines");
    for line in logs {
        let expected = if line["text"] == "inside" {
            "log"
        } else {
            "error"
        };
        assert_eq!(line["level"], expected, "{envelope:#}");
    }
}

#[test]
fn lines_keep_their_order_across_levels_and_awaits() {
    assert_logs(
        "console.error(1); console.log(2); await null; console.warn(3);\n\
         queueMicrotask(() => console.log(5)); console.log(4);\n\
         await new Promise((done) => setTimeout(done, 5)); console.debug(6);",
        "1\n2\n3\n4\n5\n6",
    );
}

#[test]
fn lines_of_a_failed_run_are_kept() {
    let envelope = run_json(&[], "console.log('before'); throw new Error('no')");
    assert_eq!(envelope["ok"], false);
    assert_eq!(texts(&envelope), ["before"]);
}

#[test]
fn a_timer_tells_milliseconds_under_its_name() {
    let script = "console.time('load'); console.timeLog('load', 'half', { n: 1 }); console.timeEnd('load'); console.time(); console.timeEnd()";
    let envelope = run_json(&[], script);
    let lines = texts(&envelope);
    let took = |line: &str, start: &str, end: &str| {
        line.strip_prefix(start)
            .and_then(|rest| rest.strip_suffix(end))
            .and_then(|number| number.parse::<f64>().ok())
            .is_some_and(|number| number >= 0.0)
    };
    assert!(took(lines[0], "load: ", "ms half { n: 1 }"), "{lines:?}");
    assert!(took(lines[1], "load: ", "ms"), "{lines:?}");
    assert!(took(lines[2], "default: ", "ms"), "{lines:?}");
}

#[test]
fn clearing_does_nothing_where_there_is_no_terminal() {
    assert_logs("console.clear(); console.log('x')", "x");
}

#[test]
fn the_console_calls_itself_a_console() {
    assert_logs("console.log(String(console))", "[object console]");
}

#[test]
fn a_script_can_replace_a_method() {
    assert_logs(
        "const said: string[] = []; const log = console.log; console.log = (x: string) => { said.push(x) };\n\
         console.log('caught'); log(said)",
        "[ \"caught\" ]",
    );
}

#[test]
fn an_empty_call_is_an_empty_line() {
    assert_logs(
        r#"console.log();
console.log("");"#,
        r#"
"#,
    );
}

#[test]
fn placeholders_in_the_first_string_are_filled() {
    assert_logs(
        r#"console.log("%s is %d years and %i, %f, %j %o %O %%", "Ann", 42.5, 42.9, "1.5", { a: 1 }, { b: [1] }, { c: 1 }, "rest", { d: 1 });
console.log("%s %s %s %s", 1n, Symbol("s"), { a: 1 }, null);
console.log("%c styled %cplain", "color: red", "");
console.log("100%", 5, "%d", "%x", "%");
console.log("%s");
console.log("%d %i %f", "abc", {}, []);"#,
        r#"Ann is 42 years and 42, 1.5, {"a":1} { b: [ 1 ] } { c: 1 } % rest { d: 1 }
1 Symbol(s) [object Object] null
 styled plain
100% 5 %d %x %
%s
NaN NaN NaN"#,
    );
}

#[test]
fn groups_indent_what_is_inside() {
    assert_logs(
        r#"console.log("before");
console.group("outer");
console.log("one\ntwo");
console.group();
console.warn({ a: 1 });
console.groupEnd();
console.groupCollapsed("inner");
console.error("deep");
console.groupEnd();
console.groupEnd();
console.groupEnd();
console.log("after");"#,
        r#"before
outer
  one
  two
    { a: 1 }
  inner
    deep
after"#,
    );
}

#[test]
fn tables_of_records_lists_and_maps() {
    assert_logs(
        r#"console.table([{ name: "Ann", age: 41 }, { name: "Bo", city: "Rome" }]);
console.table([[1, 2], [3, 4]]);
console.table(["a", "b"]);
console.table({ x: { v: 1 }, y: { v: 2 } });
console.table(new Map([["k", { v: 1 }]]));
console.table(new Set(["s"]));
console.table([{ a: 1, b: 2 }], ["b"]);
console.table([]);
console.table("text");
console.table([{ nested: { deep: [1] } }]);"#,
        r#"┌───────┬───────┬─────┬────────┐
│ (idx) │ name  │ age │ city   │
├───────┼───────┼─────┼────────┤
│     0 │ "Ann" │  41 │        │
│     1 │ "Bo"  │     │ "Rome" │
└───────┴───────┴─────┴────────┘
┌───────┬───┬───┐
│ (idx) │ 0 │ 1 │
├───────┼───┼───┤
│     0 │ 1 │ 2 │
│     1 │ 3 │ 4 │
└───────┴───┴───┘
┌───────┬────────┐
│ (idx) │ Values │
├───────┼────────┤
│     0 │ "a"    │
│     1 │ "b"    │
└───────┴────────┘
┌───────┬───┐
│ (idx) │ v │
├───────┼───┤
│ x     │ 1 │
│ y     │ 2 │
└───────┴───┘
┌────────────┬─────┬──────────┐
│ (iter idx) │ Key │ Values   │
├────────────┼─────┼──────────┤
│          0 │ "k" │ { v: 1 } │
└────────────┴─────┴──────────┘
┌────────────┬────────┐
│ (iter idx) │ Values │
├────────────┼────────┤
│          0 │ "s"    │
└────────────┴────────┘
┌───────┬───┐
│ (idx) │ b │
├───────┼───┤
│     0 │ 2 │
└───────┴───┘
┌───────┐
│ (idx) │
├───────┤
└───────┘
text
┌───────┬─────────────────┐
│ (idx) │ nested          │
├───────┼─────────────────┤
│     0 │ { deep: [ 1 ] } │
└───────┴─────────────────┘"#,
    );
}

#[test]
fn counters_count_and_reset() {
    assert_logs(
        r#"console.count();
console.count("calls");
console.count("calls");
console.countReset("calls");
console.count("calls");
console.count();
console.countReset("never");"#,
        r#"default: 1
calls: 1
calls: 2
calls: 1
default: 2
Count for 'never' does not exist"#,
    );
}

#[test]
fn asserts_speak_only_when_they_fail() {
    assert_logs(
        r#"console.assert(true, "silent");
console.assert(false);
console.assert(1 === 2 as any, "not %s", "equal");
console.assert(false, { a: 1 });"#,
        r#"Assertion failed
Assertion failed: not equal
Assertion failed: { a: 1 }"#,
    );
}

#[test]
fn dir_takes_a_depth() {
    assert_logs(
        r#"console.dir({ a: { b: { c: { d: { e: { f: { g: 1 } } } } } } }, { depth: 2 });
console.dir("text");
console.dirxml({ a: 1 });"#,
        r#"{ a: { b: { c: [Object] } } }
text
{ a: 1 }"#,
    );
}

#[test]
fn timers_that_were_never_started_warn() {
    assert_logs(
        r#"console.timeEnd("none");
console.timeLog("none");
console.time("t");
console.time("t");"#,
        r#"Timer 'none' does not exist
Timer 'none' does not exist
Timer 't' already exists"#,
    );
}

#[test]
fn trace_shows_where_it_was_called() {
    assert_logs(
        r#"function deep() { console.trace("here", { a: 1 }) }
deep();"#,
        r#"Trace: here { a: 1 }
    at deep (file:///stdin.ts:1:27)
    at file:///stdin.ts:2:1"#,
    );
}

#[test]
fn tables_of_anything_else_are_printed_as_deno_does() {
    assert_logs(
        r#"console.table([1, 2], ["x"]);
console.table(null);
console.table({});
console.table([null, undefined, 1]);
console.table([{ a: "x".repeat(30) }, { a: "日本" }]);
console.table(new Map([[{ a: 1 }, 2]]));"#,
        r#"┌───────┬───┐
│ (idx) │ x │
├───────┼───┤
│     0 │   │
│     1 │   │
└───────┴───┘
null
┌───────┐
│ (idx) │
├───────┤
└───────┘
┌───────┬───────────┐
│ (idx) │ Values    │
├───────┼───────────┤
│     0 │ null      │
│     1 │ undefined │
│     2 │ 1         │
└───────┴───────────┘
┌───────┬──────────────────────────────────┐
│ (idx) │ a                                │
├───────┼──────────────────────────────────┤
│     0 │ "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" │
│     1 │ "日本"                           │
└───────┴──────────────────────────────────┘
┌────────────┬──────────┬────────┐
│ (iter idx) │ Key      │ Values │
├────────────┼──────────┼────────┤
│          0 │ { a: 1 } │      2 │
└────────────┴──────────┴────────┘"#,
    );
}

#[test]
fn a_method_taken_off_the_console_works() {
    assert_logs(
        r#"const { log, group, groupEnd } = console;
log("x");
group("y");
log("z");
groupEnd();
log("w");"#,
        r#"x
y
  z
w"#,
    );
}

#[test]
fn array_methods_can_take_the_console() {
    assert_logs(
        r#"["a", "b"].forEach(console.log);"#,
        r#"a 0 [ "a", "b" ]
b 1 [ "a", "b" ]"#,
    );
}

#[test]
fn strings_of_many_lines_keep_them() {
    assert_logs(
        r#"console.log("one\n  two\n\nthree");"#,
        r#"one
  two

three"#,
    );
}
