//! What waits for what: pools, fallbacks, questions to a person, and calls that are cut off.

use std::time::Duration;

use serde_json::{Value, json};

use super::fake::*;
use crate::*;

fn state(report: &WorkflowReport, id: &str) -> TaskState {
    states(report)[id]
}

#[tokio::test(start_paused = true)]
async fn a_fallback_takes_a_slot_of_the_pool_of_its_own_tool() {
    let fake = Fake::new();
    let mut tasks: Vec<Value> = (0..6)
        .map(|n| {
            json!({ "id": format!("t{n}"), "tool": "api:fail", "fallback": { "tool": "db:do", "args": { "ms": 100, "value": n } } })
        })
        .collect();
    tasks.push(json!({ "id": "each", "tool": "api:fail", "for_each": [1, 2, 3], "fallback": { "tool": "db:do", "args": { "ms": 50, "value": "$ITEM $ERROR[each].message" } } }));
    let plan = json!({ "pools": { "db:*": 2 }, "tasks": tasks });
    let report = run_plan(&fake, plan, json!({})).await;
    assert!(report.ok, "{report:?}");
    assert_eq!(fake.peak_of("db:"), 2);
    assert_eq!(report.output["t5"], 5);
    let of_items = json!(["1 each broke", "2 each broke", "3 each broke"]);
    assert_eq!(report.output["each"], of_items);
}

