//! Searching, describing and calling tools that are Rust functions.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use pml_hosts::StaticHost;
use pml_protocol::{ErrorKind, Failure, FailureKind, Limits, Outcome};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::support::{error_of, pool, result_of, run_in};

/// Tools that succeed, fail, are slow and are busy.
fn demo() -> StaticHost {
    StaticHost::empty()
        .with("demo:echo", "Gives back its arguments", |args| async {
            Ok(args)
        })
        .with("demo:add", "Adds two numbers", |args| async move {
            Ok(json!(
                args["a"].as_i64().unwrap_or(0) + args["b"].as_i64().unwrap_or(0)
            ))
        })
        .with("demo:nothing", "Gives null", |_| async { Ok(Value::Null) })
        .with("demo:fail", "Always fails", |_| async {
            Err(Failure::new(FailureKind::Tool, "the disk is full"))
        })
        .with("demo:busy", "Asks to come back later", |_| async {
            Err(Failure {
                retryable: true,
                retry_after_ms: Some(1500),
                ..Failure::new(FailureKind::Calls, "too many requests")
            })
        })
        .with("demo:slow", "Takes its time", |args| async move {
            sleep(Duration::from_millis(args["ms"].as_u64().unwrap_or(50))).await;
            Ok(args["n"].clone())
        })
        .with(
            "my-files:read.text",
            "Reads a file and parses JSON",
            |_| async { Ok(json!("text")) },
        )
}

#[tokio::test]
async fn a_panic_while_a_call_is_handled_ends_that_call_and_not_the_broker() {
    fn panics(args: &Value) -> Value {
        panic!("the password is hunter2, in {args}");
    }
    let host = demo()
        .with(
            "demo:panics_later",
            "Panics in its future",
            |args| async move {
                sleep(Duration::from_millis(1)).await;
                Ok(panics(&args))
            },
        )
        .with("demo:panics_at_once", "Panics before its future", |args| {
            panics(&args);
            async { Ok(Value::Null) }
        });
    let pool = pool(Limits::default());
    let host = Arc::new(host);
    for tool in ["panics_later", "panics_at_once"] {
        let caught = format!(
            "const other = tools.demo.slow({{ n: 7, ms: 20 }});\n\
             try {{ await tools.demo.{tool}({{}}) }}\n\
             catch (error) {{ return [error.kind, error.message, await other] }}"
        );
        let outcome = run_in(&pool, host.clone(), &caught).await;
        let result = outcome.result.expect("the script goes on").get().to_owned();
        assert!(result.starts_with("[\"internal\","), "{result}");
        assert!(
            result.ends_with(",7]"),
            "other calls are answered: {result}"
        );
        assert!(!result.contains("hunter2"), "{result}");
        let outcome = run_in(
            &pool,
            host.clone(),
            &format!("await tools.demo.{tool}({{}})"),
        )
        .await;
        let error = outcome.error.expect("the run fails");
        assert!(!error.message.contains("hunter2"), "{error:?}");
        // The next run works.
        let outcome = run_in(
            &pool,
            host.clone(),
            "return await tools.demo.add({ a: 1, b: 2 })",
        )
        .await;
        assert_eq!(
            outcome.result.map(|result| result.get().to_owned()),
            Some("3".to_owned())
        );
    }
}

async fn run_with(limits: Limits, host: StaticHost, script: &str) -> Outcome {
    run_in(&pool(limits), Arc::new(host), script).await
}

async fn run(script: &str) -> Outcome {
    run_with(Limits::default(), demo(), script).await
}

/// Runs a script that must succeed and returns its result.
async fn value(script: &str) -> Value {
    value_of(run(script).await, script)
}

fn value_of(outcome: Outcome, script: &str) -> Value {
    assert!(outcome.ok, "{script}\n{:#?}", outcome.error);
    outcome.result.map_or(Value::Null, |raw| {
        serde_json::from_str(raw.get()).expect("a result is JSON")
    })
}

