//! From a JSON Schema, of any draft that servers send, to a [`Model`].
//!
//! A type is never narrower than its schema where that can be helped: what TypeScript cannot say
//! (`not`, `if`, `contains`) is left out, so that no valid argument is refused. Hostile schemas
//! run into the bounds below and become `unknown` from there on.

mod array;
mod doc;
mod knot;
mod literal;
mod object;
mod reference;

pub use reference::resolve;

use serde_json::{Map, Value};

use crate::model::{Model, Named, Type};

/// Schemas within schemas.
const MAX_DEPTH: usize = 24;
/// Definitions that are referred to.
const MAX_NAMED: usize = 400;
/// Members of one union, and values of one enumeration.
const MAX_MEMBERS: usize = 100;

/// A schema and how much of it is worth reading.
#[derive(Debug, Clone, Copy)]
pub struct Schema<'a> {
    /// Where references lead.
    root: &'a Value,
    schema: &'a Value,
    nodes: usize,
}

impl<'a> Schema<'a> {
    /// For a file: nearly everything.
    pub fn whole(root: &'a Value) -> Self {
        Self {
            root,
            schema: root,
            nodes: 5_000,
        }
    }

    /// For one line: what is cut off would not have fitted.
    pub fn brief(root: &'a Value) -> Self {
        Self::part(root, root)
    }

    /// The same for a part of it.
    pub fn part(root: &'a Value, schema: &'a Value) -> Self {
        Self {
            root,
            schema,
            nodes: 300,
        }
    }

    pub(crate) fn read(self) -> Model {
        let mut reader = Reader {
            root: self.root,
            nodes: self.nodes,
            named: Vec::new(),
            places: Vec::new(),
        };
        let root = reader.read(self.schema, 0);
        // Definitions are read one after the other and not within each other, so that a long
        // chain of them is no deep recursion.
        let mut next = 0;
        while let Some(&target) = reader.places.get(next) {
            let ty = reader.read(target, 0);
            reader.named[next].ty = ty;
            next += 1;
        }
        let mut model = Model {
            root,
            doc: doc::of(self.schema),
            named: reader.named,
        };
        knot::untie(&mut model);
        model
    }
}

struct Reader<'a> {
    root: &'a Value,
    /// How many schemas may still be read.
    nodes: usize,
    named: Vec<Named>,
    /// Where each of `named` stands in the schema.
    places: Vec<&'a Value>,
}

impl<'a> Reader<'a> {
    fn read(&mut self, schema: &'a Value, depth: usize) -> Type {
        if self.nodes == 0 || depth > MAX_DEPTH {
            return Type::Unknown;
        }
        self.nodes -= 1;
        match schema {
            Value::Bool(false) => Type::Never,
            Value::Object(keywords) => self.read_keywords(keywords, depth),
            _ => Type::Unknown,
        }
    }

    /// Every keyword must hold, so each gives one part of an intersection.
    fn read_keywords(&mut self, keywords: &'a Map<String, Value>, depth: usize) -> Type {
        let mut parts = Vec::new();
        for key in ["$ref", "$dynamicRef", "$recursiveRef"] {
            if let Some(Value::String(reference)) = keywords.get(key) {
                parts.push(self.refer(reference));
            }
        }
        parts.push(self.read_values(keywords, depth));
        if let Some(Value::Array(all)) = keywords.get("allOf") {
            for one in all.iter().take(MAX_MEMBERS) {
                parts.push(self.read(one, depth + 1));
            }
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(Value::Array(members)) = keywords.get(key)
                && !members.is_empty()
            {
                parts.push(self.read_union(members, depth));
            }
        }
        let ty = Type::intersection(parts);
        match keywords.get("nullable") {
            Some(Value::Bool(true)) => Type::union(vec![ty, Type::Null]),
            _ => ty,
        }
    }

    fn read_union(&mut self, members: &'a [Value], depth: usize) -> Type {
        if members.len() > MAX_MEMBERS {
            return Type::Unknown;
        }
        let members = members.iter().map(|member| self.read(member, depth + 1));
        Type::union(members.collect())
    }

    /// `const`, `enum` and `type`.
    fn read_values(&mut self, keywords: &'a Map<String, Value>, depth: usize) -> Type {
        if let Some(value) = keywords.get("const") {
            return literal::type_of(value);
        }
        let names = type_names(keywords);
        if let Some(Value::Array(values)) = keywords.get("enum") {
            return literal::one_of(values, &names);
        }
        let types = names.iter().map(|name| match *name {
            "null" => Type::Null,
            "boolean" => Type::Boolean,
            "number" | "integer" => Type::Number,
            "string" => Type::String,
            "array" => self.read_array(keywords, depth),
            "object" => self.read_object(keywords, depth),
            _ => Type::Unknown,
        });
        match types.collect::<Vec<_>>() {
            none if none.is_empty() => Type::Unknown,
            types => Type::union(types),
        }
    }

    /// A reference becomes a name, and its target is read once.
    fn refer(&mut self, reference: &str) -> Type {
        let Some((target, name)) = reference::follow(self.root, reference) else {
            return Type::Unknown;
        };
        let known = self
            .places
            .iter()
            .position(|place| std::ptr::eq(*place, target));
        if let Some(index) = known {
            return Type::Named(index);
        }
        if self.places.len() == MAX_NAMED {
            return Type::Unknown;
        }
        self.places.push(target);
        self.named.push(Named {
            name,
            ty: Type::Unknown,
            doc: doc::of(target),
        });
        Type::Named(self.places.len() - 1)
    }
}

/// What `type` says, or else what the other keywords give away.
fn type_names(keywords: &Map<String, Value>) -> Vec<&str> {
    match keywords.get("type") {
        Some(Value::String(name)) => vec![name.as_str()],
        Some(Value::Array(names)) => names.iter().take(8).filter_map(Value::as_str).collect(),
        _ if ["properties", "patternProperties", "additionalProperties"]
            .iter()
            .any(|key| keywords.get(*key).is_some_and(|value| value.is_object())) =>
        {
            vec!["object"]
        }
        _ if keywords.contains_key("items") || keywords.contains_key("prefixItems") => {
            vec!["array"]
        }
        _ => Vec::new(),
    }
}
