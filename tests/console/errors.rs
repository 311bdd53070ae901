//! How the console prints errors, with positions in the script.

use super::assert_logs;

#[test]
fn errors_show_their_stack() {
    assert_logs(
        r#"console.log(new Error("plain"));
console.log(new Error());
console.log({ e: new TypeError("in an object") });"#,
        r#"Error: plain
    at file:///stdin.ts:1:13
Error
    at file:///stdin.ts:2:13
{
  e: TypeError: in an object
      at file:///stdin.ts:3:18
}"#,
    );
}

#[test]
fn an_error_shows_its_cause() {
    assert_logs(
        r#"const inner = new RangeError("low");
console.log(new Error("high", { cause: inner }));
console.log(new Error("odd", { cause: "just words" }));"#,
        r#"Error: high
    at file:///stdin.ts:2:13 {
  [cause]: RangeError: low
      at file:///stdin.ts:1:15
}
Error: odd
    at file:///stdin.ts:3:13 {
  [cause]: "just words"
}"#,
    );
}

#[test]
fn an_aggregate_error_shows_its_errors() {
    assert_logs(
        r#"console.log(new AggregateError([new Error("one"), new Error("two")], "many"));"#,
        r#"AggregateError: many
    at file:///stdin.ts:1:13 {
  [errors]: [
    Error: one
        at file:///stdin.ts:1:33,
    Error: two
        at file:///stdin.ts:1:51
  ]
}"#,
    );
}

#[test]
fn an_error_class_shows_its_name_and_fields() {
    assert_logs(
        r#"class MyError extends Error { name = "MyError"; code = 7 }
console.log(new MyError("mine"));"#,
        r#"MyError: mine
    at file:///stdin.ts:2:13 {
  code: 7
}"#,
    );
}

#[test]
fn an_error_from_a_function_shows_the_way_there() {
    assert_logs(
        r#"function outer() { return inner() }
function inner() { return new Error("from inner") }
console.log(outer());"#,
        r#"Error: from inner
    at inner (file:///stdin.ts:2:27)
    at outer (file:///stdin.ts:1:27)
    at file:///stdin.ts:3:13"#,
    );
}

#[test]
fn an_error_caught_from_async_code_shows_the_async_frames() {
    assert_logs(
        r#"async function f() { await null; throw new Error("late") }
try { await f() } catch (e) { console.error(e) }"#,
        r#"Error: late
    at f (file:///stdin.ts:1:40)
    at async file:///stdin.ts:2:7"#,
    );
}

#[test]
fn an_error_without_a_stack_is_in_brackets() {
    assert_logs(
        r#"const e = new Error("x");
e.stack = undefined;
console.log(e);"#,
        r#"[Error: x]"#,
    );
}

#[test]
fn a_rejected_promise_shows_its_reason() {
    assert_logs(
        r#"const p = Promise.reject(new RangeError("no"));
p.catch(() => {});
console.log(p);"#,
        r#"Promise {
  <rejected> RangeError: no
      at file:///stdin.ts:1:26
}"#,
    );
}

#[test]
fn a_dom_exception_shows_like_an_error() {
    assert_logs(
        r#"console.log(new DOMException("gone", "AbortError"));"#,
        r#"AbortError: gone
    at file:///stdin.ts:1:13"#,
    );
}