/// The error that an expression throws, as `name: message`.
async fn thrown(expression: &str) -> String {
    let script = format!(
        "try {{ await {expression}; return 'nothing' }} catch (e) {{ return `${{e.name}}: ${{e.message}}` }}"
    );
    value(&script).await.as_str().expect("a text").to_owned()
}

// Searching.

#[tokio::test]
async fn a_search_gives_tools_with_id_description_and_score() {
    assert_eq!(
        value("searchTools('adds two numbers')").await,
        json!([{
            "id": "demo:add", "server": "demo", "name": "add",
            "description": "Adds two numbers", "score": 1,
        }])
    );
}

#[tokio::test]
async fn a_search_gives_the_best_first() {
    let script = "(await searchTools('gives null')).map((t) => [t.id, t.score])";
    assert_eq!(
        value(script).await,
        json!([["demo:nothing", 1], ["demo:echo", 0.5]])
    );
}

#[tokio::test]
async fn a_search_keeps_to_its_limit_and_threshold() {
    assert_eq!(value("(await searchTools('demo', 3)).length").await, 3);
    assert_eq!(
        value("(await searchTools('gives null', 10, 0.9)).length").await,
        1
    );
    assert_eq!(
        value("(await searchTools('gives null', 10, 0)).length").await,
        2
    );
}

#[tokio::test]
async fn a_search_returns_ten_tools_by_default() {
    let mut host = StaticHost::empty();
    for n in 0..20 {
        host = host.with(&format!("many:t{n}"), "alike", |_| async {
            Ok(Value::Null)
        });
    }
    let outcome = run_with(
        Limits::default(),
        host,
        "(await searchTools('alike')).length",
    )
    .await;
    assert_eq!(value_of(outcome, "searchTools"), 10);
}

#[tokio::test]
async fn a_search_that_finds_nothing_is_an_empty_list() {
    assert_eq!(
        value("searchTools('quantum teleportation')").await,
        json!([])
    );
}

#[tokio::test]
async fn a_query_must_be_words() {
    assert_eq!(
        thrown("searchTools()").await,
        "TypeError: searchTools needs a query in words, as in searchTools(\"read a file\", 5), not undefined"
    );
    assert_eq!(
        thrown("searchTools({ query: 'x' })").await,
        "TypeError: searchTools needs a query in words, as in searchTools(\"read a file\", 5), not an object"
    );
    assert_eq!(
        thrown("searchTools('  ')").await,
        "TypeError: searchTools needs a query; the one given is empty"
    );
    assert_eq!(
        thrown("searchTools('x'.repeat(501))").await,
        "RangeError: searchTools takes a query of at most 500 characters, not 501"
    );
}

#[tokio::test]
async fn a_query_may_have_five_hundred_characters() {
    assert_eq!(value("searchTools('x'.repeat(500))").await, json!([]));
}

#[tokio::test]
async fn the_limit_and_the_threshold_of_a_search_have_bounds() {
    let limit = "RangeError: searchTools takes a limit that is a whole number from 1 to 50";
    for (bad, given) in [
        ("0", "0"),
        ("51", "51"),
        ("1.5", "1.5"),
        ("'5'", "a string"),
        ("{ limit: 2 }", "an object"),
        ("null", "null"),
        ("NaN", "NaN"),
    ] {
        assert_eq!(
            thrown(&format!("searchTools('x', {bad})")).await,
            format!("{limit}, not {given}"),
            "{bad}"
        );
    }
    let threshold = "RangeError: searchTools takes a threshold from 0 to 1";
    for bad in ["-0.1", "1.1", "'0.5'", "NaN"] {
        assert_eq!(
            thrown(&format!("searchTools('x', 5, {bad})")).await,
            threshold,
            "{bad}"
        );
    }
    assert_eq!(value("(await searchTools('demo', 50, 1)).length").await, 6);
}

// Describing.

#[tokio::test]
async fn a_tool_can_be_described() {
    let tool = value("describeTool('demo:add')").await;
    assert_eq!(tool["id"], "demo:add");
    assert_eq!(tool["description"], "Adds two numbers");
}

