//! What the scheduler does with each field of a plan.

use std::time::Duration;

use serde_json::{Value, json};

use super::fake::*;
use crate::*;

fn state(report: &WorkflowReport, id: &str) -> TaskState {
    states(report)[id]
}

#[tokio::test(start_paused = true)]
async fn a_task_starts_when_its_own_dependencies_end_not_when_a_layer_does() {
    let fake = Fake::new();
    let report = run_plan(
        &fake,
        json!({ "tasks": [
            { "id": "slow", "tool": "work:do", "args": { "ms": 1_000 } },
            { "id": "fast", "tool": "work:do", "args": { "ms": 10, "value": 7 } },
            { "id": "next", "tool": "work:do", "args": { "ms": 10, "from": "$OUTPUT[fast]" } },
        ] }),
        json!({}),
    )
    .await;
    assert!(report.ok, "{report:?}");
    assert!(fake.calls_of("next")[0].to.as_millis() < 100);
    assert_eq!(fake.calls_of("next")[0].args["from"], 7);
    assert!(report.times.wall_ms < 1_100.0);
    assert_eq!(report.times.critical_path, ["slow"]);
    assert_eq!(report.output["slow"]["ms"], 1_000);
}

#[tokio::test(start_paused = true)]
async fn eight_independent_tasks_are_eight_times_faster() {
    let fake = Fake::new();
    let tasks: Vec<Value> = (0..8)
        .map(|n| json!({ "id": format!("t{n}"), "tool": "work:do", "args": { "ms": 100 } }))
        .collect();
    let report = run_plan(&fake, json!({ "tasks": tasks }), json!({})).await;
    assert!(report.times.speedup > 7.9, "{}", report.times.speedup);
}

#[tokio::test(start_paused = true)]
async fn for_each_keeps_the_order_and_its_concurrency() {
    let fake = Fake::new();
    let report = run_plan(
        &fake,
        json!({ "tasks": [
            { "id": "read", "tool": "work:do", "for_each": "$INPUT.list", "concurrency": 2,
              "args": { "ms": "$ITEM", "value": "$INDEX:$ITEM" } },
            { "id": "none", "tool": "work:do", "for_each": [] },
        ] }),
        json!({ "list": [50, 10, 30, 20] }),
    )
    .await;
    assert_eq!(
        report.output["read"],
        json!(["0:50", "1:10", "2:30", "3:20"])
    );
    assert_eq!(report.output["none"], json!([]));
    assert_eq!(fake.peak(), 2);
    assert_eq!(report.tasks[0].items, Some((4, 4)));
}

#[tokio::test(start_paused = true)]
async fn an_optional_failure_is_null_with_the_failure_beside_it() {
    let fake = Fake::new();
    let report = run_plan(
        &fake,
        json!({ "tasks": [
            { "id": "a", "tool": "work:fail", "optional": true },
            { "id": "items", "tool": "work:do", "optional": true, "for_each": [1, 2], "args": { "until": "$ITEM", "value": "x" } },
            { "id": "b", "tool": "work:do", "args": { "a": "$OUTPUT[a].x.y", "why": "$ERROR[a].message", "items": "$OUTPUT[items]" } },
        ] }),
        json!({}),
    )
    .await;
    assert!(report.ok, "{report:?}");
    assert_eq!(
        report.output,
        json!({ "a": null, "why": "a broke", "items": ["x", "x"] })
    );
    assert_eq!(state(&report, "a"), TaskState::Failed);
}

