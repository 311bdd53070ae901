//! What a resumed script sees: the same answers in the same order, the same time and randomness.

use std::time::{Duration, Instant};

use serde_json::json;

use super::ledger::{Ledger, kill};

#[test]
fn a_resumed_script_draws_the_same_random_numbers_and_sees_the_same_time() {
    let ledger = Ledger::new();
    let script = "const drawn = [Math.random(), crypto.randomUUID(), Date.now()];\n\
         await tools.s.record({ text: drawn.join('/') });\n\
         await tools.s.look({ hold: 'before' });\n\
         return drawn.join('/')";
    let run = ledger.start(script);
    ledger.wait_until_held();
    kill(run);
    ledger.let_go();
    let outcome = ledger.resume();
    let drawn = outcome["result"].as_str().expect("a text").to_owned();
    assert_eq!(ledger.effects(), [format!("record {drawn}")]);
}

#[test]
fn a_run_that_is_killed_in_its_first_call_can_be_resumed() {
    let ledger = Ledger::new();
    let run = ledger.start("return (await tools.s.look({ text: 'a', hold: 'before' })).text");
    ledger.wait_until_held();
    kill(run);
    ledger.let_go();
    assert_eq!(ledger.resume()["result"], "a");
}

#[test]
fn the_race_that_was_won_is_won_again() {
    let ledger = Ledger::new();
    let script = "const slow = tools.s.look({ text: 'slow', ms: 400 });\n\
         const fast = tools.s.look({ text: 'fast' });\n\
         const first = await Promise.race([slow, fast]);\n\
         await tools.s.record({ text: first.text });\n\
         await slow;\n\
         await tools.s.look({ hold: 'before' });\n\
         return first.text";
    let run = ledger.start(script);
    ledger.wait_until_held();
    kill(run);
    ledger.let_go();
    assert_eq!(ledger.resume()["result"], "fast");
    assert_eq!(ledger.effects(), ["record fast"]);
}

#[test]
fn timers_and_answers_that_came_at_the_same_time_come_in_the_same_order_again() {
    let ledger = Ledger::new();
    let script = "const log: string[] = [];\n\
         await tools.s.look({ text: 'start' });\n\
         const ticker = setInterval(() => log.push('.'), 3);\n\
         const chain = async (name: string, ms: number) => {\n\
           for (let i = 0; i < 25; i++) {\n\
             await tools.s.look({ text: name, ms });\n\
             log.push(name);\n\
           }\n\
         };\n\
         await Promise.all([chain('a', 1), chain('b', 2), chain('c', 3)]);\n\
         clearInterval(ticker);\n\
         await tools.s.record({ text: log.join('') });\n\
         await tools.s.look({ hold: 'before' });\n\
         return log.join('')";
    let run = ledger.start(script);
    ledger.wait_until_held();
    kill(run);
    ledger.let_go();
    let outcome = ledger.resume();
    let log = outcome["result"].as_str().expect("a text");
    assert_eq!(ledger.effects(), [format!("record {log}")]);
}

#[test]
fn an_effect_that_a_timer_caused_is_asked_for_again_although_an_answer_comes_sooner() {
    let ledger = Ledger::new();
    let script = "const log: string[] = [];\n\
         const slow = tools.s.look({ text: 'slow', hold: 'before' }).then(() => log.push('answer'));\n\
         await new Promise((resolve) => setTimeout(resolve, 200));\n\
         log.push('timer');\n\
         await tools.s.record({ text: log.join(), hold: 'after' });\n\
         await slow;\n\
         return log.join()";
    let run = ledger.start(script);
    ledger.wait_for_effects(1);
    kill(run);
    // Now the answer that the timer did not wait for comes at once.
    ledger.let_go();
    assert_eq!(ledger.resume()["error"]["kind"], "unknown");
    let call = ledger.show()["unknown"][0]["call"].to_string();
    let happened = ["runs", "settle", "r", &call, "--happened", "null"];
    assert!(ledger.run(&happened).status.success());
    assert_eq!(ledger.resume()["result"], "timer,answer");
    assert_eq!(ledger.effects(), ["record timer"]);
}