#[tokio::test]
async fn describing_an_unknown_tool_throws_a_tool_error() {
    let message = thrown("describeTool('demo:nope')").await;
    assert!(
        message.starts_with("ToolError: there is no tool \"demo:nope\""),
        "{message}"
    );
    assert_eq!(
        thrown("describeTool(5)").await,
        "TypeError: describeTool needs a tool id such as \"server:tool\", not a number"
    );
}

// Calling.

#[tokio::test]
async fn a_call_that_works_answers_with_its_result() {
    assert_eq!(
        value("callTool('demo:add', { a: 1, b: 2 })").await,
        json!({ "success": true, "result": 3 })
    );
}

#[tokio::test]
async fn a_call_that_fails_answers_with_its_error_and_does_not_throw() {
    let script = "const r = await callTool('demo:fail');\n\
        [r.success, 'result' in r, r.error instanceof ToolError, r.error.message]";
    assert_eq!(
        value(script).await,
        json!([false, false, true, "the disk is full"])
    );
}

#[tokio::test]
async fn an_unknown_tool_is_a_failure_that_names_the_known_ones() {
    let message = value("(await callTool('demo:ad')).error.message").await;
    let message = message.as_str().expect("a text");
    assert!(
        message.starts_with("there is no tool \"demo:ad\": "),
        "{message}"
    );
    assert!(message.contains("demo:add"), "{message}");
}

#[test]
fn without_a_server_a_call_says_how_to_add_one() {
    assert_eq!(
        result_of("(await callTool('fs:read_file', { path: 'a' })).error.message"),
        "there is no tool `fs:read_file`: no MCP server is configured; add one to .mcp.json in the working folder"
    );
}

#[test]
fn without_a_server_a_search_is_empty() {
    assert_eq!(result_of("searchTools('read a file')"), json!([]));
}

#[tokio::test]
async fn a_tool_can_be_called_by_name_and_gives_the_value_itself() {
    assert_eq!(value("tools.demo.add({ a: 20, b: 22 })").await, 42);
    assert_eq!(value("const { add } = tools.demo; add({ a: 1 })").await, 1);
    assert_eq!(value("tools['my-files']['read.text']()").await, "text");
    assert_eq!(value("tools.demo.nothing()").await, Value::Null);
    assert_eq!(value("tools['demo:add']({ a: 1, b: 2 })").await, 3);
}

#[tokio::test]
async fn a_tool_without_its_server_fails_with_a_hint() {
    let outcome = run_with(Limits::default(), demo(), "tools.add({ a: 1 })").await;
    let error = outcome.error.expect("it fails");
    let message = error.message;
    assert!(
        message.contains("there is no tool \"add\"") && message.contains("demo:add"),
        "{message}"
    );
    let hint = error.hint.expect("a hint");
    assert!(hint.contains("searchTools"), "{hint}");
}

#[tokio::test]
async fn server_and_tool_as_two_arguments_are_refused_with_the_right_form() {
    assert_eq!(
        thrown("callTool('demo', 'add', { a: 1 })").await,
        "TypeError: callTool takes server and tool as one id: callTool(\"demo:add\", args)"
    );
}

#[tokio::test]
async fn a_script_may_throw_a_tool_error_of_its_own() {
    let script = "const e = new ToolError('it failed'); [e.message, e.kind, e.retryable]";
    assert_eq!(value(script).await, json!(["it failed", "tool", false]));
    let script = "new ToolError('demo:add', 'it is late').message";
    assert_eq!(value(script).await, "it is late");
}

#[tokio::test]
async fn a_tool_called_by_name_throws_a_tool_error_with_all_its_fields() {
    let script = "try { await tools.demo.busy() } catch (e) {\n\
        return { name: e.name, is: [e instanceof ToolError, e instanceof Error], message: e.message, kind: e.kind, tool: e.tool, retryable: e.retryable, retryAfterMs: e.retryAfterMs } }";
    assert_eq!(
        value(script).await,
        json!({
            "name": "ToolError", "is": [true, true], "message": "too many requests", "kind": "calls",
            "tool": "demo:busy", "retryable": true, "retryAfterMs": 1500,
        })
    );
}

