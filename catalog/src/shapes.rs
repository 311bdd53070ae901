//! The shapes of results, by tool.

use std::collections::BTreeMap;

use pml_typegen::Shape;
use serde_json::{Map, Value, json};

const VERSION: u64 = 1;
/// Tools of one configuration whose results are remembered.
const MAX_TOOLS: usize = 2_000;
/// Bytes of one shape; one that grows larger says nothing any more.
const MAX_SHAPE: usize = 16 << 10;

/// What the results of each tool looked like so far.
#[derive(Debug, Default, PartialEq)]
pub struct Shapes {
    tools: BTreeMap<String, Shape>,
}

impl Shapes {
    /// Widens the shape of a tool by what was seen; `false` if that is nothing new.
    pub fn add(&mut self, id: &str, seen: Shape) -> bool {
        if let Some(known) = self.tools.get_mut(id) {
            let before = known.clone();
            known.merge(seen);
            return *known != before;
        }
        let fits = self.tools.len() < MAX_TOOLS;
        if fits {
            self.tools.insert(id.to_owned(), seen);
        }
        fits
    }

    /// A JSON Schema of the results of a tool.
    pub fn schema(&self, id: &str) -> Option<Value> {
        self.tools.get(id).map(Shape::to_schema)
    }

    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// Reads a file; nothing is known where it is damaged.
    pub fn parse(text: &str) -> Self {
        let Ok(Value::Object(file)) = serde_json::from_str(text) else {
            return Self::default();
        };
        let tools = match (file.get("version"), file.get("tools")) {
            (Some(version), Some(Value::Object(tools))) if *version == VERSION => tools,
            _ => return Self::default(),
        };
        let tools = tools
            .iter()
            .take(MAX_TOOLS)
            .map(|(id, schema)| (id.clone(), Shape::from_schema(schema)));
        Self {
            tools: tools.collect(),
        }
    }

    pub(crate) fn text(&self) -> String {
        let tools: Map<String, Value> = self
            .tools
            .iter()
            .map(|(id, shape)| (id.clone(), shape.to_schema()))
            .map(|(id, schema)| match schema.to_string().len() > MAX_SHAPE {
                true => (id, json!({})),
                false => (id, schema),
            })
            .collect();
        json!({ "version": VERSION, "tools": tools }).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(value: Value) -> Shape {
        let mut shape = Shape::default();
        shape.observe(&value);
        shape
    }

    #[test]
    fn what_is_seen_later_widens_what_is_known() {
        let mut shapes = Shapes::default();
        shapes.add("a:b", shape(json!({ "n": 1 })));
        let mut read = Shapes::parse(&shapes.text());
        assert_eq!(read, shapes);
        read.add("a:b", shape(json!({ "n": 1, "t": "x" })));
        let expected = json!({
            "type": "object",
            "properties": { "n": { "type": "number" }, "t": { "type": "string" } },
            "required": ["n"],
        });
        assert_eq!(read.schema("a:b"), Some(expected));
        assert_eq!(read.schema("a:c"), None);
    }

    #[test]
    fn a_damaged_file_says_nothing() {
        for text in [
            "",
            "[]",
            "{\"version\":2,\"tools\":{\"a:b\":{}}}",
            "{\"tools\":7}",
        ] {
            assert!(Shapes::parse(text).is_empty(), "{text}");
        }
    }
}
