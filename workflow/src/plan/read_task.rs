//! A task from a JSON object, in the notations of pml, AgentCards and LLMCompiler.

use std::time::Duration;

use serde_json::{Map, Value};

use super::fields::{Fields, Problems};
use super::{Action, Approve, CodeLimits, Fallback, Retry, Task};
use crate::code;
use crate::error::shown;
use crate::reference::{Condition, Names, Root, Template};

/// The fields of a task.
pub const TASK_FIELDS: [&str; 25] = [
    "id",
    "idx",
    "name",
    "description",
    "type",
    "tool",
    "args",
    "arguments",
    "code",
    "context",
    "intent",
    "depends_on",
    "dependencies",
    "when",
    "for_each",
    "concurrency",
    "optional",
    "retry",
    "timeout",
    "fallback",
    "race",
    "priority",
    "approve",
    "limits",
    "stream",
];

/// The tools that are code.
const CODE_TOOLS: [&str; 3] = [
    "pml:execute_code",
    "agentcards:execute_code",
    "execute_code",
];

const MAX_ATTEMPTS: usize = 100;
const MAX_ID_CHARS: usize = 128;

/// The id of a task: what it says, else its key, else its place from 1, as LLMCompiler counts.
pub fn id(index: usize, key: Option<&str>, object: &Map<String, Value>) -> String {
    let of = |name: &str| match object.get(name) {
        Some(Value::String(id)) => Some(id.clone()),
        Some(Value::Number(id)) => Some(id.to_string()),
        _ => None,
    };
    of("id")
        .or_else(|| of("idx"))
        .or_else(|| key.map(str::to_owned))
        .unwrap_or_else(|| (index + 1).to_string())
}

/// An id is short, visible, and has no character that ends a reference.
pub fn check_id(id: &str) -> Result<(), String> {
    let is_bad = |c: char| c.is_control() || matches!(c, '[' | ']' | '"' | '\'' | '`' | '\\' | '$');
    if id.is_empty() || id.chars().count() > MAX_ID_CHARS || id.contains(is_bad) {
        return Err(format!(
            "{} cannot be an id: 1 to {MAX_ID_CHARS} characters, without quotes, brackets, `$` and `\\`",
            shown(id)
        ));
    }
    Ok(())
}

/// `"a"`, `["a", "b"]` or `[1, 2]`
pub fn name_list(value: &Value, place: &str, problems: &mut Problems) -> Vec<String> {
    let name = |value: &Value| match value {
        Value::String(name) => Some(name.clone()),
        Value::Number(name) => Some(name.to_string()),
        _ => None,
    };
    let names = match value {
        Value::Null => return Vec::new(),
        Value::Array(items) => items.iter().map(name).collect::<Option<Vec<_>>>(),
        other => name(other).map(|name| vec![name]),
    };
    names.unwrap_or_else(|| {
        problems.add(place, "expected a list of task ids");
        Vec::new()
    })
}

pub struct TaskReader<'a> {
    pub names: &'a Names,
    pub races: &'a [String],
    pub problems: &'a mut Problems,
}