#[tokio::test]
async fn a_tool_error_without_a_delay_has_no_such_field() {
    let script = "const { error } = await callTool('demo:fail'); ['retryAfterMs' in error, error.retryable, error.kind]";
    assert_eq!(value(script).await, json!([false, false, "tool"]));
}

#[tokio::test]
async fn a_tool_error_as_a_result_is_readable() {
    assert_eq!(
        value("callTool('demo:busy')").await,
        json!({
            "success": false,
            "error": {
                "name": "ToolError", "message": "too many requests", "kind": "calls",
                "tool": "demo:busy", "retryable": true, "retryAfterMs": 1500,
            },
        })
    );
}

#[tokio::test]
async fn the_stack_of_a_tool_error_shows_the_script_and_nothing_inside() {
    let script = "const { error } = await callTool('demo:fail');\nlet thrown: any;\ntry { await tools.demo.fail() } catch (e) { thrown = e }\n[error.stack, thrown.stack]";
    for stack in value(script).await.as_array().expect("two stacks") {
        let stack = stack.as_str().expect("a text");
        assert!(
            stack.starts_with("ToolError: the disk is full\n"),
            "{stack}"
        );
        assert!(stack.contains("test.ts:"), "{stack}");
        assert!(!stack.contains("ext:"), "{stack}");
    }
}

#[tokio::test]
async fn an_uncaught_tool_error_fails_the_run_with_kind_tool() {
    let outcome = run("const n = 1;\nawait tools.demo.fail();").await;
    let error = outcome.error.expect("the run failed");
    assert_eq!(error.kind, ErrorKind::Tool);
    assert_eq!(error.message, "ToolError: the disk is full");
    assert_eq!(error.line, Some(2));
    assert!(error.hint.is_some_and(|hint| hint.contains("callTool")));
}

#[test]
fn the_place_of_a_failed_call_is_known_inside_functions_too() {
    let error = error_of(
        &[],
        "async function load(): Promise<unknown> {\n  return await tools.fs.read({});\n}\nawait load();",
    );
    assert_eq!(error["kind"], "tool");
    assert_eq!(error["line"], 2);
}

#[tokio::test]
async fn a_tool_id_must_be_a_text() {
    assert_eq!(
        thrown("callTool()").await,
        "TypeError: callTool needs a tool id such as \"server:tool\", not undefined"
    );
    assert_eq!(
        thrown("callTool('')").await,
        "TypeError: callTool needs a tool id such as \"server:tool\", not an empty string"
    );
    assert_eq!(
        thrown("callTool({ tool: 'x' })").await,
        "TypeError: callTool takes the id and the arguments apart: callTool(\"server:tool\", args)"
    );
}

#[tokio::test]
async fn arguments_must_be_an_object() {
    for (bad, shown) in [
        ("'text'", "a string"),
        ("5", "a number"),
        ("[1]", "an array"),
        ("() => 1", "a function"),
    ] {
        let message = format!(
            "TypeError: demo:echo takes an object of named arguments, such as {{ path: \"a.txt\" }}, not {shown}"
        );
        assert_eq!(
            thrown(&format!("callTool('demo:echo', {bad})")).await,
            message
        );
        assert_eq!(thrown(&format!("tools.demo.echo({bad})")).await, message);
    }
}

#[tokio::test]
async fn missing_arguments_are_an_empty_object() {
    assert_eq!(value("tools.demo.echo()").await, json!({}));
    assert_eq!(value("tools.demo.echo(undefined)").await, json!({}));
    assert_eq!(value("tools.demo.echo(null)").await, json!({}));
}

#[tokio::test]
async fn arguments_and_answers_arrive_unchanged() {
    let script = "const sent = { text: 'ü😀\\n\"', n: -1.5, big: 1e21, yes: true, no: null, list: [[], {}], '': 0, __proto__x: 1 };\n\
        JSON.stringify(await tools.demo.echo(sent)) === JSON.stringify(sent)";
    assert_eq!(value(script).await, true);
}

