//! What results looked like: shapes, for tools whose servers do not say what they give.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use pml_typegen::Shape;
use serde_json::Value;

/// Tools of one session whose results are looked at.
const MAX_TOOLS: usize = 1_000;
/// A tool that gave nothing new this often in a row is not looked at again.
const ENOUGH: u8 = 8;

#[derive(Default)]
pub struct Observed {
    tools: Mutex<BTreeMap<String, Seen>>,
}

#[derive(Default)]
struct Seen {
    shape: Shape,
    unchanged: u8,
    /// The shape is another one than [`Observed::take`] last gave.
    is_news: bool,
}

impl Observed {
    /// Looks at a result. The cost is bounded, and soon nothing for a tool that always answers
    /// alike.
    pub fn note(&self, tool: &str, result: &Value) {
        let mut tools = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        if !tools.contains_key(tool) {
            if tools.len() == MAX_TOOLS {
                return;
            }
            tools.insert(tool.to_owned(), Seen::default());
        }
        if let Some(seen) = tools.get_mut(tool)
            && seen.unchanged < ENOUGH
        {
            match seen.shape.observe(result) {
                true => (seen.unchanged, seen.is_news) = (0, true),
                false => seen.unchanged += 1,
            }
        }
    }

    /// The shapes that changed since this was last asked.
    pub fn take(&self) -> Vec<(String, Shape)> {
        let mut tools = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        tools
            .iter_mut()
            .filter_map(|(id, seen)| {
                let is_news = std::mem::take(&mut seen.is_news);
                is_news.then(|| (id.clone(), seen.shape.clone()))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_tool_has_its_own_shape() {
        let observed = Observed::default();
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