#[tokio::test(start_paused = true)]
async fn a_failure_skips_what_needs_it_and_nothing_else() {
    let fake = Fake::new();
    let plan = json!({ "tasks": [
        { "id": "bad", "tool": "work:fail" },
        { "id": "after", "tool": "work:do", "args": { "x": "$OUTPUT[bad]" } },
        { "id": "later", "tool": "work:do", "depends_on": ["after"] },
        { "id": "handler", "tool": "work:do", "args": { "why": "$ERROR[bad].message" } },
        { "id": "other", "tool": "work:do", "args": { "ms": 50 } },
    ] });
    let report = run_plan(&fake, plan.clone(), json!({})).await;
    assert_eq!(report.state, RunState::Partial);
    for (id, expected) in [
        ("bad", TaskState::Failed),
        ("after", TaskState::Skipped),
        ("later", TaskState::Skipped),
        ("handler", TaskState::Done),
        ("other", TaskState::Done),
    ] {
        assert_eq!(state(&report, id), expected, "{id}");
    }
    let why = report.tasks[1].error.as_ref().unwrap();
    assert_eq!(why.message, "`bad` failed");

    let mut stopping = plan;
    stopping["on_error"] = json!("stop");
    let report = run_plan(&Fake::new(), stopping, json!({})).await;
    assert_eq!(state(&report, "other"), TaskState::Cancelled);
}

#[tokio::test(start_paused = true)]
async fn retries_follow_the_effect_class() {
    let fake = Fake::new();
    let report = run_plan(
        &fake,
        json!({ "tasks": [
            { "id": "read", "tool": "work:do", "retry": { "attempts": 4, "backoff": "10ms" }, "args": { "until": 3, "value": 1 } },
            { "id": "write", "tool": "guarded:fail", "retry": 4 },
            { "id": "late", "tool": "guarded:do", "timeout": "20ms", "retry": 3, "args": { "ms": 1_000 } },
            { "id": "slow", "tool": "work:do", "timeout": 20, "retry": 2, "args": { "ms": 1_000 } },
        ] }),
        json!({}),
    )
    .await;
    assert_eq!(state(&report, "read"), TaskState::Done);
    assert_eq!(report.tasks[0].attempts, 3);
    assert_eq!(
        (state(&report, "write"), report.tasks[1].attempts),
        (TaskState::Failed, 1)
    );
    // The call was sent: it may have happened, and is not sent again.
    assert_eq!(
        (state(&report, "late"), report.tasks[2].attempts),
        (TaskState::Unknown, 1)
    );
    assert_eq!(
        (state(&report, "slow"), report.tasks[3].attempts),
        (TaskState::Failed, 2)
    );
}

#[tokio::test(start_paused = true)]
async fn a_fallback_runs_only_after_a_failure() {
    let fake = Fake::new();
    let report = run_plan(
        &fake,
        json!({ "tasks": [
            { "id": "a", "tool": "work:fail", "fallback": "b" },
            { "id": "b", "tool": "work:do", "args": { "value": "from b, $ERROR[a].message" } },
            { "id": "c", "tool": "work:do", "fallback": "d", "args": { "value": "c" } },
            { "id": "d", "tool": "work:do" },
            { "id": "e", "tool": "work:fail", "fallback": { "code": "return 5" } },
            { "id": "f", "tool": "work:do", "args": { "a": "$OUTPUT[a]", "c": "$OUTPUT[c]" } },
        ] }),
        json!({}),
    )
    .await;
    assert!(report.ok, "{report:#?}");
    assert_eq!(
        report.output["f"],
        json!({ "a": "from b, a broke", "c": "c" })
    );
    assert_eq!(report.output["e"]["source"], "return 5");
    assert_eq!(state(&report, "b"), TaskState::Done);
    assert_eq!(state(&report, "d"), TaskState::Skipped);
    assert!(fake.calls_of("d").is_empty());
    assert!(report.tasks[0].fallback);
}