#[tokio::test(start_paused = true)]
async fn an_open_question_holds_neither_a_slot_nor_time_of_its_task() {
    let mut fake = Fake::new();
    fake.thinks = Duration::from_secs(60);
    let plan = json!({ "concurrency": 1, "pools": { "db:*": 1 }, "tasks": [
        { "id": "ask", "tool": "db:do", "approve": "really?", "priority": "high", "args": { "ms": 5 } },
        { "id": "other", "tool": "db:do", "args": { "ms": 10 } },
    ] });
    let report = run_plan(&fake, plan, json!({})).await;
    assert!(report.ok, "{report:?}");
    assert!(fake.calls_of("other")[0].to <= Duration::from_millis(11));
    let ask = &report.tasks[0];
    assert!(ask.ms < 10.0, "{ask:?}");
    assert!(ask.start_ms.unwrap() >= 60_000.0, "{ask:?}");
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_tasks_pass_a_pool_of_three() {
    let fake = Fake::new();
    let tasks: Vec<Value> = (0..10_000)
        .map(|n| json!({ "id": format!("t{n}"), "tool": "db:do", "priority": n % 7, "args": { "ms": 1 } }))
        .collect();
    let plan = json!({ "pools": { "db:*": 3 }, "output": null, "tasks": tasks });
    let started = std::time::Instant::now();
    let report = run_plan(&fake, plan, json!({})).await;
    assert!(report.ok);
    assert_eq!(fake.peak(), 3);
    assert!(report.times.wall_ms >= 3_334.0);
    // Each freed slot looks at one waiting task, not at all of them.
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}

#[tokio::test(start_paused = true)]
async fn cancelled_tasks_leave_their_place_in_a_pool_to_others() {
    let fake = Fake::new();
    let plan = json!({ "pools": { "db:*": 1 }, "tasks": [
        { "id": "a", "tool": "db:do", "race": "r", "priority": 3, "args": { "ms": 10 } },
        { "id": "b", "tool": "db:do", "race": "r", "priority": 2, "args": { "ms": 10 } },
        { "id": "c", "tool": "db:do", "race": "r", "priority": 1, "args": { "ms": 10 } },
        { "id": "d", "tool": "db:do", "args": { "ms": 10 } },
    ] });
    let report = run_plan(&fake, plan, json!({})).await;
    assert!(report.ok, "{report:?}");
    assert_eq!(state(&report, "d"), TaskState::Done);
    assert_eq!(report.count(TaskState::Cancelled), 2);
}

#[tokio::test(start_paused = true)]
async fn a_question_that_is_cut_off_has_had_no_effect_and_a_call_may_have() {
    let mut fake = Fake::new();
    fake.thinks = Duration::from_secs(60);
    let plan = json!({ "on_error": "stop", "tasks": [
        { "id": "asked", "tool": "guarded:do", "approve": true },
        { "id": "sent", "tool": "guarded:do", "args": { "ms": 1_000 } },
        { "id": "bad", "code": "return 1", "depends_on": ["breaks"] },
        { "id": "breaks", "tool": "work:fail", "args": { "ms": 100 } },
    ] });
    let report = run_plan(&fake, plan, json!({})).await;
    assert_eq!(state(&report, "asked"), TaskState::Cancelled);
    assert_eq!(state(&report, "sent"), TaskState::Unknown);
    assert_eq!(state(&report, "bad"), TaskState::Skipped);
    // The report and the events say the same.
    let ended = fake.ended.lock().unwrap().clone();
    assert_eq!(ended.len(), 4, "{ended:?}");
    for (id, reported) in ended {
        assert_eq!(state(&report, &id), reported, "{id}");
    }
    let why = &report.tasks[1].error.as_ref().unwrap().message;
    assert!(why.contains("may have happened"), "{why}");
}

#[tokio::test(start_paused = true)]
async fn a_list_whose_item_fails_is_unknown_if_guarded_items_were_under_way() {
    let plan = |tool: &str| {
        json!({ "tasks": [{ "id": "each", "tool": tool, "for_each": [10, 500],
            "args": { "ms": "$ITEM", "fails": true } }] })
    };
    let guarded = run_plan(&Fake::new(), plan("guarded:do"), json!({})).await;
    assert_eq!(state(&guarded, "each"), TaskState::Unknown, "{guarded:?}");
    let read = run_plan(&Fake::new(), plan("work:do"), json!({})).await;
    assert_eq!(state(&read, "each"), TaskState::Failed, "{read:?}");
}

#[tokio::test(start_paused = true)]
async fn a_fallback_that_is_cut_off_is_unknown_if_it_has_an_effect_itself() {
    let plan = |tool: &str, fallback: &str| {
        json!({ "on_error": "stop", "tasks": [
            { "id": "first", "tool": tool, "args": { "fails": true },
              "fallback": { "tool": fallback, "args": { "ms": 1_000 } } },
            { "id": "breaks", "tool": "work:fail", "args": { "ms": 100 } },
        ] })
    };
    let sent = run_plan(&Fake::new(), plan("work:do", "guarded:do"), json!({})).await;
    assert_eq!(state(&sent, "first"), TaskState::Unknown, "{sent:?}");
    let read = run_plan(&Fake::new(), plan("guarded:do", "work:do"), json!({})).await;
    assert_eq!(state(&read, "first"), TaskState::Cancelled, "{read:?}");
}

#[tokio::test(start_paused = true)]
async fn outputs_wait_for_their_report_and_are_dropped_behind_it() {
    for order in ["completion", "submission"] {
        let fake = Fake::new();
        let plan = json!({ "order": order, "output": "$OUTPUT[last]", "tasks": [
            { "id": "slow", "tool": "work:do", "args": { "ms": 50, "value": 1 } },
            { "id": "fast", "tool": "work:do", "args": { "ms": 5, "value": 2 } },
            { "id": "last", "tool": "work:do", "args": { "value": "$OUTPUT[fast]" } },
        ] });
        let report = run_plan(&fake, plan, json!({})).await;
        assert_eq!(report.output, 2);
        let mut outputs = fake.outputs.lock().unwrap().clone();
        outputs.sort_by(|(a, _), (b, _)| a.cmp(b));
        let values: Vec<Value> = outputs.into_iter().map(|(_, value)| value).collect();
        assert_eq!(values, [json!(2), json!(2), json!(1)], "{order}");
    }
}

#[test]
fn what_a_fallback_or_a_list_cannot_have_is_refused() {
    let fallback = |key: &str, value: Value| {
        let mut inline = json!({ "code": "return 1" });
        inline[key] = value.clone();
        let mut named = json!({ "id": "b", "code": "return 1" });
        named[key] = value;
        let inline = json!({ "tasks": [{ "id": "a", "tool": "x:y", "fallback": inline }] });
        let named = json!({ "tasks": [{ "id": "a", "tool": "x:y", "fallback": "b" }, named] });
        [refused(inline), refused(named)]
    };
    for (key, value) in [
        ("when", json!("1 < 2")),
        ("approve", json!(true)),
        ("for_each", json!([1])),
        ("race", json!("r")),
        ("fallback", json!({ "code": "return 2" })),
    ] {
        for error in fallback(key, value.clone()) {
            assert!(error.contains(&format!("`{key}`")), "{key}: {error}");
        }
    }
    let error = refused(json!({ "tasks": [
        { "id": "a", "tool": "x:y", "for_each": [1], "when": "$ITEM > 1" },
        { "id": "b", "tool": "x:y", "for_each": "$ITEM.list" },
    ] }));
    assert!(
        error.contains("tasks[0].when: `when` decides once"),
        "{error}"
    );
    assert!(
        error.contains("tasks[1].for_each: the list itself"),
        "{error}"
    );
}
