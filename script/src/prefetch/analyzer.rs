//! The state of the evaluation, and its entry.

use std::collections::BTreeSet;

use pml_protocol::{PrefetchPlan, PrefetchStep, PrefetchValue};
use serde_json::Value as Json;
use swc_core::ecma::ast::Module;

use super::scope::Scope;
use super::value::Value;

/// The evaluation has reached something whose effect is not known.
pub(super) struct Stop;

pub(super) type Eval<T> = Result<T, Stop>;

/// Expressions and statements that are evaluated at most.
const FUEL: u32 = 20_000;
/// Expressions and functions inside each other.
const MAX_DEPTH: u32 = 100;
/// Nodes of one value that is not constant.
const MAX_NODES: usize = 256;

/// The evaluation of a script.
pub(super) struct Analyzer {
    /// The steps so far; one list more for each `each` step that is being made.
    frames: Vec<Vec<PrefetchStep>>,
    next_id: u32,
    /// Calls that are under way: nothing waits for them yet.
    open: BTreeSet<u32>,
    fuel: u32,
    depth: u32,
    /// Inside the function behind a promise that is not awaited at once: what it does besides its
    /// calls happens at a time that depends on their answers.
    pub concurrent: u32,
    /// Inside code that may not run.
    pub uncertain: u32,
    /// Inside code that runs once for each item of a list that is not known.
    pub looping: u32,
    /// Calls of functions of the script that are being evaluated, except those whose return ends it.
    pub inner_calls: u32,
    pub args: Json,
}

/// The calls that a script will make, as far as they are certain.
pub(crate) fn prefetch_plan(module: &Module, args: &[String]) -> PrefetchPlan {
    let mut analyzer = Analyzer {
        frames: vec![Vec::new()],
        next_id: 0,
        open: BTreeSet::new(),
        fuel: FUEL,
        depth: 0,
        concurrent: 0,
        uncertain: 0,
        looping: 0,
        inner_calls: 0,
        args: args.into(),
    };
    // A stop keeps what comes before it.
    let _ = analyzer.run(module, &Scope::root());
    analyzer.into_plan()
}

impl Analyzer {
    /// The steps up to the first call that nothing has waited for.
    fn into_plan(mut self) -> PrefetchPlan {
        let mut steps = std::mem::take(&mut self.frames[0]);
        let is_open = |step: &PrefetchStep| has_any(step, &self.open);
        if let Some(first) = steps.iter().position(is_open) {
            steps.truncate(first);
        }
        // Steps that nothing can be started by have no use at the end.
        while matches!(
            steps.last(),
            Some(PrefetchStep::Call { args: None, .. } | PrefetchStep::Load { .. })
        ) {
            steps.pop();
        }
        PrefetchPlan { steps }.sanitized()
    }

    pub fn new_id(&mut self) -> u32 {
        self.next_id += 1;
        self.next_id - 1
    }

    pub fn next_id(&self) -> u32 {
        self.next_id
    }

    pub fn burn(&mut self) -> Eval<()> {
        self.fuel = self.fuel.checked_sub(1).ok_or(Stop)?;
        Ok(())
    }

    /// Pays for a copy of so many values.
    pub fn spend(&mut self, values: usize) -> Eval<()> {
        let values = u32::try_from(values).map_err(|_| Stop)?;
        self.fuel = self.fuel.checked_sub(values).ok_or(Stop)?;
        Ok(())
    }

    /// Evaluates something one level deeper.
    pub fn deeper<T>(&mut self, evaluate: impl FnOnce(&mut Self) -> Eval<T>) -> Eval<T> {
        self.burn()?;
        if self.depth >= MAX_DEPTH {
            return Err(Stop);
        }
        self.depth += 1;
        let value = evaluate(self);
        self.depth -= 1;
        value
    }

    /// Evaluates code that may not run: its calls are known by name alone.
    pub fn uncertainly<T>(&mut self, evaluate: impl FnOnce(&mut Self) -> Eval<T>) -> Eval<T> {
        self.uncertain += 1;
        let value = evaluate(self);
        self.uncertain -= 1;
        value
    }

    /// Code whose time depends on answers must not change anything that other code can see.
    pub fn check_may_change(&self) -> Eval<()> {
        match self.concurrent {
            0 => Ok(()),
            _ => Err(Stop),
        }
    }

    /// Code whose time depends on answers must not throw: the first error is the one that is seen.
    pub fn check_may_throw(&self) -> Eval<()> {
        self.check_may_change()
    }