#[tokio::test(start_paused = true)]
async fn the_first_success_of_a_race_wins_and_the_rest_is_cancelled() {
    let fake = Fake::new();
    let report = run_plan(
        &fake,
        json!({ "tasks": [
            { "id": "broken", "tool": "work:fail", "race": "fast" },
            { "id": "quick", "tool": "work:do", "race": "fast", "args": { "ms": 10, "value": "q" } },
            { "id": "slow", "tool": "work:do", "race": "fast", "args": { "ms": 1_000 } },
            { "id": "sent", "tool": "guarded:do", "race": "fast", "args": { "ms": 1_000 } },
            { "id": "use", "tool": "work:do", "args": { "value": "$OUTPUT[fast]" } },
        ] }),
        json!({}),
    )
    .await;
    assert!(report.ok, "{report:#?}");
    assert_eq!(report.output, json!("q"));
    assert_eq!(state(&report, "slow"), TaskState::Cancelled);
    assert_eq!(state(&report, "sent"), TaskState::Unknown);
    assert!(report.times.wall_ms < 100.0);

    let lost = json!({ "tasks": [
        { "id": "a", "tool": "work:fail", "race": "r" },
        { "id": "b", "tool": "work:fail", "race": "r" },
        { "id": "c", "tool": "work:do", "args": { "x": "$OUTPUT[r]" } },
    ] });
    let report = run_plan(&Fake::new(), lost, json!({})).await;
    assert!(!report.ok);
    assert_eq!(state(&report, "c"), TaskState::Skipped);
}

#[tokio::test(start_paused = true)]
async fn conditions_approvals_and_priorities_decide_about_the_start() {
    let mut fake = Fake::new();
    fake.approved = false;
    let report = run_plan(
        &fake,
        json!({ "concurrency": 1, "tasks": [
            { "id": "off", "tool": "work:do", "when": "$INPUT.n > 3" },
            { "id": "needs", "tool": "work:do", "args": { "x": "$OUTPUT[off]" } },
            { "id": "maybe", "tool": "work:do", "args": { "x": "$OUTPUT[off]?" } },
            { "id": "low", "tool": "work:do", "priority": "low", "args": { "ms": 1 } },
            { "id": "high", "tool": "work:do", "priority": 5, "args": { "ms": 1 } },
            { "id": "ask", "tool": "work:do", "approve": "really?", "optional": true },
        ] }),
        json!({ "n": 2 }),
    )
    .await;
    assert_eq!(state(&report, "off"), TaskState::Skipped);
    assert_eq!(state(&report, "needs"), TaskState::Skipped);
    assert_eq!(state(&report, "maybe"), TaskState::Done);
    assert_eq!(state(&report, "ask"), TaskState::Failed);
    assert!(fake.calls_of("ask").is_empty());
    assert!(fake.calls_of("high")[0].to <= fake.calls_of("low")[0].from);
}

#[tokio::test(start_paused = true)]
async fn pools_and_deadlines_bound_a_run() {
    let fake = Fake::new();
    let tasks: Vec<Value> = (0..10)
        .map(|n| json!({ "id": format!("t{n}"), "tool": "db:query", "args": { "ms": 100 } }))
        .collect();
    let plan = json!({ "pools": { "db:*": 3 }, "deadline": "250ms", "tasks": tasks });
    let report = run_plan(&fake, plan, json!({})).await;
    assert_eq!(fake.peak(), 3);
    assert_eq!(report.count(TaskState::Done), 6);
    // The rest would take longer than there is time.
    assert_eq!(report.count(TaskState::Skipped), 4);
    let why = &report.tasks[9].error.as_ref().unwrap().message;
    assert!(why.contains("deadline"), "{why}");
    assert!(report.times.wall_ms <= 251.0);
}

