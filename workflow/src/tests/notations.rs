//! The notations of other planners, as they are published.

use serde_json::{Value, json};

use super::fake::*;
use crate::*;

/// A plan in one notation and in pml's own are the same plan.
fn same(other: Value, own: Value) {
    let (other, own) = (plan(other), plan(own));
    assert_eq!(format!("{:?}", other.tasks), format!("{:?}", own.tasks));
}

#[test]
fn agentcards_arguments_and_execute_code() {
    let own = json!({ "tasks": [
        { "id": "t1", "tool": "filesystem:list_directory", "args": { "path": "config" } },
        { "id": "t2", "code": "return $OUTPUT[t1].length" },
        { "id": "t3", "tool": "github:create_issue", "args": { "title": "n", "labels": "$OUTPUT[t2][0].labels" }, "depends_on": ["t1"] },
    ] });
    for tool in ["pml:execute_code", "agentcards:execute_code"] {
        same(
            json!({ "tasks": [
                { "id": "t1", "tool": "filesystem:list_directory", "arguments": { "path": "config" } },
                { "id": "t2", "tool": tool, "arguments": { "code": "return $OUTPUT[t1].length" } },
                { "id": "t3", "tool": "github:create_issue", "arguments": { "title": "n", "labels": "$OUTPUT[t2][0].labels" }, "depends_on": ["t1"] },
            ] }),
            own.clone(),
        );
        same(
            json!({
                "tasks": [
                    { "id": "t1", "tool": "filesystem:list_directory", "args": { "path": "config" } },
                    { "id": "t2", "tool": tool, "code": "return $OUTPUT[t1].length" },
                    { "id": "t3", "tool": "github:create_issue", "args": { "title": "n", "labels": "$OUTPUT[t2][0].labels" } },
                ],
                "dependencies": { "t3": ["t1"] },
            }),
            own.clone(),
        );
    }
}

#[test]
fn llmcompiler_numbers() {
    let plan = plan(json!([
        { "idx": 1, "tool": "search:web", "args": { "q": "height of the tower" } },
        { "idx": 2, "tool": "search:web", "args": { "q": "height of the house" } },
        { "idx": 3, "tool": "math:compute", "args": { "expression": "$1 / $2", "a": "$1", "b": "${2}", "price": "$9" }, "dependencies": [1, 2] },
    ]));
    let before: Vec<usize> = plan
        .graph()
        .before(2)
        .iter()
        .map(|edge| edge.node)
        .collect();
    assert_eq!(before, [0, 1]);
}

#[tokio::test(start_paused = true)]
async fn numbers_without_ids_count_from_one() {
    let report = run_plan(
        &Fake::new(),
        json!({ "tasks": [
            { "tool": "a:b", "args": { "value": 6 } },
            { "tool": "a:b", "args": { "value": [1, { "labels": ["x"] }] } },
            { "tool": "a:b", "args": { "value": "$1 and $2[1].labels, not $7" } },
            { "tool": "a:b", "args": { "value": "$2[1].labels" } },
        ] }),
        json!({}),
    )
    .await;
    assert_eq!(report.output["3"], "6 and [\"x\"], not $7");
    assert_eq!(report.output["4"], json!(["x"]));
}

#[test]
fn yaml_and_tasks_by_id() {
    let yaml = "tasks:\n  list: { tool: \"fs:list\", args: { path: \"$INPUT.dir\" } }\n  count:\n    code: |\n      return $OUTPUT[list].length\n";
    let plan = Plan::parse(yaml, &PlanLimits::default()).unwrap();
    assert_eq!(plan.tasks[1].id, "count");
    assert_eq!(plan.graph().layers(), 2);
}

/// One plan with every notation of the article and of LLMCompiler, as it is read.
#[test]
fn every_notation_has_a_golden_file() {
    let plan = plan(json!({
        "name": "every notation",
        "tasks": [
            { "id": "t1", "type": "tool", "tool": "filesystem:read_file", "arguments": { "path": "config/a.json" } },
            { "id": "t2", "type": "code", "tool": "agentcards:execute_code", "arguments": {
                "code": "return JSON.parse($OUTPUT[t1]).issues", "context": { "from": "$OUTPUT[t1]" } } },
            { "id": "t3", "tool": "pml:execute_code", "code": "return $OUTPUT[t2].length", "intent": "count" },
            { "id": "t4", "tool": "github:create_issue", "arguments": {
                "title": "$OUTPUT.t3 issues", "labels": "$OUTPUT[t2][0].labels", "body": "$OUTPUT[\"t2\"]" } },
            { "idx": 5, "tool": "math:compute", "args": { "a": "$OUTPUT[t3]" } },
            { "idx": 6, "tool": "math:compute", "args": { "a": "$5", "b": "twice ${5}", "c": "$$OUTPUT[t1]" }, "dependencies": ["t4"] },
        ],
        "dependencies": { "t4": ["t3"] },
    }));
    let read = format!("{:#?}\n", plan.tasks);
    super::shown::golden("notations.txt", &read);
    let graph = serde_json::to_string_pretty(&show::json(&plan, None)).unwrap();
    super::shown::golden("notations.json", &format!("{graph}\n"));
}
