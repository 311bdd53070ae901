//! What an attacker tries with a reply: show a part of a value where a text is cut, or show a value in
//! another part than the one in which it is recognised.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pml_protocol::{CallRecord, ErrorKind, Level, Limits, LogLine, Outcome, RunError};
use pml_reply::ReplyScrubber;
use pml_scrub::{PlaceholderMap, ScrubConfig, Scrubber, SharedPlaceholders};
use serde_json::value::RawValue;
use serde_json::{Value, json};

const SECRET: &str = "Tr0ub4dor-and-3xyz9";

fn placeholders() -> SharedPlaceholders {
    let scrubber = Scrubber::new(&ScrubConfig::default()).unwrap();
    SharedPlaceholders::new(PlaceholderMap::new(Arc::new(scrubber)))
}

fn for_model() -> ReplyScrubber {
    ReplyScrubber::for_model(placeholders(), Arc::new(|_: &str| Some("h1".to_owned())))
}

fn raw(value: Value) -> Box<RawValue> {
    RawValue::from_string(value.to_string()).unwrap()
}

fn logged(texts: impl IntoIterator<Item = String>) -> Vec<LogLine> {
    let line = |text| LogLine {
        level: Level::Log,
        text,
    };
    texts.into_iter().map(line).collect()
}

fn reply(scrubber: &ReplyScrubber, outcome: Outcome) -> String {
    scrubber.outcome(outcome, &Limits::default()).to_json()
}

#[test]
fn a_value_that_one_part_hides_is_shown_by_no_other() {
    let password = || Some(raw(json!({ "password": SECRET })));
    let bare = |text: &str| logged([format!("it is {text} here")]);
    let resource = json!({ "type": "resource", "resource": { "uri": "a:b", "text": SECRET } });
    let mut error = RunError::new(ErrorKind::Runtime, format!("password: {SECRET}"));
    error.frame = Some(format!("> 1 | x('{SECRET}')"));
    let ok = || Outcome {
        ok: true,
        ..Outcome::default()
    };
    let outcomes = [
        Outcome {
            result: password(),
            logs: bare(SECRET),
            ..ok()
        },
        Outcome {
            result: Some(raw(json!({ "seen": { SECRET: 1 } }))),
            logs: logged([format!("password: {SECRET}")]),
            ..ok()
        },
        Outcome {
            result: Some(raw(json!([resource, { "x": SECRET }]))),
            logs: logged([format!("password: {SECRET}")]),
            calls: vec![CallRecord {
                tool: format!("demo:{SECRET}"),
                ms: 1.0,
                ok: true,
            }],
            ..ok()
        },
        Outcome {
            ok: false,
            error: Some(error),
            logs: bare(SECRET),
            ..Outcome::default()
        },
        Outcome {
            result: Some(raw(json!([SECRET, "x".repeat(30_000)]))),
            logs: logged([format!("password: {SECRET}")]),
            ..ok()
        },
    ];
    for outcome in outcomes {
        for scrubber in [for_model(), ReplyScrubber::for_person(placeholders())] {
            let reply = scrubber.outcome(outcome.clone(), &Limits::default());
            let blocks = format!("{:?}", reply.blocks());
            let said = reply.to_json() + &blocks;
            assert!(!said.contains("Tr0ub4dor"), "{said}");
        }
    }
    // And in a later reply of the session.
    let scrubber = for_model();
    let first = Outcome {
        result: password(),
        ..ok()
    };
    reply(&scrubber, first);
    let later = Outcome {
        result: Some(raw(json!({ SECRET: [SECRET] }))),
        logs: bare(SECRET),
        ..ok()
    };
    let said = reply(&scrubber, later);
    assert!(!said.contains("Tr0ub4dor"), "{said}");
}

