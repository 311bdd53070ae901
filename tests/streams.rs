//! `streamTool`: progress and results in parts, with real servers.

use serde_json::{Value, json};

use crate::gateway::{Place, demo};
use crate::support::repository;

/// A server with a made-up file of so many bytes.
fn ranges(bytes: u64) -> Place {
    let script = repository().join("tests/streams/ranges.py");
    Place::with_servers(json!({
        "r": { "command": "python3", "args": ["-u", script, bytes.to_string()] },
    }))
}

/// Adds up a file of lines that is read in ranges: a line may be in two of them.
const AGGREGATE: &str = r#"
    let lines = 0, sum = 0, rest = "", largest = 0;
    const ranges = streamTool("r:read", { offset: 0, length: 1_000_000 }, {
      next: ({ args, length }) => length > 0 ? { ...args, offset: args.offset + length } : undefined,
    });
    for await (const part of ranges) {
      if (part.type !== "text") continue;
      largest = Math.max(largest, part.text.length);
      const text = rest + part.text;
      const end = text.lastIndexOf("\n") + 1;
      rest = text.slice(end);
      for (const line of text.slice(0, end).split("\n")) {
        if (line === "") continue;
        sum += JSON.parse(line).n;
        lines++;
      }
    }
    return { lines, sum, rest, largest };
"#;

/// The bytes of a line of the made-up file.
const WIDTH: u64 = 29;

#[test]
fn a_large_file_is_added_up_in_ranges_inside_the_memory_limit() {
    // PML_STREAM_BYTES=1073741824 is the full size.
    let bytes = std::env::var("PML_STREAM_BYTES").ok();
    let bytes: u64 = bytes
        .and_then(|bytes| bytes.parse().ok())
        .unwrap_or(24_000_000);
    let bytes = bytes / WIDTH * WIDTH;
    let place = ranges(bytes);
    let output = place.run(&[
        "run",
        "--json",
        "--memory",
        "128",
        "--max-calls",
        "2000",
        "--timeout",
        "30m",
        "--cpu",
        "30m",
        "-e",
        AGGREGATE,
    ]);
    let outcome: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    let lines = bytes / WIDTH;
    let expected = json!(lines * (lines - 1) / 2);
    assert_eq!(outcome["ok"], true, "{outcome:#}");
    let result = &outcome["result"];
    assert_eq!(
        (&result["lines"], &result["sum"]),
        (&json!(lines), &expected)
    );
    assert_eq!(result["rest"], "");
    assert!(result["largest"].as_u64().unwrap() <= 64 * 1024);
    println!("{bytes} bytes: {:#}", outcome["stats"]);
}

#[test]
fn a_text_arrives_in_parts_that_end_behind_lines_and_a_link_is_read() {
    let place = ranges(10_000_000);
    let script = r#"
        const parts = [];
        for await (const part of streamTool("r:whole", { lines: 20000 })) {
          if (part.type === "text") parts.push([part.text.length, part.text.endsWith("\n")]);
        }
        const seen = [];
        for await (const part of streamTool("r:links")) {
          seen.push(part.type === "text" ? part.text.length : part.uri ?? part.value.text);
        }
        return { parts, seen };
    "#;
    let result = place.result(script);
    let parts = result["parts"].as_array().unwrap();
    assert!(parts.len() >= 9, "{result}");
    let total: u64 = parts.iter().map(|part| part[0].as_u64().unwrap()).sum();
    assert_eq!(total, 20_000 * WIDTH);
    assert!(parts.iter().all(|part| part[1] == true), "{result}");
    assert_eq!(result["seen"][0], "see", "{result}");
    assert_eq!(result["seen"][1], "made:up", "{result}");
    let read: u64 = result["seen"].as_array().unwrap()[2..]
        .iter()
        .map(|length| length.as_u64().unwrap())
        .sum();
    assert_eq!(read, 5_000 * WIDTH);
}

#[test]
fn progress_arrives_while_the_tool_works_and_its_result_after_it() {
    let place = Place::with_servers(json!({ "demo": demo(std::path::Path::new(".")) }));
    let script = r#"
        const seen = [];
        for await (const part of streamTool("demo:slow", { ms: 200, steps: 4 })) {
          seen.push(part.type === "progress" ? `${part.done}/${part.total}` : part.value);
        }
        return seen;
    "#;
    let seen = place.result(script);
    assert_eq!(seen, json!(["1/4", "2/4", "3/4", "4/4", { "waited": 200 }]));
}

#[test]
fn leaving_the_loop_cancels_the_call_and_a_failure_is_thrown() {
    let place = ranges(1_000);
    let script = r#"
        for await (const part of streamTool("r:wait")) {
          if (part.message === "begun") break;
        }
        let failure;
        try {
          for await (const part of streamTool("r:none")) throw new Error("no part");
        } catch (error) {
          failure = [error.name, error.kind];
        }
        const wrong = await (async () => { for await (const _ of streamTool("r:read", {}, { page: 1 })); })()
          .catch((error) => error.message);
        return { failure, wrong };
    "#;
    let result = place.result(script);
    assert_eq!(result["failure"], json!(["ToolError", "unknown"]));
    assert!(
        result["wrong"]
            .as_str()
            .unwrap()
            .contains("no option `page`"),
        "{result}"
    );
    assert!(place.folder().join("ranges-cancelled").exists());
}

#[test]
fn a_stream_counts_as_a_call_and_so_does_each_range() {
    let place = ranges(10_000_000);
    let output = place.run(&["run", "--json", "--max-calls", "3", "-e", AGGREGATE]);
    let outcome: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(outcome["error"]["kind"], "calls", "{outcome:#}");
}
