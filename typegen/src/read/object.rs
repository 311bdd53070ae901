//! Objects: fields and index signatures.

use serde_json::{Map, Value};

use super::{Reader, doc};
use crate::type_graph::{Doc, Field, IndexSignature, Object, Type};

/// A longer key is left out: it is data, not a name.
const MAX_NAME: usize = 120;
/// Names in an `enum` of `propertyNames` that become fields.
const MAX_NAMES: usize = 40;

impl<'a> Reader<'a> {
    pub(super) fn read_object(&mut self, keywords: &'a Map<String, Value>, depth: usize) -> Type {
        let required = |name: &str| matches!(keywords.get("required"), Some(Value::Array(names)) if names.iter().any(|one| one == name));
        let mut object = Object::default();
        let mut left_out = 0;
        if let Some(Value::Object(properties)) = keywords.get("properties") {
            for (name, schema) in properties {
                if self.nodes == 0 || name.len() > MAX_NAME {
                    left_out += 1;
                    continue;
                }
                object.fields.push(Field {
                    name: name.clone(),
                    optional: !required(name),
                    ty: self.read(schema, depth + 1),
                    doc: doc::of(schema),
                });
            }
        }
        self.add_required(keywords, &mut object);
        self.add_conditional(keywords, &mut object, depth);
        self.read_index_signature(keywords, &mut object, depth);
        if left_out > 0 {
            object.index_signature = Some(Box::new(IndexSignature {
                ty: Type::Unknown,
                doc: Doc {
                    text: format!("and {left_out} more"),
                    tags: Vec::new(),
                },
            }));
        }
        Type::Object(object)
    }

    /// Adds the required names that `properties` does not describe.
    fn add_required(&mut self, keywords: &'a Map<String, Value>, object: &mut Object) {
        let Some(Value::Array(names)) = keywords.get("required") else {
            return;
        };
        let described = keywords.get("properties").and_then(Value::as_object);
        for name in names.iter().filter_map(Value::as_str) {
            let known = described.is_some_and(|described| described.contains_key(name))
                || object.fields.iter().any(|field| field.name == name);
            if known || name.len() > MAX_NAME {
                continue;
            }
            if self.nodes == 0 {
                return;
            }
            self.nodes -= 1;
            object.fields.push(Field {
                name: name.to_owned(),
                optional: false,
                ty: Type::Unknown,
                doc: Doc::default(),
            });
        }
    }

    /// Adds the fields of conditional subschemas as optional ones.
    fn add_conditional(
        &mut self,
        keywords: &'a Map<String, Value>,
        object: &mut Object,
        depth: usize,
    ) {
        let branches = ["then", "else"]
            .into_iter()
            .filter_map(|key| keywords.get(key));
        let dependent = ["dependentSchemas", "dependencies"]
            .into_iter()
            .filter_map(|key| keywords.get(key)?.as_object())
            .flat_map(|schemas| schemas.values());
        for branch in branches.chain(dependent) {
            let Some(Value::Object(properties)) = branch.get("properties") else {
                continue;
            };
            for (name, schema) in properties {
                let known = object.fields.iter().any(|field| field.name == *name);
                if known || self.nodes == 0 || name.len() > MAX_NAME {
                    continue;
                }
                object.fields.push(Field {
                    name: name.clone(),
                    optional: true,
                    ty: self.read(schema, depth + 1),
                    doc: doc::of(schema),
                });
            }
        }
    }

    fn read_index_signature(
        &mut self,
        keywords: &'a Map<String, Value>,
        object: &mut Object,
        depth: usize,
    ) {
        let additional = keywords
            .get("additionalProperties")
            .or_else(|| keywords.get("unevaluatedProperties"));
        if object.fields.is_empty()
            && let Some(names) = listed_names(keywords)
        {
            let ty = additional.map_or(Type::Unknown, |schema| self.read(schema, depth + 1));
            for name in names {
                if object.fields.iter().all(|field| field.name != name) {
                    object.fields.push(Field {
                        name: name.to_owned(),
                        optional: true,
                        ty: ty.clone(),
                        doc: Doc::default(),
                    });
                }
            }
            return;
        }
        let patterns = keywords.get("patternProperties").and_then(Value::as_object);
        let mut types = Vec::new();
        let mut doc = Doc::default();
        for (pattern, schema) in patterns.into_iter().flatten() {
            if self.nodes == 0 {
                types.push(Type::Unknown);
                break;
            }
            types.push(self.read(schema, depth + 1));
            doc.tags.push(("pattern".to_owned(), doc::line(pattern)));
        }
        match additional {
            Some(Value::Bool(false)) => object.closed = true,
            Some(schema) => {
                types.push(self.read(schema, depth + 1));
                if doc.tags.is_empty() {
                    doc = doc::of(schema);
                }
            }
            // Any other key is allowed; a schema that lists properties is printed without saying so.
            None if types.is_empty()
                && !keywords.contains_key("properties")
                && object.fields.is_empty() =>
            {
                types.push(Type::Unknown);
            }
            None => {}
        }
        if !types.is_empty() {
            let ty = Type::union(types);
            object.index_signature = Some(Box::new(IndexSignature { ty, doc }));
        }
    }
}

/// The names in the `enum` of `propertyNames`, which are the only ones allowed.
fn listed_names(keywords: &Map<String, Value>) -> Option<impl Iterator<Item = &str>> {
    let names = keywords.get("propertyNames")?.get("enum")?.as_array()?;
    let all_fit = names
        .iter()
        .all(|name| name.as_str().is_some_and(|name| name.len() <= MAX_NAME));
    (!names.is_empty() && names.len() <= MAX_NAMES && all_fit)
        .then(|| names.iter().filter_map(Value::as_str))
}
