//! Arrays and tuples.

use serde_json::{Map, Value};

use super::{MAX_MEMBERS, Reader};
use crate::type_graph::{Tuple, Type};

impl<'a> Reader<'a> {
    pub(super) fn read_array(&mut self, keywords: &'a Map<String, Value>, depth: usize) -> Type {
        let items = keywords.get("items");
        // `prefixItems` with `items` for the rest; before 2020-12, `items` with `additionalItems`.
        let (first, rest) = match (keywords.get("prefixItems"), items) {
            (Some(Value::Array(first)), rest) => (first, rest),
            (_, Some(Value::Array(first))) => (first, keywords.get("additionalItems")),
            (_, Some(items)) => return Type::Array(Box::new(self.read(items, depth + 1))),
            (_, None) => return Type::Array(Box::new(Type::Unknown)),
        };
        if first.len() > MAX_MEMBERS {
            return Type::Array(Box::new(Type::Unknown));
        }
        let count = |key: &str| {
            let count = keywords.get(key)?.as_u64()?;
            usize::try_from(count).ok()
        };
        let rest = match rest {
            Some(Value::Bool(false)) => None,
            _ if count("maxItems").is_some_and(|max| max <= first.len()) => None,
            Some(rest) => Some(Box::new(self.read(rest, depth + 1))),
            None => Some(Box::new(Type::Unknown)),
        };
        Type::Tuple(Tuple {
            items: first
                .iter()
                .map(|item| self.read(item, depth + 1))
                .collect(),
            required: count("minItems").unwrap_or(0).min(first.len()),
            rest,
        })
    }
}