#[tokio::test]
async fn arguments_take_the_same_plain_form_as_results() {
    let script = "tools.demo.echo({ m: new Map([['a', 1]]), s: new Set([1]), d: new Date(0), u: undefined, p: Promise.resolve(2), b: 2n })";
    assert_eq!(
        value(script).await,
        json!({ "m": { "a": 1 }, "s": [1], "d": "1970-01-01T00:00:00.000Z", "p": 2, "b": 2 })
    );
}

#[tokio::test]
async fn promises_among_the_arguments_are_awaited_whatever_becomes_of_them() {
    assert_eq!(
        value("tools.demo.echo({ a: (async () => undefined)(), b: [(async () => undefined)()] })")
            .await,
        json!({ "b": [null] })
    );
    let script = "const a = { one: tools.demo.fail(), two: tools.demo.fail() };\n\
        const r = await callTool('demo:echo', a); r.success";
    assert_eq!(value(script).await, false);
    let script = "const bad = () => Promise.reject(new Error('bad'));\n\
        const call = () => ({ tool: 'demo:echo', args: { a: bad() } });\n\
        try { await callToolsBatch([call(), call()]) } catch (e) { return e.message }";
    assert_eq!(value(script).await, "bad");
}

#[tokio::test]
async fn a_promise_that_never_settles_is_explained_by_an_earlier_failure() {
    let script = "const value = await new Promise(async (resolve) => {\n  \
        resolve(await tools.demo.fail());\n});\nreturn value;";
    let outcome = run_with(Limits::default(), demo(), script).await;
    let error = outcome.error.expect("it fails");
    assert_eq!(error.message, "ToolError: the disk is full");
    assert_eq!(error.line, Some(2));
}

#[tokio::test]
async fn a_result_does_not_wait_for_the_loser_of_a_race() {
    let script = "await Promise.race([tools.demo.slow({ ms: 10, n: 'won' }), tools.demo.slow({ ms: 20_000 })])";
    let began = Instant::now();
    let outcome = run_with(Limits::default(), demo(), script).await;
    assert!(began.elapsed() < Duration::from_secs(10));
    let warned = &outcome.logs.last().expect("a warning").text;
    assert!(warned.contains("`demo:slow` had not answered"), "{warned}");
    assert_eq!(value_of(outcome, script), "won");
}

#[tokio::test]
async fn a_run_that_ends_while_it_waits_for_a_tool_names_it() {
    let limits = Limits {
        wall_ms: 500,
        ..Limits::default()
    };
    let outcome = run_with(limits, demo(), "await tools.demo.slow({ ms: 20_000 })").await;
    let error = outcome.error.expect("it is too late");
    assert_eq!(error.kind, ErrorKind::Timeout);
    let hint = error.hint.expect("a hint");
    assert!(hint.contains("waited for `demo:slow`"), "{hint}");
}

#[tokio::test]
async fn a_failed_call_that_is_not_awaited_has_a_position() {
    for (script, line) in [
        ("1;\nreturn tools.demo.fail()", 2),
        (
            "const all = ['a'].map(() => tools.demo.fail());\nreturn Promise.all(all)",
            1,
        ),
        ("tools.demo.fail();\nreturn 1", 1),
    ] {
        let outcome = run_with(Limits::default(), demo(), script).await;
        let error = outcome.error.expect("it fails");
        assert_eq!(error.message, "ToolError: the disk is full");
        assert_eq!(error.line, Some(line), "{script}");
    }
}

#[tokio::test]
async fn arguments_that_are_too_large_are_a_failure_of_the_call() {
    let script =
        "const r = await callTool('demo:echo', { s: 'x'.repeat(17e6) }); [r.success, r.error.kind]";
    assert_eq!(value(script).await, json!([false, "arguments"]));
}

#[tokio::test]
async fn a_call_has_no_options() {
    let message = thrown("callTool('demo:echo', {}, { timeout: 100 })").await;
    assert!(
        message.starts_with("TypeError: callTool takes a tool id and arguments"),
        "{message}"
    );
    assert_eq!(
        value("Promise.all([{ a: 1 }, { a: 2 }].map(tools.demo.add))").await,
        json!([1, 2])
    );
}