#[test]
fn timers_behind_the_last_answer_wait_for_the_answers_before_it() {
    let ledger = Ledger::new();
    // Many answers without a timer between them, and a timer that is overdue when the run is resumed.
    let script = "const log: string[] = [];\n\
         setTimeout(() => log.push('timer'), 1500);\n\
         for (let i = 0; i < 60; i++) {\n\
           await tools.s.look({ text: `${i}` });\n\
           log.push(`${i}`);\n\
         }\n\
         await tools.s.record({ text: log.join() });\n\
         await tools.s.look({ hold: 'before' });\n\
         return log.join()";
    let run = ledger.start(script);
    ledger.wait_until_held();
    kill(run);
    std::thread::sleep(Duration::from_millis(1_600));
    ledger.let_go();
    // The timer is overdue: it fires as soon as it may.
    let outcome = ledger.resume();
    assert_eq!(outcome["ok"], true, "{outcome}");
    let effects = ledger.effects();
    assert_eq!(effects.len(), 1, "{effects:?}");
}

#[test]
fn a_script_that_reads_the_clock_before_its_timers_is_not_held_up() {
    let ledger = Ledger::new();
    let script = "await tools.s.look({ text: 'a' });\n\
         Date.now();\n\
         const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));\n\
         await sleep(100);\n\
         const slow = tools.s.look({ text: 'b', ms: 600 });\n\
         Date.now();\n\
         await sleep(100);\n\
         await tools.s.look({ text: 'c' });\n\
         await sleep(100);\n\
         await tools.s.look({ text: 'd', hold: 'before' });\n\
         return (await slow).text";
    let run = ledger.start(script);
    ledger.wait_until_held();
    kill(run);
    ledger.let_go();
    let began = Instant::now();
    assert_eq!(ledger.resume()["result"], "b");
    assert!(
        began.elapsed() < Duration::from_secs(14),
        "{:?}: an answer was given up",
        began.elapsed()
    );
}

#[test]
fn a_timer_that_has_fired_does_not_take_time_again() {
    let ledger = Ledger::new();
    let script = "await new Promise(r => setTimeout(r, 3000));\n\
         await tools.s.record({ text: 'a' });\n\
         await tools.s.look({ hold: 'before' });\n\
         return 'late'";
    let run = ledger.start(script);
    ledger.wait_until_held();
    kill(run);
    ledger.let_go();
    let began = Instant::now();
    assert_eq!(ledger.resume()["result"], "late");
    assert!(
        began.elapsed() < Duration::from_millis(2_900),
        "{:?}",
        began.elapsed()
    );
    assert_eq!(ledger.effects(), ["record a"]);
}

#[test]
fn a_checkpoint_skips_what_was_done_before_it() {
    let ledger = Ledger::new();
    let script = "let from = (await checkpoint('i')) ?? 0;\n\
         const began = from;\n\
         for (let i = from; i < 4; i++) {\n\
           await tools.s.record({ text: `same` });\n\
           await checkpoint('i', i + 1);\n\
           if (i === 2) await tools.s.look({ hold: 'before' });\n\
         }\n\
         return began";
    let run = ledger.start(script);
    ledger.wait_until_held();
    kill(run);
    ledger.let_go();
    assert_eq!(ledger.resume()["result"], 3);
    assert_eq!(ledger.effects(), vec!["record same"; 4]);
}

#[test]
fn a_checkpoint_of_an_ordinary_run_lasts_as_long_as_the_run() {
    let outcome = crate::support::run_json(
        &[],
        "await checkpoint('a', { n: 1 }); return [await checkpoint('a'), (await checkpoint('b')) === undefined]",
    );
    assert_eq!(outcome["result"], json!([{ "n": 1 }, true]), "{outcome}");
}
