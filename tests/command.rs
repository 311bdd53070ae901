//! `pml run` and the other commands, used from a shell.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{error_of, pml, result_of, run_json, run_stdin};

const OK: Option<i32> = Some(0);
const SCRIPT_FAILED: Option<i32> = Some(1);
const USAGE: Option<i32> = Some(2);
const TIME_LIMIT: Option<i32> = Some(124);
const INTERRUPTED: Option<i32> = Some(130);
const MEMORY_LIMIT: Option<i32> = Some(137);

fn run(words: &[&str]) -> Output {
    pml()
        .args(words)
        .stdin(Stdio::null())
        .output()
        .expect("the binary starts")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("standard output is text")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("standard error is text")
}

/// A folder with one file in it, and the path of that file.
fn file(name: &str, content: impl AsRef<[u8]>) -> (TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join(name);
    fs::write(&path, content).expect("a file can be written");
    let path = path.to_str().expect("the path is text").to_owned();
    (folder, path)
}

/// Bad input: exit code 2, nothing on standard output, one sentence that contains `words`.
fn assert_refused(output: &Output, words: &str) {
    let complaint = stderr(output);
    assert_eq!(output.status.code(), USAGE, "{complaint}");
    assert_eq!(stdout(output), "");
    assert!(complaint.starts_with("error: "), "{complaint}");
    assert!(complaint.contains(words), "{complaint}");
    assert_eq!(complaint.trim_end().lines().count(), 1, "{complaint}");
}

// Sources of a script.

#[test]
fn a_file_is_run_and_its_result_printed() {
    let (_folder, path) = file("answer.ts", "const n: number = 6;\nreturn n * 7;");
    let output = run(&["run", &path]);
    assert_eq!(stdout(&output), "42\n");
    assert_eq!(stderr(&output), "");
    assert_eq!(output.status.code(), OK);
}

#[test]
fn a_dash_reads_the_script_from_standard_input() {
    assert_eq!(stdout(&run_stdin(&[], "6 * 7")), "42\n");
}

