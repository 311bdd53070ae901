//! The published schema and the reader agree.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::*;

fn keys(schema: &Value) -> BTreeSet<String> {
    let properties = schema["properties"].as_object().unwrap();
    properties.keys().cloned().collect()
}

#[test]
fn the_schema_has_the_fields_that_the_reader_knows() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let task: BTreeSet<String> = crate::plan::TASK_FIELDS
        .iter()
        .map(|key| (*key).to_owned())
        .collect();
    let plan: BTreeSet<String> = crate::plan::PLAN_FIELDS
        .iter()
        .map(|key| (*key).to_owned())
        .collect();
    assert_eq!(keys(&schema["$defs"]["task"]), task);
    assert_eq!(keys(&schema["$defs"]["plan"]), plan);
}

#[test]
fn plans_that_the_reader_takes_fit_the_schema() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let valid = json!({ "name": "n", "deadline": "2s", "pools": { "a:*": 2 }, "order": "submission", "tasks": [
        { "id": "a", "tool": "x:y", "args": { "v": 1 }, "retry": { "attempts": 2, "backoff": 10 }, "priority": "high", "timeout": 5, "race": "r" },
        { "id": "b", "code": "return 1", "limits": { "timeout": "1s", "memory": 64, "calls": 2 }, "fallback": { "code": "return 2" }, "approve": "ok?", "optional": true },
        { "idx": 3, "tool": "x:y", "for_each": "$OUTPUT[b]", "concurrency": 2, "when": "$INPUT.x", "depends_on": ["a"] },
    ] });
    assert!(validator.is_valid(&valid));
    assert!(Plan::from_value(valid, &PlanLimits::default()).is_ok());
    for wrong in [
        json!({ "tasks": [] }),
        json!({ "tasks": [{ "id": "a", "tol": "x:y" }] }),
        json!({ "tasks": [{ "id": "a", "tool": "x:y", "optional": "yes" }] }),
    ] {
        assert!(!validator.is_valid(&wrong), "{wrong}");
        assert!(Plan::from_value(wrong, &PlanLimits::default()).is_err());
    }
}