impl TaskReader<'_> {
    pub fn task(&mut self, index: usize, id: &str, object: &Map<String, Value>) -> Task {
        let fields = Fields {
            object,
            place: format!("tasks[{index}]"),
        };
        let mut task = self.common(id, &fields);
        task.race = fields
            .text("race", self.problems)
            .and_then(|name| self.races.iter().position(|race| race == name));
        task.priority = self.priority(&fields);
        task.approve = self.approve(&fields);
        for key in ["depends_on", "dependencies"] {
            let Some(before) = fields.get(key) else {
                continue;
            };
            let place = fields.at(key);
            for name in name_list(before, &place, self.problems) {
                match self.names.get(&name) {
                    Some(node) => task.depends_on.push(node),
                    None => self.problems.add(&place, self.names.unknown(&name)),
                }
            }
        }
        task.for_each = fields
            .get("for_each")
            .map(|list| self.template(list, &fields.at("for_each")));
        if let Some(Template::Literal(value)) = &task.for_each
            && !value.is_array()
        {
            let message = "expected a list, or a reference to one such as `$OUTPUT[list].files`";
            self.problems.add(fields.at("for_each"), message);
        }
        task.concurrency = fields.count("concurrency", self.problems);
        task.fallback = self.fallback(&fields);
        if task.for_each.is_none() {
            self.check_no_item(&task, &fields);
        }
        self.check_before_items(&task, &fields);
        task
    }

    /// What a task and an inline fallback have.
    fn common(&mut self, id: &str, fields: &Fields<'_>) -> Task {
        fields.only(&TASK_FIELDS, self.problems);
        let when = fields.get("when").and_then(|when| {
            let condition = Condition::new(when, self.names);
            condition
                .map_err(|message| self.problems.add(fields.at("when"), message))
                .ok()
        });
        Task {
            id: id.to_owned(),
            action: self.action(fields),
            when,
            optional: fields.flag("optional", self.problems),
            retry: self.retry(fields),
            timeout: fields.duration("timeout", self.problems),
            stream: fields.flag("stream", self.problems),
            limits: self.limits(fields),
            ..Task::default()
        }
    }

    fn template(&mut self, value: &Value, place: &str) -> Template {
        Template::new(value, self.names, place, &mut |place, message| {
            self.problems.add(place, message);
        })
    }

    fn action(&mut self, fields: &Fields<'_>) -> Action {
        let tool = fields.text("tool", self.problems);
        let args = match (fields.get("args"), fields.get("arguments")) {
            (Some(_), Some(_)) => {
                let message = "`args` and `arguments` are the same; use one of them";
                self.problems.add(&fields.place, message);
                None
            }
            (args, arguments) => args.or(arguments),
        };
        let args_place = match fields.get("args") {
            Some(_) => fields.at("args"),
            None => fields.at("arguments"),
        };
        let is_code_tool = tool.is_some_and(|tool| CODE_TOOLS.contains(&tool));
        let inner_code = args
            .and_then(|args| args.get("code"))
            .filter(|_| is_code_tool);
        let code = fields.get("code").or(inner_code);
        match (tool, code) {
            (None, Some(code)) => self.code(code, args, fields),
            (Some(_), Some(code)) if is_code_tool => self.code(code, args, fields),
            (Some(tool), None) if !is_code_tool => {
                if !tool.contains(':') {
                    let message = format!("{} is no tool id such as `server:tool`", shown(tool));
                    self.problems.add(fields.at("tool"), message);
                }
                let args = match args {
                    Some(Value::Object(_)) | None => args.cloned(),
                    Some(_) => {
                        let message = "expected an object of named arguments";
                        self.problems.add(args_place.clone(), message);
                        None
                    }
                };
                let args = args.unwrap_or_else(|| Value::Object(Map::new()));
                Action::Tool {
                    tool: tool.to_owned(),
                    args: self.template(&args, &args_place),
                }
            }
            (Some(_), Some(_)) => {
                let message =
                    "a task has `tool` or `code`; with both, `tool` is `pml:execute_code`";
                self.problems.add(&fields.place, message);
                Action::default()
            }
            _ => {
                let message = "a task needs `tool` or `code`";
                self.problems.add(&fields.place, message);
                Action::default()
            }
        }
    }

    fn code(&mut self, code: &Value, args: Option<&Value>, fields: &Fields<'_>) -> Action {
        let Some(source) = code.as_str() else {
            self.problems.add(fields.at("code"), "expected a text");
            return Action::default();
        };
        let context = fields
            .get("context")
            .or_else(|| args.and_then(|args| args.get("context")))
            .cloned()
            .unwrap_or(Value::Null);
        let prepared = match code::prepare(source, self.names) {
            Ok(prepared) => prepared,
            Err(message) => {
                self.problems.add(fields.at("code"), message);
                return Action::default();
            }
        };
        Action::Code {
            source: prepared.source,
            references: prepared.references,
            context: self.template(&context, &fields.at("context")),
        }
    }

    fn retry(&mut self, fields: &Fields<'_>) -> Retry {
        let standard = Retry::default();
        let (attempts, backoff) = match fields.get("retry") {
            None => return standard,
            Some(Value::Object(object)) => {
                let inner = Fields {
                    object,
                    place: fields.at("retry"),
                };
                inner.only(&["attempts", "backoff"], self.problems);
                let attempts = inner.count("attempts", self.problems);
                (
                    attempts.unwrap_or(3),
                    inner.duration("backoff", self.problems),
                )
            }
            Some(_) => (fields.count("retry", self.problems).unwrap_or(1), None),
        };
        if attempts > MAX_ATTEMPTS {
            let message = format!("at most {MAX_ATTEMPTS} attempts");
            self.problems.add(fields.at("retry"), message);
        }
        Retry {
            attempts: u32::try_from(attempts).unwrap_or(u32::MAX),
            backoff: backoff
                .unwrap_or(standard.backoff)
                .min(Duration::from_secs(3_600)),
        }
    }

    fn limits(&mut self, fields: &Fields<'_>) -> CodeLimits {
        let Some(object) = fields.object("limits", self.problems) else {
            return CodeLimits::default();
        };
        let inner = Fields {
            object,
            place: fields.at("limits"),
        };
        inner.only(&["timeout", "memory", "calls"], self.problems);
        let timeout = inner.duration("timeout", self.problems);
        CodeLimits {
            timeout_ms: timeout.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
            memory: inner.size("memory", self.problems),
            calls: inner
                .count("calls", self.problems)
                .map(|calls| u32::try_from(calls).unwrap_or(u32::MAX)),
        }
    }

    fn priority(&mut self, fields: &Fields<'_>) -> i64 {
        match fields.get("priority") {
            Some(Value::String(_)) => fields
                .word(
                    "priority",
                    &[("low", -1), ("normal", 0), ("high", 1)],
                    self.problems,
                )
                .unwrap_or_default(),
            _ => fields
                .integer("priority", self.problems)
                .unwrap_or_default(),
        }
    }

    fn approve(&mut self, fields: &Fields<'_>) -> Option<Approve> {
        match fields.get("approve")? {
            Value::Bool(false) => None,
            Value::Bool(true) => Some(Approve::default()),
            Value::String(message) => Some(Approve {
                message: Some(message.clone()),
            }),
            _ => {
                let message = "expected `true`, or what the person is asked";
                self.problems.add(fields.at("approve"), message);
                None
            }
        }
    }

    fn fallback(&mut self, fields: &Fields<'_>) -> Option<Fallback> {
        match fields.get("fallback")? {
            Value::String(name) => match self.names.get(name) {
                Some(node) => Some(Fallback::Task(node)),
                None => {
                    self.problems
                        .add(fields.at("fallback"), self.names.unknown(name));
                    None
                }
            },
            Value::Object(object) => {
                let inner = Fields {
                    object,
                    place: fields.at("fallback"),
                };
                for key in [
                    "fallback",
                    "race",
                    "for_each",
                    "concurrency",
                    "when",
                    "approve",
                    "optional",
                    "depends_on",
                    "dependencies",
                    "priority",
                ] {
                    if inner.get(key).is_some() {
                        let message = format!("an inline fallback has no `{key}`");
                        self.problems.add(inner.at(key), message);
                    }
                }
                let task = self.common("fallback", &inner);
                Some(Fallback::Inline(Box::new(task)))
            }
            _ => {
                let message = "expected the id of a task, or a task";
                self.problems.add(fields.at("fallback"), message);
                None
            }
        }
    }

    /// `when` and `for_each` are looked at once, before there is an item.
    fn check_before_items(&mut self, task: &Task, fields: &Fields<'_>) {
        let is_item = |root: Root| matches!(root, Root::Item | Root::Index);
        let (mut in_when, mut in_list) = (false, false);
        if let Some(when) = task.when.as_ref().filter(|_| task.for_each.is_some()) {
            when.references(&mut |reference| in_when |= is_item(reference.root));
        }
        if let Some(list) = &task.for_each {
            list.references(&mut |reference| in_list |= is_item(reference.root));
        }
        if in_when {
            let message = "`when` decides once for the whole list, so there is no `$ITEM`; filter the list in a task with `code`";
            self.problems.add(fields.at("when"), message);
        }
        if in_list {
            let message = "the list itself has no `$ITEM`";
            self.problems.add(fields.at("for_each"), message);
        }
    }

    fn check_no_item(&mut self, task: &Task, fields: &Fields<'_>) {
        let mut uses_item = false;
        task.references(&mut |reference| {
            uses_item |= matches!(reference.root, Root::Item | Root::Index);
        });
        if uses_item {
            let message = "`$ITEM` and `$INDEX` exist in a task with `for_each`";
            self.problems.add(&fields.place, message);
        }
    }
}
