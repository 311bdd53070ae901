//! A JSON value with references in its strings.

use serde_json::{Map, Value};

use super::parse::{Piece, scan};
use super::scope::{MissingPath, Scope};
use super::{Names, Reference};

/// A value that is complete when its references are resolved.
#[derive(Debug, Clone, PartialEq)]
pub enum Template {
    /// A value without references.
    Literal(Value),
    /// A string that is one reference: the value keeps its type.
    Reference(Reference),
    /// A string with references in it: their values become text.
    Text(Vec<Piece>),
    /// A list with references.
    List(Vec<Template>),
    /// An object with references.
    Object(Vec<(String, Template)>),
}

impl Template {
    /// Finds the references of a value. Mistakes are passed to `problem` with the path inside the
    /// value.
    pub fn new(
        value: &Value,
        names: &Names,
        path: &str,
        problem: &mut dyn FnMut(&str, String),
    ) -> Self {
        match value {
            Value::String(text) if text.contains('$') => match scan(text, names) {
                Ok(pieces) => Self::of_pieces(pieces),
                Err(message) => {
                    problem(path, message);
                    Self::Literal(value.clone())
                }
            },
            Value::Array(items) if has_dollar(value) => {
                let item =
                    |(index, item)| Self::new(item, names, &format!("{path}[{index}]"), problem);
                Self::List(items.iter().enumerate().map(item).collect())
            }
            Value::Object(fields) if has_dollar(value) => {
                let field = |(key, value): (&String, &Value)| {
                    let path = format!("{path}.{key}");
                    (key.clone(), Self::new(value, names, &path, problem))
                };
                Self::Object(fields.iter().map(field).collect())
            }
            other => Self::Literal(other.clone()),
        }
    }

    fn of_pieces(mut pieces: Vec<Piece>) -> Self {
        match (pieces.pop(), pieces.is_empty()) {
            (None, _) => Self::Literal(Value::String(String::new())),
            (Some(Piece::Text(text)), true) => Self::Literal(Value::String(text)),
            (Some(Piece::Reference(reference)), true) => Self::Reference(reference),
            (Some(last), false) => {
                pieces.push(last);
                Self::Text(pieces)
            }
        }
    }

    /// Passes every reference to `visit`.
    pub fn references<'a>(&'a self, visit: &mut dyn FnMut(&'a Reference)) {
        match self {
            Self::Literal(_) => {}
            Self::Reference(reference) => visit(reference),
            Self::Text(pieces) => {
                for piece in pieces {
                    if let Piece::Reference(reference) = piece {
                        visit(reference);
                    }
                }
            }
            Self::List(items) => items.iter().for_each(|item| item.references(visit)),
            Self::Object(fields) => fields.iter().for_each(|(_, field)| field.references(visit)),
        }
    }

    /// The value.
    ///
    /// # Errors
    ///
    /// A path that leads to nothing.
    pub fn resolve(&self, scope: &Scope<'_>) -> Result<Value, MissingPath> {
        Ok(match self {
            Self::Literal(value) => value.clone(),
            Self::Reference(reference) => scope.get(reference)?.into_owned(),
            Self::Text(pieces) => {
                let mut text = String::new();
                for piece in pieces {
                    match piece {
                        Piece::Text(plain) => text.push_str(plain),
                        Piece::Reference(reference) => match scope.get(reference)?.value() {
                            Value::String(value) => text.push_str(value),
                            other => text.push_str(&other.to_string()),
                        },
                    }
                }
                Value::String(text)
            }
            Self::List(items) => {
                let items = items.iter().map(|item| item.resolve(scope));
                Value::Array(items.collect::<Result<_, _>>()?)
            }
            Self::Object(fields) => {
                let mut object = Map::with_capacity(fields.len());
                for (key, field) in fields {
                    object.insert(key.clone(), field.resolve(scope)?);
                }
                Value::Object(object)
            }
        })
    }

    /// The value, if it has no references.
    pub fn literal(&self) -> Option<&Value> {
        match self {
            Self::Literal(value) => Some(value),
            _ => None,
        }
    }
}

fn has_dollar(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('$'),
        Value::Array(items) => items.iter().any(has_dollar),
        Value::Object(fields) => fields.values().any(has_dollar),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;

    fn resolve(template: Value) -> Result<Value, String> {
        let mut names = Names::default();
        names.add("t", 0);
        names.add("failed", 1);
        let output = json!({ "a": { "b": [1, "two"] }, "__proto__": "own", "n": 7 });
        let mut problems = Vec::new();
        let template = Template::new(&template, &names, "", &mut |place, message| {
            problems.push(format!("{place}: {message}"));
        });
        assert_eq!(problems, Vec::<String>::new());
        let (item, input) = (json!("x"), json!({ "dir": "/tmp" }));
        let scope = Scope {
            input: &input,
            outputs: &[Some(Arc::new(output)), None],
            errors: &[None, Some(Arc::new(json!({ "message": "broke" })))],
            item: Some((&item, 4)),
        };
        template.resolve(&scope).map_err(|error| error.to_string())
    }

    #[test]
    fn a_whole_string_keeps_its_type_and_a_longer_one_is_text() {
        let resolved = resolve(json!({
            "whole": "$OUTPUT[t].a.b",
            "text": "got $OUTPUT[t].a.b and $OUTPUT[t].n, $ITEM",
            "list": ["$INPUT.dir", "$INDEX", 1],
            "plain": { "x": null },
        }));
        let expected = json!({
            "whole": [1, "two"],
            "text": "got [1,\"two\"] and 7, x",
            "list": ["/tmp", 4, 1],
            "plain": { "x": null },
        });
        assert_eq!(resolved, Ok(expected));
    }

    #[test]
    fn a_missing_path_is_an_error_unless_it_is_optional() {
        let error = resolve(json!("$OUTPUT[t].a.c")).unwrap_err();
        assert!(
            error.contains("`$OUTPUT[t].a.c` leads to nothing"),
            "{error}"
        );
        assert!(error.contains("no field `c` beside `b`"), "{error}");
        assert_eq!(resolve(json!("$OUTPUT[t].a.c?")), Ok(Value::Null));
        assert_eq!(resolve(json!("$OUTPUT[t].x.y.z?")), Ok(Value::Null));
        assert!(resolve(json!("$OUTPUT[t].x?.y")).unwrap().is_null());
        assert!(resolve(json!("$OUTPUT[t].a?.y")).is_err());
        assert!(resolve(json!("$OUTPUT[t].a.b[2]")).is_err());
    }

    #[test]
    fn there_are_no_prototypes() {
        assert_eq!(resolve(json!("$OUTPUT[t].__proto__")), Ok(json!("own")));
        for name in ["constructor", "toString", "hasOwnProperty", "length"] {
            assert!(resolve(json!(format!("$OUTPUT[t].{name}"))).is_err());
            assert!(resolve(json!(format!("$OUTPUT[t].a.b.{name}"))).is_err());
        }
    }

    #[test]
    fn a_failed_task_is_null_and_has_a_failure() {
        let resolved = resolve(json!([
            "$OUTPUT[failed].a.b",
            "$ERROR[failed].message",
            "$ERROR[t]"
        ]));
        assert_eq!(resolved, Ok(json!([null, "broke", null])));
    }
}
