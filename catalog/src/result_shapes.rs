//! The observed result shapes of each tool.

use std::collections::BTreeMap;

use pml_typegen::Shape;
use serde_json::{Map, Value, json};

/// Version of the file format; a file with another version is ignored.
const VERSION: u64 = 1;
/// Tools of one configuration whose shapes are kept.
const MAX_TOOLS: usize = 2_000;
/// Size limit of one shape in bytes; a larger one is written as a schema that accepts anything.
const MAX_SHAPE: usize = 16 << 10;

/// The shapes of the results seen so far, by tool id.
#[derive(Debug, Default, PartialEq)]
pub struct ResultShapes {
    tools: BTreeMap<String, Shape>,
}

impl ResultShapes {
    /// Widens the shape of a tool by another one; returns whether it changed.
    pub fn add(&mut self, id: &str, seen: Shape) -> bool {
        if let Some(shape) = self.tools.get_mut(id) {
            let before = shape.clone();
            shape.merge(seen);
            return *shape != before;
        }
        let fits = self.tools.len() < MAX_TOOLS;
        if fits {
            self.tools.insert(id.to_owned(), seen);
        }
        fits
    }

    /// The JSON Schema of a tool's results with the keys that the results of several calls had, for
    /// clients whose calls they were not; `None` if none were seen.
    pub fn confirmed_schema(&self, id: &str) -> Option<Value> {
        self.tools.get(id).map(Shape::confirmed_schema)
    }

    /// The JSON Schema of a tool's results with every key; `None` if none were seen.
    pub fn schema(&self, id: &str) -> Option<Value> {
        self.tools.get(id).map(Shape::to_schema)
    }

    /// Whether no shape is kept.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// Parses a file; a damaged one reads as empty.
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

    /// The contents of the file.
    pub(crate) fn text(&self) -> String {
        let tools: Map<String, Value> = self
            .tools
            .iter()
            .map(|(id, shape)| (id.clone(), shape.to_stored()))
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
    fn later_results_widen_a_shape() {
        let mut shapes = ResultShapes::default();
        shapes.add("a:b", shape(json!({ "n": 1 })));
        let mut read = ResultShapes::parse(&shapes.text());
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
    fn a_damaged_file_reads_as_empty() {
        for text in [
            "",
            "[]",
            "{\"version\":2,\"tools\":{\"a:b\":{}}}",
            "{\"tools\":7}",
        ] {
            assert!(ResultShapes::parse(text).is_empty(), "{text}");
        }
    }
}
