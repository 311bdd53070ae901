//! Reads a JSON Schema, of any draft that servers send, into a [`TypeGraph`].
//!
//! A type is as wide as its schema or wider: keywords that TypeScript cannot express (`not`, `if`,
//! `contains`) are left out, so that no valid argument is rejected. Hostile schemas hit the limits below
//! and become `unknown` from there on.

mod array;
mod cycles;
mod doc;
mod literal;
mod object;
mod reference;
mod union_width;

pub use reference::resolve;

use serde_json::{Map, Value};

use crate::type_graph::{NamedType, Type, TypeGraph};

/// Nesting levels of a schema.
const MAX_DEPTH: usize = 24;
/// Definitions of one schema.
const MAX_NAMED: usize = 400;
/// Members of one union, and values of one enumeration.
const MAX_MEMBERS: usize = 100;

/// A schema to read, with a limit on its size.
#[derive(Debug, Clone, Copy)]
pub struct Schema<'a> {
    /// The document that references point into.
    root: &'a Value,
    schema: &'a Value,
    /// How many subschemas to read.
    nodes: usize,
}

impl<'a> Schema<'a> {
    /// For a file: nearly everything is read.
    pub fn whole(root: &'a Value) -> Self {
        Self {
            root,
            schema: root,
            nodes: 5_000,
        }
    }

    /// For one line: more would not fit anyway.
    pub fn brief(root: &'a Value) -> Self {
        Self::part(root, root)
    }

    /// As [`Schema::brief`], for a part of the document `root`.
    pub fn part(root: &'a Value, schema: &'a Value) -> Self {
        Self {
            root,
            schema,
            nodes: 300,
        }
    }

    /// Reads the schema.
    pub(crate) fn read(self) -> TypeGraph {
        let mut reader = Reader {
            root: self.root,
            nodes: self.nodes,
            named: Vec::new(),
            targets: Vec::new(),
        };
        let root = reader.read(self.schema, 0);
        // Definitions are read one after the other instead of within each other, so that a long chain
        // of them does not recurse.
        let mut next = 0;
        while let Some(&target) = reader.targets.get(next) {
            let ty = reader.read(target, 0);
            reader.named[next].ty = ty;
            next += 1;
        }
        let mut graph = TypeGraph {
            root,
            doc: doc::of(self.schema),
            named: reader.named,
        };
        cycles::break_cycles(&mut graph);
        union_width::limit_union_width(&mut graph);
        graph
    }
}

struct Reader<'a> {
    root: &'a Value,
    /// How many subschemas may still be read.
    nodes: usize,
    named: Vec<NamedType>,
    /// The schema of each of `named`.
    targets: Vec<&'a Value>,
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

    /// All keywords apply at once, so each adds a member to an intersection.
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

    /// Turns a reference into a name; its target is queued to be read once.
    fn refer(&mut self, reference: &str) -> Type {
        let Some((target, name)) = reference::follow(self.root, reference) else {
            return Type::Unknown;
        };
        let queued = self
            .targets
            .iter()
            .position(|queued| std::ptr::eq(*queued, target));
        if let Some(index) = queued {
            return Type::Named(index);
        }
        if self.targets.len() == MAX_NAMED {
            return Type::Unknown;
        }
        self.targets.push(target);
        self.named.push(NamedType {
            name,
            ty: Type::Unknown,
            doc: doc::of(target),
        });
        Type::Named(self.targets.len() - 1)
    }
}

/// The value of `type`, or else the type that other keywords imply.
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
