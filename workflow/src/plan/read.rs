//! A plan from a JSON value.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::fields::{Fields, Problems};
use super::read_task::{self, TaskReader};
use super::{Fallback, OnError, Plan, Race, ReportOrder};
use crate::PlanError;
use crate::error::{Problem, shown};
use crate::graph::Graph;
use crate::limits::PlanLimits;
use crate::reference::{Names, Template};

/// The fields of a plan.
pub const PLAN_FIELDS: [&str; 13] = [
    "$schema",
    "name",
    "description",
    "input",
    "tasks",
    "dependencies",
    "output",
    "on_error",
    "deadline",
    "concurrency",
    "pools",
    "order",
    "version",
];

const FORM: &str = "a plan is an object with `tasks`: [{ \"id\": \"a\", \"tool\": \"server:tool\", \"args\": {} }]";

pub fn plan(value: &Value, limits: &PlanLimits) -> Result<Plan, PlanError> {
    let mut problems = Problems::default();
    let empty = Map::new();
    // A bare list of tasks, as LLMCompiler has it.
    let (object, listed) = match value {
        Value::Object(object) => (object, object.get("tasks")),
        Value::Array(_) => (&empty, Some(value)),
        _ => return Err(Problem::new("plan", FORM).into()),
    };
    let fields = Fields {
        object,
        place: "plan".to_owned(),
    };
    fields.only(&PLAN_FIELDS, &mut problems);
    let objects = task_objects(listed)?;
    if objects.len() > limits.tasks {
        let message = format!("{} tasks; the limit is {}", objects.len(), limits.tasks);
        return Err(Problem::new("tasks", message).into());
    }
    let ids: Vec<String> = objects
        .iter()
        .enumerate()
        .map(|(index, (key, object))| read_task::id(index, key.as_deref(), object))
        .collect();
    let mut names = Names::default();
    for (index, id) in ids.iter().enumerate() {
        if let Err(message) = read_task::check_id(id) {
            problems.add(format!("tasks[{index}].id"), message);
        }
        if !names.add(id, index) {
            let message = format!("there is another task {}; ids are unique", shown(id));
            problems.add(format!("tasks[{index}].id"), message);
        }
    }
    let races = races(&objects, &mut names, &mut problems);
    let mut reader = TaskReader {
        names: &names,
        races: &races,
        problems: &mut problems,
    };
    let mut tasks: Vec<super::Task> = objects
        .iter()
        .zip(&ids)
        .enumerate()
        .map(|(index, ((_, object), id))| reader.task(index, id, object))
        .collect();
    if let Some(dependencies) = fields.object("dependencies", &mut problems) {
        read_dependencies(dependencies, &names, &mut tasks, &mut problems);
    }
    let output = fields.get("output").map(|output| {
        Template::new(output, &names, "output", &mut |place, message| {
            problems.add(place, message);
        })
    });
    let mut races: Vec<Race> = races
        .into_iter()
        .map(|name| Race {
            name,
            members: Vec::new(),
        })
        .collect();
    for (index, task) in tasks.iter().enumerate() {
        if let Some(race) = task.race {
            races[race].members.push(index);
        }
    }
    check_fallbacks(&tasks, &mut problems);
    let plan = Plan {
        name: fields.text("name", &mut problems).map(str::to_owned),
        description: fields.text("description", &mut problems).map(str::to_owned),
        input: fields
            .object("input", &mut problems)
            .cloned()
            .unwrap_or_default(),
        output,
        on_error: fields
            .word(
                "on_error",
                &[("continue", OnError::Continue), ("stop", OnError::Stop)],
                &mut problems,
            )
            .unwrap_or_default(),
        deadline: fields.duration("deadline", &mut problems),
        concurrency: fields.count("concurrency", &mut problems),
        pools: pools(&fields, &mut problems),
        order: fields
            .word(
                "order",
                &[
                    ("completion", ReportOrder::Completion),
                    ("submission", ReportOrder::Submission),
                ],
                &mut problems,
            )
            .unwrap_or_default(),
        tasks,
        races,
        graph: Graph::default(),
    };
    problems.into_result()?;
    Ok(plan)
}