#[tokio::test]
async fn large_answers_stay_in_the_sandbox() {
    let host = demo().with("demo:large", "A megabyte", |_| async {
        Ok(json!({ "rows": vec!["x".repeat(100); 10_000] }))
    });
    let script = "const { rows } = await tools.demo.large(); rows.length * rows[0].length";
    let outcome = run_with(Limits::default(), host, script).await;
    assert_eq!(value_of(outcome, script), 1_000_000);
}

#[tokio::test]
async fn tools_is_not_a_promise_and_lists_nothing() {
    assert_eq!(
        value("await tools; await tools.demo; 'passed'").await,
        "passed"
    );
    assert_eq!(
        value("[Object.keys(tools), typeof tools.demo.add]").await,
        json!([[], "function"])
    );
    let outcome = run("console.log(tools);\nconsole.log(tools.demo)").await;
    for (line, name) in outcome.logs.iter().zip(["tools", "tools.demo"]) {
        let hint = "not listed here: searchTools(\"what it should do\") finds them";
        assert_eq!(line.text, format!("{name} {{ {hint} }}"));
    }
    assert_eq!(outcome.logs.len(), 2);
}

#[tokio::test]
async fn the_import_and_the_globals_are_the_same() {
    let script = "import * as api from 'pml';\nObject.keys(api).filter((name) => api[name] !== globalThis[name])";
    assert_eq!(value(script).await, json!([]));
    let script = "import { tools, ToolError } from 'pml';\ntry { await tools.demo.fail() } catch (e) { e instanceof ToolError && e instanceof globalThis.ToolError }\nawait tools.demo.add({ a: 1, b: 1 })";
    assert_eq!(value(script).await, 2);
}

#[tokio::test]
async fn the_globals_can_be_shadowed_without_harm() {
    assert_eq!(
        value("const callTool = () => 'mine'; [callTool(), await tools.demo.add({ a: 1 })]").await,
        json!(["mine", 1])
    );
}

// Calls in the envelope.

#[tokio::test]
async fn calls_are_listed_in_the_order_of_their_start() {
    let outcome = run(
        "await Promise.all([tools.demo.slow({ ms: 60 }), callTool('demo:fail'), tools.demo.add()])",
    )
    .await;
    let calls: Vec<(&str, bool)> = outcome
        .calls
        .iter()
        .map(|call| (call.tool.as_str(), call.ok))
        .collect();
    assert_eq!(
        calls,
        [
            ("demo:slow", true),
            ("demo:fail", false),
            ("demo:add", true)
        ]
    );
    assert!(outcome.calls[0].ms >= 55.0, "{:?}", outcome.calls[0]);
}

#[tokio::test]
async fn searches_are_not_calls() {
    let outcome = run("await searchTools('demo'); await describeTool('demo:add'); 1").await;
    assert!(outcome.calls.is_empty(), "{:?}", outcome.calls);
}

// Concurrency.

/// A host that records the peak number of concurrent calls.
fn counting(peak: &Arc<AtomicUsize>) -> StaticHost {
    let now = Arc::new(AtomicUsize::new(0));
    let peak = peak.clone();
    StaticHost::empty().with("demo:slow", "Takes its time", move |args| {
        let (now, peak) = (now.clone(), peak.clone());
        async move {
            peak.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            sleep(Duration::from_millis(args["ms"].as_u64().unwrap_or(120))).await;
            now.fetch_sub(1, Ordering::SeqCst);
            Ok(args["n"].clone())
        }
    })
}

#[tokio::test]
async fn sixty_four_calls_run_at_once_and_the_rest_wait() {
    let peak = Arc::new(AtomicUsize::new(0));
    let script = "const all = await Promise.all(Array.from({ length: 80 }, (_, n) => tools.demo.slow({ n })));\nall.every((got, n) => got === n)";
    let outcome = run_with(Limits::default(), counting(&peak), script).await;
    assert_eq!(value_of(outcome, script), true);
    assert_eq!(peak.load(Ordering::SeqCst), 64);
}

