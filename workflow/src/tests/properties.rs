//! Random graphs against a reference executor: the same outputs, every dependency respected, no task
//! twice.

use std::collections::HashMap;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::fake::*;
use crate::*;

/// A task of a random plan: the earlier tasks it refers to, its time, and whether it fails.
#[derive(Debug, Clone)]
struct Random {
    before: Vec<usize>,
    ms: u64,
    fails: bool,
    optional: bool,
    items: Option<u64>,
    /// Whether its tool is one of the pool.
    is_pooled: bool,
    /// Whether a tool of the pool stands in for it.
    has_fallback: bool,
    priority: i64,
}

/// What proptest draws for one task.
type Drawn = (
    Vec<prop::sample::Index>,
    u64,
    bool,
    bool,
    Option<u64>,
    bool,
    bool,
    i64,
);

fn random(max: usize) -> impl Strategy<Value = Vec<Random>> {
    let task = (
        prop::collection::vec(any::<prop::sample::Index>(), 0..4),
        0_u64..30,
        prop::bool::weighted(0.1),
        any::<bool>(),
        prop::option::weighted(0.2, 0_u64..5),
        prop::bool::weighted(0.3),
        prop::bool::weighted(0.3),
        -2_i64..3,
    );
    prop::collection::vec(task, 1..max).prop_map(|tasks| {
        let task = |(index, drawn): (usize, Drawn)| {
            let (before, ms, fails, optional, items, is_pooled, has_fallback, priority) = drawn;
            let before = before
                .iter()
                .filter(|_| index > 0)
                .map(|at| at.index(index.max(1)));
            Random {
                before: before.collect(),
                ms,
                fails,
                optional,
                items,
                is_pooled,
                has_fallback,
                priority,
            }
        };
        tasks.into_iter().enumerate().map(task).collect()
    })
}

fn plan_of(tasks: &[Random]) -> Value {
    let task = |(index, task): (usize, &Random)| {
        let mut value = Map::new();
        value.insert("n".to_owned(), json!(index));
        for before in &task.before {
            value.insert(
                format!("from{before}"),
                json!(format!("$OUTPUT[t{before}].n?")),
            );
        }
        let mut object = json!({
            "id": format!("t{index}"),
            "tool": if task.is_pooled { "db:do" } else { "work:do" },
            "priority": task.priority,
            "optional": task.optional,
            "args": { "ms": task.ms, "fails": task.fails, "value": value },
        });
        if let Some(items) = task.items {
            object["for_each"] = json!((0..items).collect::<Vec<_>>());
            object["args"]["value"]["item"] = json!("$ITEM");
        }
        if task.has_fallback {
            let value = object["args"]["value"].clone();
            object["fallback"] = json!({ "tool": "db:other", "args": { "ms": 3, "value": value } });
        }
        object
    };
    let tasks: Vec<Value> = tasks.iter().enumerate().map(task).collect();
    json!({ "pools": { "db:*": POOL }, "tasks": tasks })
}

/// Slots of the pool.
const POOL: usize = 2;

/// One task after another, in the order of the list, which is a topological one.
fn reference(tasks: &[Random]) -> Vec<(TaskState, Value)> {
    let mut ended: Vec<(TaskState, Value)> = Vec::new();
    for (index, task) in tasks.iter().enumerate() {
        let is_blocked = task
            .before
            .iter()
            .any(|before| ended[*before].0 != TaskState::Done && !tasks[*before].optional);
        let output = |item: Option<u64>| {
            let mut value = Map::new();
            value.insert("n".to_owned(), json!(index));
            for before in &task.before {
                let n = ended[*before].1.get("n").cloned().unwrap_or_default();
                value.insert(format!("from{before}"), n);
            }
            if let Some(item) = item {
                value.insert("item".to_owned(), json!(item));
            }
            Value::Object(value)
        };
        let end = match (is_blocked, task.items) {
            (true, _) => (TaskState::Skipped, Value::Null),
            (false, Some(0)) => (TaskState::Done, json!([])),
            (false, _) if task.fails && !task.has_fallback => (TaskState::Failed, Value::Null),
            (false, None) => (TaskState::Done, output(None)),
            (false, Some(items)) => {
                let list: Vec<Value> = (0..items).map(|item| output(Some(item))).collect();
                (TaskState::Done, Value::Array(list))
            }
        };
        ended.push(end);
    }
    ended
}

fn check(tasks: &[Random], concurrency: usize) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(async {
        let fake = Fake::new();
        let mut value = plan_of(tasks);
        value["concurrency"] = json!(concurrency);
        let report = run_plan(&fake, value, json!({})).await;
        let expected = reference(tasks);
        let ends: HashMap<String, _> = fake
            .calls
            .lock()
            .unwrap()
            .iter()
            .map(|call| (call.task.clone(), call.to))
            .collect();
        for (index, (state, _)) in expected.iter().enumerate() {
            let report = &report.tasks[index];
            assert_eq!(report.state, *state, "{} {report:?}", report.id);
            let calls = fake.calls_of(&report.id);
            let task = &tasks[index];
            let tries = if task.fails && task.has_fallback {
                2
            } else {
                1
            };
            let times = tries * task.items.unwrap_or(1) as usize;
            match state {
                TaskState::Done => assert_eq!(calls.len(), times, "{}", report.id),
                TaskState::Skipped => assert!(calls.is_empty()),
                _ => assert!(calls.len() <= times),
            }
            for call in &calls {
                for before in &tasks[index].before {
                    // What ran before has ended before.
                    if let Some(end) = ends.get(&format!("t{before}")) {
                        assert!(*end <= call.from, "t{before} before {}", report.id);
                    }
                }
            }
        }
        let last: Vec<usize> = (0..tasks.len())
            .filter(|at| tasks.iter().all(|task| !task.before.contains(at)))
            .collect();
        match last.as_slice() {
            [only] => assert_eq!(report.output, expected[*only].1),
            nodes => {
                for node in nodes {
                    assert_eq!(report.output[format!("t{node}")], expected[*node].1);
                }
            }
        }
        assert!(fake.peak() <= concurrency);
        assert!(fake.peak_of("db:") <= POOL);
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]
    #[test]
    fn a_random_graph_gives_what_the_reference_gives(tasks in random(40), concurrency in 1_usize..20) {
        check(&tasks, concurrency);
    }
}