type TaskObject<'a> = (Option<String>, &'a Map<String, Value>);

/// The tasks as a list, or by id.
fn task_objects(value: Option<&Value>) -> Result<Vec<TaskObject<'_>>, PlanError> {
    let not_object = |place: String| Problem::new(place, "a task is an object");
    let objects: Vec<TaskObject<'_>> = match value {
        Some(Value::Array(items)) => items
            .iter()
            .enumerate()
            .map(|(index, item)| match item.as_object() {
                Some(object) => Ok((None, object)),
                None => Err(not_object(format!("tasks[{index}]"))),
            })
            .collect::<Result<_, _>>()?,
        Some(Value::Object(tasks)) => tasks
            .iter()
            .map(|(id, item)| match item.as_object() {
                Some(object) => Ok((Some(id.clone()), object)),
                None => Err(not_object(format!("tasks.{id}"))),
            })
            .collect::<Result<_, _>>()?,
        _ => return Err(Problem::new("tasks", FORM).into()),
    };
    match objects.is_empty() {
        true => Err(Problem::new("tasks", "the plan has no tasks").into()),
        false => Ok(objects),
    }
}

/// The names of races, in the order of their first member. They are names that references can use.
fn races(objects: &[TaskObject<'_>], names: &mut Names, problems: &mut Problems) -> Vec<String> {
    let mut races: Vec<String> = Vec::new();
    let mut known: HashMap<&str, ()> = HashMap::new();
    for (index, (_, object)) in objects.iter().enumerate() {
        let Some(name) = object.get("race").and_then(Value::as_str) else {
            continue;
        };
        if known.insert(name, ()).is_some() {
            continue;
        }
        if let Err(message) = read_task::check_id(name) {
            problems.add(format!("tasks[{index}].race"), message);
        }
        if !names.add(name, objects.len() + races.len()) {
            let message = format!("the race {} has the name of a task", shown(name));
            problems.add(format!("tasks[{index}].race"), message);
        }
        races.push(name.to_owned());
    }
    races
}

/// `{ "b": ["a"] }`: `b` runs after `a`.
fn read_dependencies(
    dependencies: &Map<String, Value>,
    names: &Names,
    tasks: &mut [super::Task],
    problems: &mut Problems,
) {
    for (id, before) in dependencies {
        let place = format!("dependencies.{id}");
        let task = match names.get(id).and_then(|node| tasks.get_mut(node)) {
            Some(task) => task,
            None => {
                problems.add(place, names.unknown(id));
                continue;
            }
        };
        for name in read_task::name_list(before, &place, problems) {
            match names.get(&name) {
                Some(node) => task.depends_on.push(node),
                None => problems.add(&place, names.unknown(&name)),
            }
        }
    }
}

fn pools(fields: &Fields<'_>, problems: &mut Problems) -> Vec<(String, usize)> {
    let Some(object) = fields.object("pools", problems) else {
        return Vec::new();
    };
    let pools = Fields {
        object,
        place: "pools".to_owned(),
    };
    object
        .keys()
        .filter_map(|glob| Some((glob.clone(), pools.count(glob, problems)?)))
        .collect()
}

/// A fallback stands in for a task at once: what decides whether and how often a task starts is that of the task.
fn check_fallbacks(tasks: &[super::Task], problems: &mut Problems) {
    for (index, task) in tasks.iter().enumerate() {
        let Some(Fallback::Task(other)) = task.fallback else {
            continue;
        };
        let place = format!("tasks[{index}].fallback");
        let Some(fallback) = tasks.get(other) else {
            problems.add(place, "a race cannot be a fallback; name a task");
            continue;
        };
        if other == index {
            problems.add(place, "a task cannot be its own fallback");
            continue;
        }
        let has = [
            ("fallback", fallback.fallback.is_some()),
            ("race", fallback.race.is_some()),
            ("for_each", fallback.for_each.is_some()),
            ("when", fallback.when.is_some()),
            ("approve", fallback.approve.is_some()),
        ];
        for (key, _) in has.iter().filter(|(_, has)| *has) {
            let message = format!("{} has `{key}`; a fallback has none", shown(&fallback.id));
            problems.add(place.clone(), message);
        }
    }
}