#[tokio::test]
async fn answers_may_overtake_each_other() {
    let script = "const order: number[] = [];\n\
        await Promise.all([90, 10, 50].map(async (ms) => { order.push(await tools.demo.slow({ ms, n: ms })) }));\norder";
    assert_eq!(value(script).await, json!([10, 50, 90]));
}

#[tokio::test]
async fn calls_at_once_take_as_long_as_the_slowest() {
    let outcome =
        run("await Promise.all(Array.from({ length: 10 }, () => tools.demo.slow({ ms: 200 }))); 1")
            .await;
    assert!(outcome.ok);
    assert!(
        (200.0..1_900.0).contains(&outcome.stats.wall_ms),
        "{}",
        outcome.stats.wall_ms
    );
}

#[tokio::test]
async fn waiting_for_a_turn_does_not_count_as_time_of_the_tool() {
    let limits = Limits {
        concurrent_calls: 1,
        tool_ms: 400,
        ..Limits::default()
    };
    let script = "(await callToolsBatch([1, 2, 3].map((n) => ({ tool: 'demo:slow', args: { n, ms: 200 } })))).map((r) => r.result)";
    let outcome = run_with(limits, demo(), script).await;
    assert_eq!(value_of(outcome, script), json!([1, 2, 3]));
}

#[tokio::test]
async fn a_tool_that_is_too_slow_fails_and_the_run_goes_on() {
    let limits = Limits {
        tool_ms: 100,
        ..Limits::default()
    };
    let script = "const { error } = await callTool('demo:slow', { ms: 20000 }); [error.kind, error.message, error.retryable, await tools.demo.add({ a: 1 })]";
    let outcome = run_with(limits, demo(), script).await;
    assert_eq!(
        value_of(outcome, script),
        json!(["timeout", "demo:slow did not answer within 100 ms", true, 1])
    );
}

// Batches.

#[tokio::test]
async fn a_batch_answers_in_the_order_of_its_calls() {
    let script = "callToolsBatch([{ tool: 'demo:slow', args: { ms: 60, n: 'slow' } }, { tool: 'demo:fail' }, { tool: 'demo:add', args: { a: 1, b: 1 } }])";
    let results = value(script).await;
    assert_eq!(results[0], json!({ "success": true, "result": "slow" }));
    assert_eq!(results[1]["success"], false);
    assert_eq!(results[1]["error"]["message"], "the disk is full");
    assert_eq!(results[2]["result"], 2);
}

#[tokio::test]
async fn an_empty_batch_is_an_empty_list() {
    assert_eq!(value("callToolsBatch([])").await, json!([]));
}