#[test]
fn a_script_can_come_through_a_pipe_with_a_path() {
    let mut child = pml()
        .args(["run", "/dev/stdin"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut pipe = child.stdin.take().expect("standard input is a pipe");
    std::io::Write::write_all(&mut pipe, b"'piped'").expect("the script is read");
    drop(pipe);
    let output = child.wait_with_output().expect("the binary ends");
    assert_eq!(stdout(&output), "piped\n");
}

#[test]
fn code_on_the_command_line_is_run() {
    assert_eq!(stdout(&run(&["run", "-e", "return 6 * 7"])), "42\n");
    assert_eq!(stdout(&run(&["run", "--eval", "return 6 * 7"])), "42\n");
}

#[test]
fn words_after_two_dashes_arrive_as_args() {
    let output = run(&[
        "run",
        "-e",
        "args.join('|')",
        "--",
        "a",
        "--json",
        "b c",
        "",
        "-e",
    ]);
    assert_eq!(stdout(&output), "a|--json|b c||-e\n");
}

#[test]
fn without_arguments_args_is_empty() {
    assert_eq!(result_of("args"), json!([]));
}

#[test]
fn a_file_that_is_called_like_a_flag_can_be_named_with_a_path() {
    let (folder, _path) = file("-e", "'odd name'");
    let output = pml()
        .current_dir(folder.path())
        .args(["run", "./-e"])
        .output()
        .expect("the binary starts");
    assert_eq!(stdout(&output), "odd name\n");
}

#[test]
fn messages_name_the_script_and_not_where_it_lies() {
    let (_folder, path) = file("audit.ts", "null!.x");
    let complaint = stderr(&run(&["run", &path]));
    assert!(complaint.contains("audit.ts:1:7"), "{complaint}");
    assert!(!complaint.contains("/audit.ts"), "{complaint}");
    let code = stderr(&run(&["run", "-e", "null!.x"]));
    assert!(code.contains("eval.ts:1:7"), "{code}");
    let piped = stderr(&run_stdin(&[], "null!.x"));
    assert!(piped.contains("stdin.ts:1:7"), "{piped}");
}

#[test]
fn a_script_with_an_odd_name_has_lines_and_frames_too() {
    for name in [
        "with space.ts",
        "ünï.ts",
        "100%.ts",
        "a#b?c.ts",
        "a:b.ts",
        "none",
        "x.mts",
    ] {
        let (_folder, path) = file(name, "type A = 1;\nnull!.x");
        let complaint = stderr(&run(&["run", &path]));
        assert!(complaint.contains(&format!(" {name}:2:7\n")), "{complaint}");
    }
}

// Human-readable output.

#[test]
fn a_string_result_is_printed_without_quotes() {
    assert_eq!(
        stdout(&run(&["run", "-e", "'two\\nlines'"])),
        "two\nlines\n"
    );
}

#[test]
fn an_object_result_is_printed_as_indented_json() {
    let output = run(&["run", "-e", "({ b: [1, 'x'], a: null })"]);
    assert_eq!(
        stdout(&output),
        "{\n  \"b\": [\n    1,\n    \"x\"\n  ],\n  \"a\": null\n}\n"
    );
}

#[test]
fn a_script_without_a_result_prints_nothing() {
    for script in ["const a = 1;", "undefined", "return", "() => {}"] {
        let output = run(&["run", "-e", script]);
        assert_eq!(stdout(&output), "", "{script}");
        assert_eq!(output.status.code(), OK, "{script}");
    }
}

#[test]
fn logs_go_to_standard_error_and_the_result_to_standard_output() {
    let output = run(&[
        "run",
        "-e",
        "console.log('note'); console.error('oh'); 'result'",
    ]);
    assert_eq!(stdout(&output), "result\n");
    assert_eq!(stderr(&output), "note\noh\n");
}

#[test]
fn a_log_line_appears_while_the_script_still_runs() {
    let started = Instant::now();
    let mut child = pml()
        .args(["run", "-e"])
        .arg("console.log('early'); await new Promise((done) => setTimeout(done, 4000)); 'late'")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut line = String::new();
    BufReader::new(child.stderr.take().expect("standard error is a pipe"))
        .read_line(&mut line)
        .expect("standard error is text");
    let waited = started.elapsed();
    child.kill().expect("the binary can be ended");
    child.wait().expect("the binary ends");
    assert_eq!(line, "early\n");
    assert!(waited < Duration::from_secs(4), "{waited:?}");
}

#[test]
fn an_error_is_shown_with_its_place_a_frame_and_the_stack() {
    let source = "\
interface Order { total: number }
type Check<T> = (value: T) => void;
const check: Check<Order> = (order: Order): void => {
  if (order.total < 0) throw new RangeError(`a total of ${order.total}`);
};
const wrong = { total: -1 } as Order;
check(wrong);
";
    let (_folder, path) = file("orders.ts", source);
    let output = run(&["run", &path]);
    assert_eq!(output.status.code(), SCRIPT_FAILED);
    assert_eq!(stdout(&output), "");
    assert_eq!(
        stderr(&output),
        "\
error: RangeError: a total of -1 orders.ts:4:30

  2 | type Check<T> = (value: T) => void;
  3 | const check: Check<Order> = (order: Order): void => {
> 4 |   if (order.total < 0) throw new RangeError(`a total of ${order.total}`);
    |                              ^
  5 | };
  6 | const wrong = { total: -1 } as Order;

    at check (orders.ts:4:30)
    at orders.ts:7:1
"
    );
}

#[test]
fn the_cause_of_an_error_is_shown_with_its_own_frames() {
    let complaint = stderr(&run_stdin(
        &[],
        "const low = new RangeError('low');\nthrow new Error('high', { cause: low });",
    ));
    let place = |text: &str| {
        complaint
            .find(text)
            .unwrap_or_else(|| panic!("no {text:?}\n{complaint}"))
    };
    assert!(
        complaint.starts_with("error: Error: high stdin.ts:2:7\n"),
        "{complaint}"
    );
    assert!(
        place("Caused by: RangeError: low") < place("at stdin.ts:1:13"),
        "{complaint}"
    );
}

#[test]
fn the_errors_of_an_aggregate_are_shown() {
    let complaint = stderr(&run(&[
        "run",
        "-e",
        "throw new AggregateError([new Error('one'), new Error('two')], 'both')",
    ]));
    for words in ["AggregateError: both", "Error: one", "Error: two"] {
        assert!(complaint.contains(words), "{complaint}");
    }
}

#[test]
fn an_error_ends_with_a_hint_where_there_is_one() {
    let complaint = stderr(&run(&["run", "-e", "fetch('https://example.com')"]));
    assert!(
        complaint.ends_with(
            "\nhint: There is no network here: find a tool with searchTools and call it.\n"
        ),
        "{complaint}"
    );
}

#[test]
fn colour_is_for_terminals_unless_it_is_asked_for() {
    let run_with = |name: &str, value: &str| {
        let mut command = pml();
        command.env_remove("NO_COLOR").env_remove("FORCE_COLOR");
        let output = command
            .env(name, value)
            .args(["run", "-e", "console.warn('w'); throw new Error('e')"])
            .output()
            .expect("the binary starts");
        stderr(&output)
    };
    assert!(!run_with("UNRELATED", "1").contains('\u{1b}'));
    assert!(!run_with("NO_COLOR", "1").contains('\u{1b}'));
    let coloured = run_with("FORCE_COLOR", "1");
    assert!(coloured.contains("\u{1b}[33mw\u{1b}[0m"), "{coloured:?}");
    assert!(
        coloured.contains("\u{1b}[1;31merror:\u{1b}[0m"),
        "{coloured:?}"
    );
}

#[test]
fn a_closed_pipe_does_not_fail_the_script() {
    let mut child = pml()
        .args(["run", "--max-output", "900000", "-e", "'x'.repeat(800000)"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the binary ends");
    assert_eq!(stderr(&output), "");
    assert_eq!(output.status.code(), OK);
}

// --json.

#[test]
fn json_is_one_line_alone_on_standard_output() {
    let output = run_stdin(
        &["--json"],
        "console.log('a'); console.warn('b'); ({ n: 1 })",
    );
    let text = stdout(&output);
    assert_eq!(text.lines().count(), 1, "{text}");
    assert_eq!(stderr(&output), "");
    let envelope: Value = serde_json::from_str(&text).expect("standard output is JSON");
    assert_eq!(envelope["ok"], true);
    assert_eq!(envelope["result"], json!({ "n": 1 }));
    assert_eq!(
        envelope["logs"],
        json!([{ "level": "log", "text": "a" }, { "level": "warn", "text": "b" }])
    );
    assert_eq!(envelope["calls"], json!([]));
    assert_eq!(envelope["redactions"], json!({}));
    assert!(envelope.get("error").is_none(), "{envelope}");
    assert!(envelope.get("truncated").is_none(), "{envelope}");
}

#[test]
fn json_tells_what_the_run_took() {
    let stats =
        run_json(&[], "let s = 0; for (let i = 0; i < 1e6; i++) s += i; s")["stats"].clone();
    let number = |key: &str| {
        stats[key]
            .as_f64()
            .unwrap_or_else(|| panic!("{key}: {stats}"))
    };
    assert!((0.01..30_000.0).contains(&number("wall_ms")), "{stats}");
    assert!((0.01..5_000.0).contains(&number("cpu_ms")), "{stats}");
    assert!(number("heap_bytes") > 100_000.0, "{stats}");
    assert!(number("peak_rss_bytes") > 1_000_000.0, "{stats}");
}

#[test]
fn json_of_a_failed_run_is_still_alone_on_standard_output() {
    let output = run_stdin(&["--json"], "console.log('a');\nthrow new TypeError('no')");
    assert_eq!(output.status.code(), SCRIPT_FAILED);
    assert_eq!(stderr(&output), "");
    let envelope: Value = serde_json::from_slice(&output.stdout).expect("standard output is JSON");
    assert_eq!(envelope["ok"], false);
    assert_eq!(envelope["result"], Value::Null);
    assert_eq!(envelope["logs"][0]["text"], "a");
    assert_eq!(
        envelope["error"],
        json!({
            "kind": "runtime",
            "message": "TypeError: no",
            "line": 2,
            "column": 7,
            "frame": "  1 | console.log('a');\n> 2 | throw new TypeError('no')\n    |       ^",
            "stack": "TypeError: no\n    at stdin.ts:2:7",
        })
    );
}

#[test]
fn json_of_a_result_that_is_undefined_is_null() {
    let envelope = run_json(&[], "undefined");
    assert_eq!(envelope["ok"], true);
    assert_eq!(envelope.get("result"), Some(&Value::Null));
}

#[test]
fn json_lists_tool_calls_with_their_outcome() {
    let calls = run_json(&[], "await callTool('demo:echo', {}); 1")["calls"].clone();
    assert_eq!(calls[0]["tool"], "demo:echo");
    assert_eq!(calls[0]["ok"], false);
    assert!(calls[0]["ms"].is_number(), "{calls}");
}

// Limits as flags, and exit codes.

#[test]
fn the_time_limit_ends_the_run_with_124() {
    let waiting = "await new Promise((done) => setTimeout(done, 20_000))";
    let started = Instant::now();
    let output = run(&["run", "--timeout", "300ms", "-e", waiting]);
    assert!(started.elapsed() < Duration::from_secs(5));
    assert_eq!(output.status.code(), TIME_LIMIT);
    let complaint = stderr(&output);
    assert!(
        complaint.starts_with("error: the script ran for 300 ms, which is its limit [timeout]\n"),
        "{complaint}"
    );
}

#[test]
fn the_memory_limit_ends_the_run_with_137() {
    let greedy = "const all = []; for (;;) all.push(new Array(10_000).fill({}))";
    let output = run(&["run", "--memory", "16", "-e", greedy]);
    assert_eq!(output.status.code(), MEMORY_LIMIT);
    let complaint = stderr(&output);
    assert!(
        complaint.starts_with("error: the script's heap exceeds 16 MiB [memory]\n"),
        "{complaint}"
    );
}

#[test]
fn the_message_distinguishes_the_buffer_limit_from_the_heap_limit() {
    let greedy = "const all = []; for (let i = 0; i < 8; i++) all.push(new Uint8Array(10 << 20))";
    let output = run(&["run", "--memory", "512", "-e", greedy]);
    assert_eq!(output.status.code(), MEMORY_LIMIT);
    let complaint = stderr(&output);
    assert!(
        complaint.starts_with("error: the script's array buffers exceed 64 MiB [memory]\n"),
        "{complaint}"
    );
}

#[test]
fn null_is_a_result() {
    let output = run(&["run", "-e", "return null"]);
    assert_eq!(stdout(&output), "null\n");
}

#[test]
fn arguments_without_the_dashes_are_refused_with_the_right_form() {
    let output = run(&["run", "-e", "return args", "a", "b"]);
    assert_eq!(output.status.code(), USAGE);
    assert!(
        stderr(&output).contains("go after `--`"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn the_cpu_limit_ends_the_run_with_1_and_its_kind() {
    let output = run_stdin(&["--json", "--cpu", "200ms"], "for (;;) {}");
    assert_eq!(output.status.code(), SCRIPT_FAILED);
    let envelope: Value = serde_json::from_slice(&output.stdout).expect("standard output is JSON");
    assert_eq!(envelope["error"]["kind"], "cpu");
}

#[test]
fn a_larger_limit_can_be_asked_for() {
    let large = "'x'.repeat(30_000)";
    let error = error_of(&[], large);
    assert_eq!(error["kind"], "output");
    assert_eq!(
        error["message"],
        "the result has 30002 characters; the limit is 24000"
    );
    assert_eq!(run_json(&["--max-output", "40000"], large)["ok"], true);
}

#[test]
fn a_result_over_the_limit_says_how_large_it_was() {
    let envelope = run_json(&["--max-output", "10"], "'twelve chars'");
    assert_eq!(envelope["ok"], false);
    assert_eq!(envelope["result"], Value::Null);
    assert_eq!(envelope["truncated"]["bytes"], 14);
}

#[test]
fn the_number_of_tool_calls_is_limited() {
    let three = "for (let i = 0; i < 3; i++) await callTool('demo:echo'); 'done'";
    assert_eq!(error_of(&["--max-calls", "2"], three)["kind"], "calls");
    assert_eq!(run_json(&["--max-calls", "3"], three)["result"], "done");
}

#[test]
fn without_the_compilers_a_script_gives_the_same_result() {
    let script = "/(a+)b/.exec('xaab')![1] + [3, 1, 2].sort().join('')";
    assert_eq!(run_json(&["--no-jit"], script)["result"], "aa123");
}

#[test]
fn amounts_can_be_written_with_units() {
    let flags = [
        "--timeout",
        "1m",
        "--cpu",
        "1500ms",
        "--memory",
        "64m",
        "--max-output",
        "100",
    ];
    assert_eq!(run_json(&flags, "1")["result"], 1);
}

#[test]
fn an_amount_that_makes_no_sense_is_refused_with_advice() {
    for (flag, value, advice) in [
        ("--timeout", "fast", "ms, s, m, h or d"),
        ("--timeout", "0s", "at least 1ms"),
        ("--cpu", "2 parsecs", "ms, s, m, h or d"),
        ("--memory", "1k", "from 8 MiB to 4 GiB"),
        ("--memory", "64 potatoes", "k, m or g"),
        ("--max-calls", "many", "invalid"),
        ("--max-output", "1.5", "invalid"),
    ] {
        let output = run(&["run", flag, value, "-e", "1"]);
        let complaint = stderr(&output);
        assert_eq!(output.status.code(), USAGE, "{complaint}");
        assert!(complaint.contains(flag), "{complaint}");
        assert!(complaint.contains(advice), "{complaint}");
    }
}

#[test]
fn a_syntax_error_exits_with_1() {
    let output = run(&["run", "-e", "let x = ;"]);
    assert_eq!(output.status.code(), SCRIPT_FAILED);
    assert_eq!(
        stderr(&output),
        "error: Expression expected [syntax] eval.ts:1:9\n\n> 1 | let x = ;\n    |         ^\n"
    );
}

// Bad input.

#[test]
fn a_missing_file_is_named() {
    assert_refused(
        &run(&["run", "no-such-script.ts"]),
        "there is no file no-such-script.ts; check the path",
    );
}

#[test]
fn a_folder_is_not_a_script() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().to_str().expect("the path is text");
    assert_refused(&run(&["run", path]), "is a folder; name a script in it");
}

#[test]
fn an_empty_file_is_refused_with_an_example() {
    for content in ["", " \n\t\n", "\u{feff}"] {
        let (_folder, path) = file("empty.ts", content);
        assert_refused(&run(&["run", &path]), "is empty; write a script into it");
    }
}

#[test]
fn empty_code_and_empty_input_are_refused_too() {
    assert_refused(&run(&["run", "-e", ""]), "the code given with -e is empty");
    assert_refused(&run(&["run", "-"]), "standard input is empty");
}

#[test]
fn a_file_that_is_not_utf_8_is_refused_with_the_place() {
    let (_folder, path) = file("latin1.ts", b"'caf\xe9'");
    assert_refused(
        &run(&["run", &path]),
        "is not UTF-8 text: byte 4 cannot be read",
    );
}

#[test]
fn ten_megabytes_of_source_are_refused() {
    let (_folder, path) = file("huge.ts", "1;\n".repeat(3_500_000));
    let started = Instant::now();
    assert_refused(&run(&["run", &path]), "is larger than 1024 KiB");
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[test]
fn endless_standard_input_is_refused_and_not_read_to_its_end() {
    let output = pml()
        .args(["run", "-"])
        .stdin(fs::File::open("/dev/zero").expect("the machine has zeros"))
        .output()
        .expect("the binary starts");
    assert_refused(&output, "standard input is larger than 1024 KiB");
}

#[test]
fn a_file_that_cannot_be_opened_is_refused() {
    // Not even root can open a socket as a file.
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("socket.ts");
    let _socket = UnixListener::bind(&path).expect("a socket can be made");
    let path = path.to_str().expect("the path is text");
    assert_refused(&run(&["run", path]), "cannot be read");
}

#[test]
fn a_file_and_code_together_are_wrong_usage() {
    let (_folder, path) = file("a.ts", "1");
    let output = run(&["run", &path, "-e", "2"]);
    assert_eq!(output.status.code(), USAGE);
    assert!(stderr(&output).contains("cannot be used with"));
}

#[test]
fn a_run_without_a_script_says_every_way_to_give_one() {
    let output = run(&["run"]);
    let complaint = stderr(&output);
    assert_eq!(output.status.code(), USAGE);
    assert!(complaint.contains("FILE"), "{complaint}");
    assert!(complaint.contains("-e"), "{complaint}");
}

#[test]
fn an_unknown_flag_or_command_is_wrong_usage() {
    assert_eq!(run(&["run", "--nonsense"]).status.code(), USAGE);
    assert_eq!(run(&["nonsense"]).status.code(), USAGE);
    assert_eq!(run(&[]).status.code(), USAGE);
}

// --trace.

fn traced(script: &str) -> Value {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("trace.json");
    let output = run(&["run", "--trace", path.to_str().expect("text"), "-e", script]);
    let text = fs::read(&path).unwrap_or_else(|error| panic!("{error}: {}", stderr(&output)));
    serde_json::from_slice(&text).expect("the trace is JSON")
}

fn span<'a>(trace: &'a Value, name: &str) -> &'a Value {
    let events = trace["traceEvents"].as_array().expect("a list of events");
    events
        .iter()
        .find(|event| event["name"] == name)
        .unwrap_or_else(|| panic!("no span {name}: {trace:#}"))
}

#[test]
fn a_trace_shows_start_transpile_run_and_each_call() {
    let trace = traced("await callTool('demo:one'); await callTool('demo:two'); 1");
    for name in ["start", "transpile", "run", "demo:one", "demo:two"] {
        let span = span(&trace, name);
        assert_eq!(span["ph"], "X", "{span}");
        assert!(span["ts"].is_u64() && span["dur"].is_u64(), "{span}");
        assert!(span["pid"].is_u64() && span["tid"].is_u64(), "{span}");
    }
}

#[test]
fn a_trace_puts_spans_in_the_order_in_which_things_began() {
    let trace = traced("await callTool('demo:one'); 1");
    let began = |name| span(&trace, name)["ts"].as_u64().expect("a time");
    let ended = |name| began(name) + span(&trace, name)["dur"].as_u64().expect("a time");
    assert!(ended("start") <= began("transpile"), "{trace:#}");
    assert!(began("transpile") <= began("demo:one"), "{trace:#}");
    assert!(ended("demo:one") <= ended("run"), "{trace:#}");
}

#[test]
fn a_failed_run_leaves_a_trace_too() {
    let trace = traced("throw new Error('no')");
    assert_eq!(span(&trace, "run")["args"]["ok"], false);
}

#[test]
fn a_trace_that_cannot_be_written_is_refused_before_the_run() {
    let output = run(&[
        "run",
        "--trace",
        "/no/such/folder/t.json",
        "-e",
        "console.log('ran')",
    ]);
    assert_refused(
        &output,
        "the trace file /no/such/folder/t.json cannot be written",
    );
}

// Ctrl-C.

/// Sends SIGINT, as Ctrl-C does.
fn interrupt(process: u32) {
    let status = Command::new("sh")
        .args(["-c", &format!("kill -INT {process}")])
        .status()
        .expect("a shell is there");
    assert!(status.success());
}

#[test]
fn ctrl_c_ends_a_run_cleanly_and_at_once() {
    for body in [
        "await new Promise((done) => setTimeout(done, 20_000))",
        "for (;;) {}",
    ] {
        let mut child = pml()
            .args(["run", "--cpu", "20s", "-e"])
            .arg(format!("console.log('running'); {body}"))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let mut errors = BufReader::new(child.stderr.take().expect("standard error is a pipe"));
        let mut line = String::new();
        errors.read_line(&mut line).expect("standard error is text");
        assert_eq!(line, "running\n");
        let workers = children_of(child.id());

        let interrupted = Instant::now();
        interrupt(child.id());
        let status = child.wait().expect("the binary ends");
        assert!(interrupted.elapsed() < Duration::from_secs(2), "{body}");
        assert_eq!(status.code(), INTERRUPTED, "{body}");
        let mut rest = String::new();
        errors
            .read_to_string(&mut rest)
            .expect("standard error is text");
        assert_eq!(rest, "error: interrupted\n", "{body}");
        assert!(!workers.is_empty());
        assert_gone(&workers);
    }
}

#[test]
fn an_interrupted_run_still_answers_in_json() {
    let child = pml()
        .args(["run", "--json", "-e"])
        .arg("console.log('running'); await new Promise((done) => setTimeout(done, 20_000))")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    std::thread::sleep(Duration::from_millis(1_500));
    interrupt(child.id());
    let output = child.wait_with_output().expect("the binary ends");
    assert_eq!(output.status.code(), INTERRUPTED);
    let outcome: Value = serde_json::from_slice(&output.stdout).expect("JSON and nothing else");
    assert_eq!(outcome["ok"], false);
    assert_eq!(outcome["error"]["message"], "interrupted");
    assert_eq!(outcome["logs"][0]["text"], "running");
}

fn children_of(process: u32) -> Vec<String> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).expect("the process is there");
    tasks
        .filter_map(|task| fs::read_to_string(task.ok()?.path().join("children")).ok())
        .flat_map(|list| {
            list.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        })
        .collect()
}

fn assert_gone(processes: &[String]) {
    let given = Instant::now();
    while processes.iter().any(|process| is_running(process)) {
        assert!(given.elapsed() < Duration::from_secs(3), "a worker is left");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A zombie does not count as running.
fn is_running(process: &str) -> bool {
    fs::read_to_string(Path::new("/proc").join(process).join("stat"))
        .is_ok_and(|stat| !stat.contains(") Z "))
}

// Help, version and completions.

#[test]
fn help_of_the_program_has_examples() {
    let output = run(&["--help"]);
    let help = stdout(&output);
    assert_eq!(output.status.code(), OK);
    for words in ["run", "completions", "Examples:", "pml run script.ts"] {
        assert!(help.contains(words), "{words}\n{help}");
    }
}

#[test]
fn help_of_the_program_groups_the_commands() {
    let help = stdout(&run(&["--help"]));
    let place = |text: &str| help.find(text).unwrap_or_else(|| panic!("{text}\n{help}"));
    let order = [
        "\nScripts:\n",
        "\n  run ",
        "\nServers and tools:\n",
        "\n  search ",
        "\nOperations:\n",
        "\n  serve ",
        "\nOptions:\n",
    ];
    assert!(order.map(place).is_sorted(), "{help}");
    assert_eq!(stdout(&run(&["help"])), help);
}

#[test]
fn a_mistyped_command_gets_the_nearest_one() {
    let output = run(&["rnu", "script.ts"]);
    assert_eq!(output.status.code(), USAGE);
    assert!(stderr(&output).contains("'run'"), "{}", stderr(&output));
}

#[test]
fn help_of_run_names_every_flag_exit_codes_and_examples() {
    let help = stdout(&run(&["run", "--help"]));
    for words in [
        "--eval",
        "--json",
        "--timeout",
        "--cpu",
        "--memory",
        "--max-calls",
        "--max-output",
        "--no-jit",
        "--trace",
        "[default: 30s]",
        "Exit codes:",
        "124",
        "137",
        "Examples:",
        "pml run -e",
        "| pml run -",
    ] {
        assert!(help.contains(words), "{words}\n{help}");
    }
}

#[test]
fn no_help_mentions_how_workers_are_started() {
    for words in [["--help"].as_slice(), &["run", "--help"]] {
        let help = stdout(&run(words)).to_lowercase();
        assert!(!help.contains("probe"), "{help}");
    }
}

#[test]
fn the_version_is_printed() {
    let version = stdout(&run(&["--version"]));
    assert_eq!(version, concat!("pml ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn every_shell_gets_completions_that_know_the_flags() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = stdout(&run(&["completions", shell]));
        assert!(script.contains("max-output"), "{shell}");
    }
}

#[test]
fn completions_for_bash_are_a_script_that_bash_accepts() {
    let script = stdout(&run(&["completions", "bash"]));
    let (_folder, path) = file("pml.bash", script);
    let status = Command::new("bash")
        .args(["-n", &path])
        .status()
        .expect("bash is there");
    assert!(status.success());
}

#[test]
fn completions_for_an_unknown_shell_name_the_known_ones() {
    let output = run(&["completions", "tcsh"]);
    assert_eq!(output.status.code(), USAGE);
    assert!(stderr(&output).contains("bash, elvish, fish, powershell, zsh"));
}
