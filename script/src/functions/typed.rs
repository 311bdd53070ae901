//! The result of reading a type, and why a type cannot be read.

use serde_json::{Map, Value, json};
use swc_core::common::BytePos;

/// A type as JSON Schema.
#[derive(Debug, Clone, PartialEq)]
pub struct Typed {
    /// The schema.
    pub schema: Value,
    /// Whether `undefined` is one of its values: what has this type may be left out.
    pub is_optional: bool,
}

impl Typed {
    /// A type without `undefined`.
    pub fn of(schema: Value) -> Self {
        Self {
            schema,
            is_optional: false,
        }
    }

    /// `undefined` alone.
    pub fn undefined() -> Self {
        Self {
            schema: json!({ "not": {} }),
            is_optional: true,
        }
    }

    /// Whether no value but `undefined` has it.
    pub fn is_undefined_only(&self) -> bool {
        self.is_optional && self.schema == json!({ "not": {} })
    }
}

/// A type that is no JSON Schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsupported {
    /// What it is and what to write instead.
    pub message: String,
    /// Where it is written.
    pub at: BytePos,
}

impl Unsupported {
    pub fn new(at: BytePos, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            at,
        }
    }
}

pub type Reading = Result<Typed, Unsupported>;

/// The properties of an object type, in their order.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct ObjectShape {
    pub properties: Map<String, Value>,
    pub required: Vec<String>,
    /// The type of further properties, from an index signature.
    pub further: Option<Value>,
    pub description: Option<String>,
}

impl ObjectShape {
    /// Adds a property, in place of one with the same name.
    pub fn set(&mut self, name: &str, schema: Value, is_required: bool) {
        self.properties.insert(name.to_owned(), schema);
        self.required.retain(|known| known != name);
        if is_required {
            self.required.push(name.to_owned());
        }
    }

    /// Adds the properties of another shape, in place of those with the same names.
    pub fn extend(&mut self, other: Self) {
        for (name, schema) in other.properties {
            let is_required = other.required.contains(&name);
            self.set(&name, schema, is_required);
        }
        if other.further.is_some() {
            self.further = other.further;
        }
    }

    /// The shape that a schema describes; `None` if it is none of an object.
    pub fn of(schema: &Value) -> Option<Self> {
        if schema["type"] != "object" {
            return None;
        }
        let required = schema["required"].as_array().into_iter().flatten();
        Some(Self {
            properties: schema["properties"]
                .as_object()
                .cloned()
                .unwrap_or_default(),
            required: required
                .filter_map(|name| name.as_str().map(str::to_owned))
                .collect(),
            further: match &schema["additionalProperties"] {
                Value::Bool(_) => None,
                Value::Null if schema.get("properties").is_none() => Some(json!({})),
                Value::Null => None,
                further => Some(further.clone()),
            },
            description: schema["description"].as_str().map(str::to_owned),
        })
    }

    pub fn into_schema(self) -> Value {
        let mut schema = json!({ "type": "object" });
        if let Some(description) = self.description {
            schema["description"] = description.into();
        }
        if !self.properties.is_empty() || self.further.is_none() {
            schema["properties"] = self.properties.into();
        }
        if !self.required.is_empty() {
            schema["required"] = self.required.into();
        }
        schema["additionalProperties"] = self.further.unwrap_or(Value::Bool(false));
        schema
    }
}
