//! A race between a tool result and a timer ends the same way in every replay.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Place, stdout, text};

/// Records a run, replays it without a server, and checks that the results are equal.
#[track_caller]
fn same_in_replay(script: &str) -> (Value, Value) {
    let place = Place::new(script);
    let recorded = stdout(&place.live(&["--record", "calls.json", "--json"]));
    let began = Instant::now();
    let replayed = stdout(&place.elsewhere(&["--replay", "calls.json", "--json"]));
    assert!(began.elapsed() < Duration::from_secs(10));
    let read = |text: &str| -> Value { serde_json::from_str(text).unwrap() };
    let (recorded, replayed) = (read(&recorded), read(&replayed));
    assert_eq!(recorded["result"], replayed["result"]);
    assert_eq!(recorded["logs"], replayed["logs"]);
    (replayed["result"].clone(), place.recording())
}

#[test]
fn a_timeout_that_came_before_an_answer_does_so_again() {
    let (result, recording) = same_in_replay(
        "const after = (ms: number) => new Promise((done) => setTimeout(done, ms, 'too late'));\n\
         await tools.demo.slow({ ms: 2 });\n\
         const first = await Promise.race([tools.demo.slow({ ms: 1_000 }), after(100)]);\n\
         const second = await Promise.race([tools.demo.slow({ ms: 1 }), after(20_000)]);\n\
         return [first, second];",
    );
    assert_eq!(result, json!(["too late", { "waited": 1 }]));
    assert_eq!(recording["requests"][1]["afterMs"], 100);
    assert_eq!(recording["requests"][2]["afterMs"], Value::Null);
}

#[test]
fn a_retry_after_a_timeout_finds_its_second_answer() {
    let (result, _) = same_in_replay(
        "const within = async (ms: number, call: Promise<unknown>) => {\n\
           const signal = AbortSignal.timeout(ms);\n\
           const late = new Promise((_, no) => signal.addEventListener('abort', () => no(signal.reason)));\n\
           return await Promise.race([call, late]);\n\
         };\n\
         const log: string[] = [];\n\
         await tools.demo.slow({ ms: 1 });\n\
         for (const ms of [1_000, 5]) {\n\
           try {\n\
             log.push(JSON.stringify(await within(500, tools.demo.slow({ ms }))));\n\
           } catch (error) {\n\
             log.push(error.name);\n\
             await new Promise((done) => setTimeout(done, 50));\n\
           }\n\
         }\n\
         return log;",
    );
    assert_eq!(result, json!(["TimeoutError", "{\"waited\":5}"]));
}

#[test]
fn a_deadline_over_several_calls_and_pauses_falls_where_it_fell() {
    let (result, _) = same_in_replay(
        // The first call starts the server, which takes its time on a busy machine. The deadline falls
        // into the third call of the loop, with time to spare on both sides.
        "await tools.demo.slow({ ms: 1 });\n\
         const deadline = new AbortController();\n\
         const timer = setTimeout(() => deadline.abort(new Error('enough')), 2_000);\n\
         const log: string[] = [];\n\
         try {\n\
           for (;;) {\n\
             deadline.signal.throwIfAborted();\n\
             await tools.demo.slow({ ms: 700 });\n\
             log.push('called');\n\
             await new Promise((done) => setTimeout(done, 20));\n\
           }\n\
         } catch (error) {\n\
           log.push(error.message);\n\
         }\n\
         clearTimeout(timer);\n\
         return log;",
    );
    assert_eq!(result, json!(["called", "called", "called", "enough"]));
}

#[test]
fn a_ticker_ticks_as_often_while_a_call_is_in_flight() {
    let (result, _) = same_in_replay(
        "await tools.demo.slow({ ms: 1 });\n\
         let ticks = 0;\n\
         const ticker = setInterval(() => console.log('tick', ++ticks), 100);\n\
         await tools.demo.slow({ ms: 650 });\n\
         clearInterval(ticker);\n\
         return ticks > 1;",
    );
    assert_eq!(result, json!(true));
}

#[test]
fn timers_and_answers_that_come_at_the_same_time_keep_their_order() {
    let (result, _) = same_in_replay(
        "await tools.demo.slow({ ms: 1 });\n\
         const log: string[] = [];\n\
         const ticker = setInterval(() => log.push('tick'), 2);\n\
         for (let i = 0; i < 90; i++) {\n\
           await tools.demo.slow({ ms: i % 3 });\n\
           log.push('answer');\n\
         }\n\
         clearInterval(ticker);\n\
         return log;",
    );
    let log = result.as_array().expect("a log");
    assert_eq!(log.iter().filter(|line| *line == "answer").count(), 90);
}

#[test]
fn a_late_answer_that_is_awaited_without_timers_still_comes() {
    let (result, _) = same_in_replay(
        "const late = tools.demo.slow({ ms: 400 });\n\
         await new Promise((done) => setTimeout(done, 100));\n\
         return await late;",
    );
    assert_eq!(result, json!({ "waited": 400 }));
}

#[test]
fn a_call_that_the_run_did_not_wait_for_does_not_decide_the_replay() {
    let place = Place::new(
        "await Promise.all([\n\
           tools.demo.slow({ ms: 20_000 }),\n\
           tools.demo.slow({ ms: 50 }).then(() => { throw new Error('the second was first'); }),\n\
         ]);",
    );
    let recorded = place.live(&["--record", "calls.json"]);
    assert!(text(&recorded.stderr).contains("the second was first"));
    assert!(
        place.recording()["requests"][0]
            .as_object()
            .unwrap()
            .contains_key("unanswered")
    );
    let replayed = place.elsewhere(&["--replay", "calls.json"]);
    let printed = text(&replayed.stderr);
    assert!(printed.contains("the second was first"), "{printed}");
    assert!(!printed.contains("recording"), "{printed}");
}
