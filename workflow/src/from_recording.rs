//! A plan from a run that worked: calls become tasks, and argument values that occur in earlier results
//! become references to them.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

/// One call of a run, in the order in which they were made.
#[derive(Debug, Clone)]
pub struct RecordedCall {
    /// `server:tool`
    pub tool: String,
    /// Its arguments.
    pub args: Value,
    /// Its result; `None` if it failed.
    pub result: Option<Value>,
    /// Whether the call is anything but `read`: the order of such calls is kept.
    pub has_effect: bool,
}

/// Values of results that are remembered.
const MAX_VALUES: usize = 100_000;
/// Bytes of a path to a value. A result that has an object with long keys has a path for each of its values.
const MAX_PATH_BYTES: usize = 256;

/// The plan that makes the same calls. Failed calls are left out. Calls without effects run as soon as
/// the results they use are there; a call with an effect runs after all that came before it in the run, and
/// whatever followed it waits for it: a read sees what it saw in the run.
pub fn plan_of_calls(calls: &[RecordedCall], result: Option<&Value>) -> Value {
    let mut seen = SeenValues::default();
    let mut tasks = Vec::new();
    let mut last_effect: Option<String> = None;
    // The calls since then.
    let mut reads: Vec<String> = Vec::new();
    for (index, call) in calls.iter().enumerate() {
        let Some(output) = &call.result else { continue };
        let id = format!("t{}", index + 1);
        let args = seen.with_references_inside(&call.args);
        let mut task = Map::new();
        task.insert("id".to_owned(), json!(id));
        task.insert("tool".to_owned(), json!(call.tool));
        task.insert("args".to_owned(), args);
        let before: Vec<String> = match (call.has_effect, reads.is_empty()) {
            // They have waited for the last effect themselves.
            (true, false) => std::mem::take(&mut reads),
            _ => last_effect.iter().cloned().collect(),
        };
        if !before.is_empty() {
            task.insert("depends_on".to_owned(), json!(before));
        }
        tasks.push(Value::Object(task));
        seen.add(&id, output);
        match call.has_effect {
            true => last_effect = Some(id),
            false => reads.push(id),
        }
    }
    let mut plan = Map::new();
    plan.insert("tasks".to_owned(), Value::Array(tasks));
    if let Some(result) = result {
        plan.insert("output".to_owned(), seen.with_references(result));
    }
    Value::Object(plan)
}

/// Where values occurred first.
#[derive(Default)]
struct SeenValues {
    places: HashMap<String, String>,
}

impl SeenValues {
    fn add(&mut self, id: &str, output: &Value) {
        // Breadth first: the shortest path to a value is the one that is kept.
        let mut level = vec![(format!("$OUTPUT[{id}]"), output)];
        while !level.is_empty() {
            let mut next = Vec::new();
            for (path, value) in level {
                if self.places.len() + next.len() >= MAX_VALUES {
                    return;
                }
                if path.len() > MAX_PATH_BYTES {
                    continue;
                }
                if is_telling(value) {
                    self.places
                        .entry(value.to_string())
                        .or_insert_with(|| path.clone());
                }
                match value {
                    Value::Array(items) => next.extend(
                        items
                            .iter()
                            .enumerate()
                            .map(|(index, item)| (format!("{path}[{index}]"), item)),
                    ),
                    Value::Object(fields) => next.extend(
                        fields
                            .iter()
                            .filter(|(key, _)| key.len() <= MAX_PATH_BYTES)
                            .filter(|(key, _)| !key.contains(['"', '\\']))
                            .map(|(key, field)| (join(&path, key), field)),
                    ),
                    _ => {}
                }
            }
            level = next;
        }
    }

    fn with_references(&self, value: &Value) -> Value {
        if is_telling(value)
            && let Some(place) = self.places.get(&value.to_string())
        {
            return Value::String(place.clone());
        }
        self.with_references_inside(value)
    }

    /// References for the parts of a value: the arguments of a call stay an object.
    fn with_references_inside(&self, value: &Value) -> Value {
        match value {
            Value::Array(items) => items
                .iter()
                .map(|item| self.with_references(item))
                .collect(),
            Value::Object(fields) => fields
                .iter()
                .map(|(key, field)| (key.clone(), self.with_references(field)))
                .collect::<Map<_, _>>()
                .into(),
            Value::String(text) => Value::String(escaped(text)),
            other => other.clone(),
        }
    }
}

/// Whether two equal values are hardly a coincidence.
fn is_telling(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) => false,
        Value::Number(number) => number.to_string().len() >= 4,
        Value::String(text) => text.chars().count() >= 3,
        Value::Array(items) => !items.is_empty() && items.iter().any(is_telling),
        Value::Object(fields) => !fields.is_empty() && fields.values().any(is_telling),
    }
}

fn join(path: &str, key: &str) -> String {
    let is_word = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || c == '_');
    match is_word {
        true => format!("{path}.{key}"),
        false => format!("{path}[\"{key}\"]"),
    }
}

/// Text that must not be read as a reference.
fn escaped(text: &str) -> String {
    let mut escaped = text.to_owned();
    for word in ["OUTPUT", "INPUT", "ITEM", "INDEX", "ERROR", "{"] {
        escaped = escaped.replace(&format!("${word}"), &format!("$${word}"));
    }
    for digit in '0'..='9' {
        escaped = escaped.replace(&format!("${digit}"), &format!("$${digit}"));
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Plan, PlanLimits};

    fn call(tool: &str, args: Value, result: Value, has_effect: bool) -> RecordedCall {
        RecordedCall {
            tool: tool.to_owned(),
            args,
            result: Some(result),
            has_effect,
        }
    }

    #[test]
    fn data_flow_becomes_references_and_effects_keep_their_order() {
        let calls = [
            call(
                "fs:list",
                json!({ "path": "/data" }),
                json!({ "files": ["a.json", "b.json"] }),
                false,
            ),
            call(
                "fs:read",
                json!({ "path": "a.json" }),
                json!("text of a"),
                false,
            ),
            call(
                "fs:read",
                json!({ "path": "b.json" }),
                json!("text of b"),
                false,
            ),
            call(
                "gh:issue",
                json!({ "body": "text of a", "n": 1, "cost": "$5 $OUTPUT" }),
                json!({ "id": 90210 }),
                true,
            ),
            call("gh:close", json!({ "id": 90210 }), json!(true), true),
        ];
        let plan = plan_of_calls(&calls, Some(&json!({ "issue": 90210, "ok": true })));
        assert_eq!(plan["tasks"][1]["args"]["path"], "$OUTPUT[t1].files[0]");
        assert_eq!(plan["tasks"][2]["args"]["path"], "$OUTPUT[t1].files[1]");
        let body = json!({ "body": "$OUTPUT[t2]", "n": 1, "cost": "$$5 $$OUTPUT" });
        assert_eq!(plan["tasks"][3]["args"], body);
        assert_eq!(plan["tasks"][4]["args"]["id"], "$OUTPUT[t4].id");
        // No read sees the effects that came after it in the run.
        assert_eq!(plan["tasks"][3]["depends_on"], json!(["t1", "t2", "t3"]));
        assert_eq!(plan["tasks"][4]["depends_on"], json!(["t4"]));
        assert_eq!(
            plan["output"],
            json!({ "issue": "$OUTPUT[t4].id", "ok": true })
        );
        let plan = Plan::from_value(plan, &PlanLimits::default()).unwrap();
        // The two reads have become parallel.
        assert_eq!(plan.graph().level(1), plan.graph().level(2));
    }
}