#[tokio::test]
async fn a_batch_keeps_to_its_concurrency() {
    let peak = Arc::new(AtomicUsize::new(0));
    let script = "(await callToolsBatch(Array.from({ length: 12 }, (_, n) => ({ tool: 'demo:slow', args: { n } })), { concurrency: 3 })).length";
    let outcome = run_with(Limits::default(), counting(&peak), script).await;
    assert_eq!(value_of(outcome, script), 12);
    assert_eq!(peak.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn a_batch_can_stop_at_the_first_failure() {
    let script = "const calls = ['demo:add', 'demo:fail', 'demo:add', 'demo:add'].map((tool) => ({ tool }));\n\
        (await callToolsBatch(calls, { concurrency: 1, stopOnError: true })).map((r) => r.success ? 'ok' : r.error.message)";
    let outcome = run(script).await;
    assert_eq!(outcome.calls.len(), 2);
    let skipped = "demo:add was not called: an earlier call of the batch failed";
    assert_eq!(
        value_of(outcome, script),
        json!(["ok", "the disk is full", skipped, skipped])
    );
}

#[tokio::test]
async fn a_batch_is_checked_before_any_of_it_runs() {
    let script = "callToolsBatch([{ tool: 'demo:add' }, { args: {} }])";
    assert_eq!(
        thrown(script).await,
        "TypeError: callToolsBatch, call 1 needs a tool id such as \"server:tool\", not undefined"
    );
    assert!(run(script).await.calls.is_empty());
    assert_eq!(
        thrown("callToolsBatch({ tool: 'demo:add' })").await,
        "TypeError: callToolsBatch needs an array of { tool, args }, or an iterable of them, not an object"
    );
    assert_eq!(
        thrown("callToolsBatch([], { concurrency: 0 })").await,
        "RangeError: callToolsBatch takes a concurrency of 1 or more"
    );
}

#[tokio::test]
async fn a_batch_refuses_what_it_does_not_know() {
    let script = "callToolsBatch([{ tool: 'demo:add', args: {} }, { tool: 'demo:add', arguments: { a: 1 } }])";
    assert_eq!(
        thrown(script).await,
        "TypeError: callToolsBatch, call 1 has an unknown key `arguments`; the arguments are called `args`"
    );
    assert!(run(script).await.calls.is_empty());
    for (script, expected) in [
        (
            "callToolsBatch([{ name: 'demo:add', args: {} }])",
            "callToolsBatch, call 0 has an unknown key `name`; a call has `tool` and `args`",
        ),
        (
            "callToolsBatch([], { concurency: 2 })",
            "callToolsBatch has no option `concurency`; it has `concurrency`, `stopOnError`, `chunk`, `onResult` and `onProgress`",
        ),
        (
            "callToolsBatch([], 2)",
            "callToolsBatch takes options in an object, not a number",
        ),
    ] {
        assert_eq!(thrown(script).await, format!("TypeError: {expected}"));
    }
}

// The end of a run.

#[tokio::test]
async fn a_call_in_flight_is_finished_before_the_run_ends() {
    let outcome =
        run("tools.demo.slow({ ms: 100 }).then(() => console.log('done'));\n'result'").await;
    assert!(outcome.calls[0].ok, "{:?}", outcome.calls);
    assert_eq!(outcome.logs.len(), 1, "{:?}", outcome.logs);
    assert_eq!(value_of(outcome, "unawaited"), "result");
}

#[tokio::test]
async fn a_call_in_flight_is_cancelled_at_the_time_limit() {
    let dropped = Arc::new(AtomicUsize::new(0));
    struct Watch(Arc<AtomicUsize>);
    impl Drop for Watch {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let seen = dropped.clone();
    let host = StaticHost::empty().with("demo:forever", "Never answers", move |_| {
        let watch = Watch(seen.clone());
        async move {
            let _watch = watch;
            sleep(Duration::from_secs(60)).await;
            Ok(Value::Null)
        }
    });
    let limits = Limits {
        wall_ms: 300,
        ..Limits::default()
    };
    let started = Instant::now();
    let outcome = run_with(limits, host, "await tools.demo.forever()").await;
    assert!(started.elapsed() < Duration::from_secs(5));
    assert_eq!(
        outcome.error.map(|error| error.kind),
        Some(ErrorKind::Timeout)
    );
    assert_eq!(dropped.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_failed_call_that_is_not_awaited_fails_the_run() {
    let error = run("tools.demo.fail();\n'result'")
        .await
        .error
        .expect("the run failed");
    assert_eq!(error.kind, ErrorKind::Tool);
}

#[tokio::test]
async fn runs_at_the_same_time_keep_their_tools_and_globals_apart() {
    const SCRIPT: &str =
        "globalThis.left = (globalThis.left ?? 0) + 1;\n[await tools.demo.who(), globalThis.left]";
    let pool = Arc::new(pool(Limits::default()));
    let mut runs = tokio::task::JoinSet::new();
    for n in 0..8 {
        let host =
            StaticHost::empty().with("demo:who", "Who", move |_| async move { Ok(json!(n)) });
        let pool = pool.clone();
        runs.spawn(async move { (n, run_in(&pool, Arc::new(host), SCRIPT).await) });
    }
    for (n, outcome) in runs.join_all().await {
        assert_eq!(value_of(outcome, SCRIPT), json!([n, 1]));
    }
}