#[tokio::test(start_paused = true)]
async fn reports_come_in_the_order_of_completion_or_submission() {
    for (order, expected) in [("completion", ["b", "a"]), ("submission", ["a", "b"])] {
        let fake = Fake::new();
        let plan = json!({ "order": order, "tasks": [
            { "id": "a", "tool": "work:do", "args": { "ms": 50 } },
            { "id": "b", "tool": "work:do", "args": { "ms": 10 } },
        ] });
        run_plan(&fake, plan, json!({})).await;
        let ended = fake.ended.lock().unwrap();
        let ids: Vec<&str> = ended.iter().map(|(id, _)| id.as_str()).collect();
        assert_eq!(ids, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn a_stopped_run_reports_what_it_has() {
    let fake = Fake::new();
    let plan = plan(json!({ "tasks": [
        { "id": "a", "tool": "work:do" },
        { "id": "b", "tool": "work:do", "args": { "ms": 1_000, "x": "$OUTPUT[a]" } },
        { "id": "c", "tool": "work:do", "args": { "x": "$OUTPUT[b]" } },
    ] }));
    let options = RunOptions {
        stop: Box::pin(async {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            "interrupted".to_owned()
        }),
        ..RunOptions::default()
    };
    let report = run(&plan, &fake, options).await;
    assert_eq!(report.state, RunState::Stopped);
    assert_eq!(state(&report, "a"), TaskState::Done);
    assert_eq!(state(&report, "b"), TaskState::Cancelled);
    assert_eq!(state(&report, "c"), TaskState::Skipped);
}

#[tokio::test(start_paused = true)]
async fn code_gets_values_and_its_source_is_not_changed_by_them() {
    let fake = Fake::new();
    let evil = "\"); globalThis.stolen = 1; (\"";
    let report = run_plan(
        &fake,
        json!({ "tasks": [
            { "id": "a", "tool": "work:do", "args": { "value": "$INPUT.evil" } },
            { "id": "b", "code": "return $OUTPUT[a] + $ITEM", "for_each": [1], "context": { "x": "$OUTPUT[a]" } },
        ] }),
        json!({ "evil": evil }),
    )
    .await;
    let code = &report.output[0];
    assert_eq!(code["source"], "return $OUTPUT[\"a\"] + $ITEM");
    assert_eq!(code["globals"]["$OUTPUT"]["a"], evil);
    assert_eq!(code["globals"]["context"]["x"], evil);
    assert_eq!(code["globals"]["$ITEM"], 1);
}

#[tokio::test(start_paused = true)]
async fn low_priority_is_skipped_when_a_quarter_of_the_time_is_left() {
    let fake = Fake::new();
    let report = run_plan(
        &fake,
        json!({ "deadline": "1s", "tasks": [
            { "id": "a", "tool": "work:sleep", "args": { "ms": 800 } },
            { "id": "low", "tool": "x:y", "priority": "low", "depends_on": ["a"], "optional": true },
            { "id": "normal", "tool": "x:y", "depends_on": ["a"] },
        ] }),
        json!({}),
    )
    .await;
    assert_eq!(states(&report)["low"], TaskState::Skipped);
    assert_eq!(states(&report)["normal"], TaskState::Done);
    let why = report.tasks[1].error.as_ref().unwrap();
    assert!(
        why.message.contains("its priority is low"),
        "{}",
        why.message
    );
}

#[tokio::test(start_paused = true)]
async fn a_task_that_never_ended_in_time_before_is_not_started() {
    let plan = plan(
        json!({ "deadline": "1s", "tasks": [{ "id": "a", "tool": "work:sleep", "args": { "ms": 1 } }] }),
    );
    let fake = Fake::new();
    let options = RunOptions {
        known: [("work:sleep".to_owned(), Duration::from_secs(5))].into(),
        ..RunOptions::default()
    };
    let report = run(&plan, &fake, options).await;
    assert_eq!(report.tasks[0].state, TaskState::Skipped);
    assert_eq!(fake.call_count(), 0);
}

#[tokio::test(start_paused = true)]
async fn the_items_of_a_streamed_task_are_reported_as_they_end() {
    let fake = Fake::new();
    let report = run_plan(
        &fake,
        json!({ "tasks": [
            { "id": "a", "tool": "work:sleep", "stream": true, "for_each": [30, 10, 20], "args": { "ms": "$ITEM", "value": "$ITEM" } },
            { "id": "b", "tool": "work:sleep", "for_each": [1], "args": { "ms": "$ITEM" } },
        ] }),
        json!({}),
    )
    .await;
    assert!(report.ok);
    let parts = fake.parts.lock().unwrap().clone();
    assert_eq!(
        parts,
        [
            ("a".to_owned(), 1),
            ("a".to_owned(), 2),
            ("a".to_owned(), 0)
        ]
    );
}