#[test]
fn no_part_of_a_value_is_shown_where_a_log_is_cut() {
    let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let long = format!("https://jo:{}@host.example/x", "s3cr3T".repeat(100));
    for (secret, part) in [
        (token.as_str(), "ghp_"),
        ("jane.roe.and.others@mail.example.org", "jane"),
        ("4111 1111 1111 1111", "4111"),
        ("password: hunter2xyz9hunter2xyz9", "hunter"),
        (long.as_str(), "s3cr3T"),
    ] {
        // Past the cut of a line, at its margin, and around both.
        for before in (740..840).step_by(7).chain((2_780..2_900).step_by(7)) {
            for filler in ["x ", "al@example.com "] {
                let mut text = filler.repeat(before / filler.len() + 1);
                text.truncate(before);
                let line = format!("{text} {secret} {}", "y ".repeat(30_000));
                let outcome = Outcome {
                    ok: true,
                    logs: logged([line]),
                    ..Outcome::default()
                };
                let said = reply(&for_model(), outcome);
                assert!(!said.contains(part), "{before}: {said}");
            }
        }
    }
}

#[test]
fn no_part_of_a_key_is_shown_where_lines_are_left_out() {
    let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
    for before in (0..1_200).step_by(23) {
        let lines = (0..before).map(|n| format!("line {n}"));
        let key = ["-----BEGIN PRIVATE KEY-----".to_owned()]
            .into_iter()
            .chain(std::iter::repeat_n(body.to_owned(), 26))
            .chain(["-----END PRIVATE KEY-----".to_owned()]);
        let after = (0..1_200 - before).map(|n| format!("line {n}"));
        let outcome = Outcome {
            ok: true,
            logs: logged(lines.chain(key).chain(after)),
            ..Outcome::default()
        };
        let said = reply(&for_model(), outcome);
        assert!(!said.contains("MIIEvQ"), "{before}: {said}");
        assert!(said.contains("lines left out"), "{said}");
    }
}

#[test]
fn a_megabyte_of_log_costs_what_is_shown_of_it() {
    let lines = [
        logged(["1 ".repeat(520_000)]),
        logged((0..1_000).map(|_| "1 ".repeat(520))),
        logged((0..100_000).map(|_| "1 1 1 1 1 ".to_owned())),
    ];
    for logs in lines {
        let outcome = Outcome {
            ok: true,
            logs: logs.clone(),
            ..Outcome::default()
        };
        let started = Instant::now();
        reply(&for_model(), outcome);
        let took = started.elapsed();
        let all = Instant::now();
        let texts: Vec<String> = logs.into_iter().map(|line| line.text).collect();
        let map = placeholders();
        map.lock().scrub_lines(&texts, None).unwrap();
        let whole = all.elapsed();
        assert!(
            took < whole / 2 + Duration::from_millis(50),
            "{took:?} of {whole:?}"
        );
    }
}

#[test]
fn half_of_a_tool_id_is_not_shown() {
    let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    // As the broker cuts it.
    let mut tool = format!("{}{token}", "x:".repeat(250));
    tool.truncate(513);
    let outcome = Outcome {
        ok: true,
        calls: vec![CallRecord {
            tool,
            ms: 1.0,
            ok: false,
        }],
        ..Outcome::default()
    };
    let said = reply(&for_model(), outcome);
    assert!(!said.contains("ghp_"), "{said}");
}

#[test]
fn a_beginning_never_ends_within_a_value() {
    let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let scrubber = for_model();
    // Long values become short, so that the end of what is scanned comes into view.
    let shrinks = format!("https://jo:{}@host.example/ ", "s3cr3T".repeat(50));
    for before in 0..120 {
        for filler in [shrinks.repeat(15), "é".repeat(3_000), "x ".repeat(300)] {
            let end = filler.floor_char_boundary(filler.len() - before);
            let text = format!("{} {token} {}", &filler[..end], "y ".repeat(10_000));
            let said = scrubber.beginning(&text, 600);
            assert!(!said.contains("ghp_"), "{before}: {}", *said);
            assert!(!said.contains("s3cr3T"), "{before}: {}", *said);
        }
    }
}