    /// What a variable is after an assignment.
    pub fn assigned<'a>(&self, value: Value<'a>) -> Value<'a> {
        match self.uncertain + self.looping {
            0 => value,
            _ => Value::Unknown,
        }
    }

    /// Adds the call of a tool, and returns its number.
    pub fn call(&mut self, tool: &str, args: Option<PrefetchValue>) -> Eval<u32> {
        let args = match self.uncertain {
            0 => args,
            _ => None,
        };
        let id = self.new_id();
        self.push(PrefetchStep::Call {
            id,
            tool: tool.to_owned(),
            args,
        })?;
        self.open.insert(id);
        Ok(id)
    }

    /// Adds the load of a stored value, and returns its number.
    pub fn load(&mut self, key: &str) -> Eval<u32> {
        let id = self.new_id();
        self.push(PrefetchStep::Load {
            id,
            key: key.to_owned(),
        })?;
        self.open.insert(id);
        Ok(id)
    }

    fn push(&mut self, step: PrefetchStep) -> Eval<()> {
        let count: usize = self.frames.iter().map(Vec::len).sum();
        if count >= PrefetchPlan::MAX_STEPS {
            return Err(Stop);
        }
        self.frames.last_mut().ok_or(Stop)?.push(step);
        Ok(())
    }

    /// Collects the steps for each item of a list that is known when the script runs. `body` gets the
    /// item.
    pub fn each<'a, T>(
        &mut self,
        list: PrefetchValue,
        body: impl FnOnce(&mut Self, Value<'a>) -> Eval<T>,
    ) -> Eval<T> {
        if self.frames.len() > PrefetchPlan::MAX_NESTING {
            return Err(Stop);
        }
        let id = self.new_id();
        self.frames.push(Vec::new());
        self.looping += 1;
        let value = body(self, Value::Known(PrefetchValue::Item(id)));
        self.looping -= 1;
        let steps = self.frames.pop().unwrap_or_default();
        // A body that is known in part is left out: what it does for one item comes before the next.
        let value = value?;
        if !steps.is_empty() {
            self.push(PrefetchStep::Each { id, list, steps })?;
        }
        Ok(value)
    }

    /// Something waits for these calls, and nothing else sees in which order their answers come.
    pub fn settle(&mut self, calls: &[u32]) {
        if self.concurrent == 0 {
            calls.iter().for_each(|id| {
                self.open.remove(id);
            });
        }
    }

    /// Leaves out all calls from this one on.
    pub fn forget_since(&mut self, first: u32) {
        self.open.extend(first..self.next_id);
    }

    /// The value behind a promise, whose calls something waits for now.
    pub fn awaited<'a>(&mut self, value: Value<'a>) -> Eval<Value<'a>> {
        match value {
            Value::Promise(promised) => {
                self.settle(&promised.calls);
                self.awaited(promised.value.clone())
            }
            Value::Unset | Value::Global(_) | Value::Tools(_) => Err(Stop),
            // An object of the script may have a method `then`.
            Value::Object(fields) => match fields.borrow().iter().any(|(key, _)| key == "then") {
                true => Err(Stop),
                false => Ok(Value::Object(fields.clone())),
            },
            value => Ok(value),
        }
    }

    /// A value that is not constant, if it is not too large.
    pub fn known<'a>(&self, value: PrefetchValue) -> Eval<Value<'a>> {
        match nodes(&value, MAX_NODES) {
            Some(_) => Ok(Value::Known(value)),
            None => Err(Stop),
        }
    }

    /// The end of a script: its result is walked, and the promises in it are awaited. A result with a
    /// cycle is walked as deep as anything else.
    pub fn finish(&mut self, result: &Value<'_>) -> Eval<()> {
        self.deeper(|this| match result {
            Value::Promise(promised) => {
                this.settle(&promised.calls);
                this.finish(&promised.value)
            }
            Value::Promises(calls) => {
                this.settle(calls);
                Ok(())
            }
            Value::List(items) => match &*items.borrow() {
                Some(items) => items.iter().try_for_each(|item| this.finish(item)),
                None => Ok(()),
            },
            Value::Object(fields) => {
                let fields = fields.borrow();
                fields.iter().try_for_each(|(_, value)| this.finish(value))
            }
            _ => Ok(()),
        })
    }
}

fn has_any(step: &PrefetchStep, ids: &BTreeSet<u32>) -> bool {
    match step {
        PrefetchStep::Call { id, .. } | PrefetchStep::Load { id, .. } => ids.contains(id),
        PrefetchStep::Each { steps, .. } => steps.iter().any(|step| has_any(step, ids)),
    }
}

/// How many nodes are left of `limit`; `None` if the value has more.
fn nodes(value: &PrefetchValue, limit: usize) -> Option<usize> {
    let left = limit.checked_sub(1)?;
    match value {
        PrefetchValue::Json(_) | PrefetchValue::Result(_) | PrefetchValue::Item(_) => Some(left),
        PrefetchValue::Get(of, _) | PrefetchValue::At(of, _) | PrefetchValue::Slice(of, ..) => {
            nodes(of, left)
        }
        PrefetchValue::Text(parts) | PrefetchValue::List(parts) => {
            parts.iter().try_fold(left, |left, part| nodes(part, left))
        }
        PrefetchValue::Object(fields) => fields
            .iter()
            .try_fold(left, |left, (_, value)| nodes(value, left)),
    }
}
