//! The shapes of results, for tools whose servers declare no output schema.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use pml_typegen::Shape;
use serde_json::Value;

use crate::observe::CallObserver;

/// How many tools of one session are observed.
const MAX_TOOLS: usize = 1_000;
/// A tool is no longer observed after this many results in a row that did not change its shape.
const STABLE_AFTER: u8 = 8;

/// The shapes of the results of each tool in a session.
#[derive(Default)]
pub struct ObservedShapes {
    tools: Mutex<BTreeMap<String, Seen>>,
}

#[derive(Default)]
struct Seen {
    shape: Shape,
    unchanged: u8,
    /// The shape of the results since [`ObservedShapes::take`], if they changed the shape: what is
    /// taken twice would count its calls twice.
    fresh: Option<Shape>,
}

impl ObservedShapes {
    /// Adds a result. The cost is bounded, and soon zero for a tool whose results are alike.
    pub fn note(&self, tool: &str, result: &Value) {
        let mut tools = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        if !tools.contains_key(tool) {
            if tools.len() == MAX_TOOLS {
                return;
            }
            tools.insert(tool.to_owned(), Seen::default());
        }
        if let Some(seen) = tools.get_mut(tool)
            && seen.unchanged < STABLE_AFTER
        {
            let one = Shape::of_result(result);
            match seen.shape.widen(one.clone()) {
                true => {
                    seen.unchanged = 0;
                    match &mut seen.fresh {
                        Some(fresh) => fresh.merge(one),
                        None => seen.fresh = Some(one),
                    }
                }
                false => seen.unchanged += 1,
            }
        }
    }

    /// The JSON Schema of a tool's results in this session, with every key; `None` if there were none.
    pub fn schema(&self, tool: &str) -> Option<Value> {
        let tools = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        tools.get(tool).map(|seen| seen.shape.to_schema())
    }

    /// The shapes of the results since the last call, of the tools for which they were new.
    pub fn take(&self) -> Vec<(String, Shape)> {
        let mut tools = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        tools
            .iter_mut()
            .filter_map(|(id, seen)| seen.fresh.take().map(|fresh| (id.clone(), fresh)))
            .collect()
    }
}

impl CallObserver for ObservedShapes {
    fn wants_value(&self, tool: &str) -> bool {
        let tools = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        match tools.get(tool) {
            Some(seen) => seen.unchanged < STABLE_AFTER,
            None => tools.len() < MAX_TOOLS,
        }
    }

    fn call_succeeded(&self, tool: &str, value: Option<&Value>) {
        if let Some(value) = value {
            self.note(tool, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_tool_has_its_own_shape() {
        let observed = ObservedShapes::default();
        observed.note("a:b", &json!(1));
        observed.note("a:b", &json!("x"));
        observed.note("a:c", &json!(null));
        let schemas: Vec<_> = observed
            .take()
            .into_iter()
            .map(|(id, shape)| (id, shape.to_schema()))
            .collect();
        let both = json!({ "anyOf": [{ "type": "string" }, { "type": "number" }] });
        let expected = [
            ("a:b".to_owned(), both),
            ("a:c".to_owned(), json!({ "type": "null" })),
        ];
        assert_eq!(schemas, expected);

        observed.note("a:b", &json!(2));
        assert!(observed.take().is_empty(), "nothing new was seen");
        observed.note("a:b", &json!(true));
        assert_eq!(observed.take().len(), 1);
    }
}
