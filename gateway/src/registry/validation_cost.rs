//! How many steps the validation of one value takes, counted before it is done.
//!
//! The validator cannot be cancelled, so the work is bounded before it begins. The count follows every
//! subschema and every part of the value, and remembers what it has counted: a schema that refers to
//! itself twice takes 2^n steps for a value of n levels, and n of them to count.

use std::collections::HashMap;

use serde_json::Value;

use super::schema_graph::SchemaGraph;

/// Subschemas that apply within each other to one value. The validator recurses as deep.
const MAX_DEPTH: u32 = 400;
/// Pairs of a subschema and a part of the value that are remembered.
const MAX_REMEMBERED: usize = 1_000_000;
/// States of a pattern that take as long as one step.
const STATES_PER_STEP: u64 = 8;

/// The validation takes more steps than it may.
#[derive(Debug, PartialEq, Eq)]
pub struct TooManySteps;

/// Counts the steps of validating `value`, up to `limit`.
///
/// # Errors
/// It takes more than `limit` steps, or recurses too deep.
pub fn steps(graph: &SchemaGraph, value: &Value, limit: u64) -> Result<u64, TooManySteps> {
    let mut counter = Counter {
        graph,
        limit,
        counted: HashMap::new(),
        visits: 0,
    };
    counter.count(0, value, 0)
}

struct Counter<'a> {
    graph: &'a SchemaGraph,
    limit: u64,
    counted: HashMap<(u32, *const Value), u64>,
    visits: u64,
}

impl Counter<'_> {
    fn count(&mut self, index: u32, value: &Value, depth: u32) -> Result<u64, TooManySteps> {
        let node = &self.graph.nodes[index as usize];
        self.visits += 1;
        if depth > MAX_DEPTH || self.visits > self.limit || self.counted.len() > MAX_REMEMBERED {
            return Err(TooManySteps);
        }
        let is_leaf =
            node.in_place.is_empty() && !matches!(value, Value::Array(_) | Value::Object(_));
        if !is_leaf && let Some(known) = self.counted.get(&(index, std::ptr::from_ref(value))) {
            return Ok(*known);
        }
        let mut sum = node.weight;
        for to in &node.in_place {
            let steps = self.count(*to, value, depth + 1)?;
            sum = self.add(sum, steps.saturating_mul(node.factor))?;
        }
        match value {
            Value::String(text) => sum = self.add(sum, text_steps(text, node.pattern))?,
            Value::Object(fields) => {
                for (name, field) in fields {
                    sum = self.add(sum, 1 + text_steps(name, node.name_patterns))?;
                    let named = node.properties.get(name);
                    for to in named.into_iter().chain(&node.any_property) {
                        let steps = self.count(*to, field, depth + 1)?;
                        sum = self.add(sum, steps)?;
                    }
                    for to in &node.names {
                        let steps = self.name_steps(*to, name, depth + 1)?;
                        sum = self.add(sum, steps)?;
                    }
                }
            }
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    sum = self.add(sum, if node.unique { 16 * values_of(item) } else { 1 })?;
                    let positional = node.prefix.get(at);
                    for to in positional.into_iter().chain(&node.items) {
                        let steps = self.count(*to, item, depth + 1)?;
                        sum = self.add(sum, steps)?;
                    }
                }
            }
            _ => {}
        }
        if !is_leaf {
            self.counted.insert((index, std::ptr::from_ref(value)), sum);
        }
        Ok(sum)
    }

    /// The steps of a property name, which is no value of its own, so nothing is remembered.
    fn name_steps(&mut self, index: u32, name: &str, depth: u32) -> Result<u64, TooManySteps> {
        let node = &self.graph.nodes[index as usize];
        self.visits += 1;
        if depth > MAX_DEPTH || self.visits > self.limit {
            return Err(TooManySteps);
        }
        let mut sum = node.weight + text_steps(name, node.pattern);
        for to in &node.in_place {
            let steps = self.name_steps(*to, name, depth + 1)?;
            sum = self.add(sum, steps.saturating_mul(node.factor))?;
        }
        Ok(sum)
    }

    fn add(&self, sum: u64, steps: u64) -> Result<u64, TooManySteps> {
        let sum = sum.saturating_add(steps);
        if sum > self.limit {
            return Err(TooManySteps);
        }
        Ok(sum)
    }
}

/// Length and pattern of a text.
fn text_steps(text: &str, states: u64) -> u64 {
    let bytes = text.len() as u64;
    bytes / 64 + bytes.saturating_mul(states) / STATES_PER_STEP
}

fn values_of(value: &Value) -> u64 {
    match value {
        Value::Array(items) => items.iter().map(values_of).sum::<u64>() + 1,
        Value::Object(fields) => fields.values().map(values_of).sum::<u64>() + 1,
        Value::String(text) => 1 + text.len() as u64 / 64,
        _ => 1,
    }
}
