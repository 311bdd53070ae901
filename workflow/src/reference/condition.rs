//! The condition of `when`: `$OUTPUT[a].count > 3 && !$INPUT.dry`.

use serde_json::Value;

use super::parse::{Piece, scan};
use super::scope::{MissingPath, Scope};
use super::{Names, Reference};
use crate::error::shown;

/// A condition.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// A value: true unless it is null, false, zero, an empty text, list or object.
    Value(Operand),
    /// Not.
    Not(Box<Condition>),
    /// Both.
    And(Box<Condition>, Box<Condition>),
    /// One of them.
    Or(Box<Condition>, Box<Condition>),
    /// A comparison.
    Compare(Operand, Comparison, Operand),
}

/// A side of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub enum Operand {
    /// A JSON value.
    Literal(Value),
    /// A reference.
    Reference(Reference),
}

/// How two values are compared. Numbers and texts have an order; other values are equal or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

const COMPARISONS: [(&str, Comparison); 8] = [
    ("===", Comparison::Equal),
    ("!==", Comparison::NotEqual),
    ("==", Comparison::Equal),
    ("!=", Comparison::NotEqual),
    ("<=", Comparison::LessOrEqual),
    (">=", Comparison::GreaterOrEqual),
    ("<", Comparison::Less),
    (">", Comparison::Greater),
];

/// Parentheses and negations inside each other at most.
const MAX_DEPTH: usize = 32;
/// Bytes of a condition at most: it becomes a tree that is walked recursively.
const MAX_BYTES: usize = 4_096;

impl Condition {
    /// Reads a condition: text, or `true` and `false`.
    ///
    /// # Errors
    ///
    /// A sentence about the first mistake.
    pub fn new(value: &Value, names: &Names) -> Result<Self, String> {
        let text = match value {
            Value::String(text) => text,
            Value::Bool(_) => return Ok(Self::Value(Operand::Literal(value.clone()))),
            _ => return Err("`when` is a text such as `$OUTPUT[a].count > 3`".to_owned()),
        };
        if text.len() > MAX_BYTES {
            return Err(format!("a condition has at most {MAX_BYTES} bytes"));
        }
        let mut parser = Parser {
            rest: text.trim(),
            names,
            depth: 0,
        };
        let condition = parser.any()?;
        match parser.rest {
            "" => Ok(condition),
            rest => Err(format!("unexpected {} in the condition", shown(rest))),
        }
    }

    /// Passes every reference to `visit`.
    pub fn references<'a>(&'a self, visit: &mut dyn FnMut(&'a Reference)) {
        let operand = |operand: &'a Operand, visit: &mut dyn FnMut(&'a Reference)| {
            if let Operand::Reference(reference) = operand {
                visit(reference);
            }
        };
        match self {
            Self::Value(value) => operand(value, visit),
            Self::Not(inner) => inner.references(visit),
            Self::And(a, b) | Self::Or(a, b) => {
                a.references(visit);
                b.references(visit);
            }
            Self::Compare(a, _, b) => {
                operand(a, visit);
                operand(b, visit);
            }
        }
    }

    /// Whether it holds.
    ///
    /// # Errors
    ///
    /// A path that leads to nothing.
    pub fn holds(&self, scope: &Scope<'_>) -> Result<bool, MissingPath> {
        Ok(match self {
            Self::Value(operand) => is_truthy(&operand.value(scope)?),
            Self::Not(inner) => !inner.holds(scope)?,
            Self::And(a, b) => a.holds(scope)? && b.holds(scope)?,
            Self::Or(a, b) => a.holds(scope)? || b.holds(scope)?,
            Self::Compare(a, comparison, b) => comparison.holds(&a.value(scope)?, &b.value(scope)?),
        })
    }
}

impl Operand {
    fn value(&self, scope: &Scope<'_>) -> Result<Value, MissingPath> {
        match self {
            Self::Literal(value) => Ok(value.clone()),
            Self::Reference(reference) => Ok(scope.get(reference)?.into_owned()),
        }
    }
}

fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
    }
}

impl Comparison {
    fn holds(self, a: &Value, b: &Value) -> bool {
        use std::cmp::Ordering;
        let order = match (a, b) {
            (Value::Number(a), Value::Number(b)) => a.as_f64().partial_cmp(&b.as_f64()),
            (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
            (a, b) if a == b => Some(Ordering::Equal),
            _ => None,
        };
        match self {
            Self::Equal => order == Some(Ordering::Equal),
            Self::NotEqual => order != Some(Ordering::Equal),
            Self::Less => order == Some(Ordering::Less),
            Self::LessOrEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
            Self::Greater => order == Some(Ordering::Greater),
            Self::GreaterOrEqual => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        }
    }
}

struct Parser<'a> {
    rest: &'a str,
    names: &'a Names,
    depth: usize,
}

impl Parser<'_> {
    fn skip(&mut self, token: &str) -> bool {
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest.trim_start();
                true
            }
            None => false,
        }
    }

    fn any(&mut self) -> Result<Condition, String> {
        let mut left = self.all()?;
        while self.skip("||") {
            left = Condition::Or(Box::new(left), Box::new(self.all()?));
        }
        Ok(left)
    }

    fn all(&mut self) -> Result<Condition, String> {
        let mut left = self.one()?;
        while self.skip("&&") {
            left = Condition::And(Box::new(left), Box::new(self.one()?));
        }
        Ok(left)
    }

    fn one(&mut self) -> Result<Condition, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("more than {MAX_DEPTH} levels in a condition"));
        }
        let condition = if !self.rest.starts_with("!=") && self.skip("!") {
            Condition::Not(Box::new(self.one()?))
        } else if self.skip("(") {
            let inner = self.any()?;
            if !self.skip(")") {
                return Err("a `)` is missing in the condition".to_owned());
            }
            inner
        } else {
            let left = self.operand()?;
            match COMPARISONS.iter().find(|(token, _)| self.skip(token)) {
                Some((_, comparison)) => Condition::Compare(left, *comparison, self.operand()?),
                None => Condition::Value(left),
            }
        };
        self.depth -= 1;
        Ok(condition)
    }

    fn operand(&mut self) -> Result<Operand, String> {
        let length = operand_length(self.rest);
        let (text, rest) = self.rest.split_at(length);
        let operand = if text.starts_with('$') {
            match scan(text, self.names)?.as_slice() {
                [Piece::Reference(reference)] => Operand::Reference(reference.clone()),
                _ => return Err(format!("{} is no reference", shown(text))),
            }
        } else {
            let json = match text
                .strip_prefix('\'')
                .and_then(|text| text.strip_suffix('\''))
            {
                Some(inner) => Value::String(inner.to_owned()),
                None => serde_json::from_str(text).map_err(|_| {
                    format!(
                        "{} is neither a reference nor a JSON value in the condition",
                        shown(text)
                    )
                })?,
            };
            Operand::Literal(json)
        };
        self.rest = rest.trim_start();
        Ok(operand)
    }
}

/// Up to white space or an operator, outside of quotes and brackets.
fn operand_length(text: &str) -> usize {
    let (mut quote, mut brackets, mut escaped) = (None, 0_usize, false);
    for (at, c) in text.char_indices() {
        match quote {
            Some(_) if escaped => escaped = false,
            Some(_) if c == '\\' => escaped = true,
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None => match c {
                '"' | '\'' => quote = Some(c),
                '[' => brackets += 1,
                ']' => brackets = brackets.saturating_sub(1),
                _ if brackets > 0 => {}
                ')' | '&' | '|' | '=' | '!' | '<' | '>' => return at,
                c if c.is_whitespace() => return at,
                _ => {}
            },
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;

    fn holds(text: &str) -> Result<bool, String> {
        let mut names = Names::default();
        names.add("t", 0);
        let input = json!({ "n": 3, "on": true, "name": "a b" });
        let scope = Scope {
            input: &input,
            outputs: &[Some(Arc::new(json!({ "list": [], "s": "x" })))],
            errors: &[None],
            item: None,
        };
        let condition = Condition::new(&json!(text), &names)?;
        condition.holds(&scope).map_err(|error| error.to_string())
    }

    #[test]
    fn conditions_hold_or_not() {
        for (text, expected) in [
            ("$INPUT.on", true),
            ("!$INPUT.on", false),
            ("$INPUT.n > 2", true),
            ("$INPUT.n>=3", true),
            ("$INPUT.n < 3 || $OUTPUT[t].s == \"x\"", true),
            ("$INPUT.n == 3 && !($OUTPUT[t].list)", true),
            ("$INPUT.name === 'a b'", true),
            ("$INPUT[\"name\"] != \"b\"", true),
            ("$ERROR[t]", false),
            ("$INPUT.missing?", false),
            ("$INPUT.n == \"3\"", false),
            ("1 < 2", true),
        ] {
            assert_eq!(holds(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        for text in [
            "",
            "$INPUT.n >",
            "(1",
            "1 2",
            "foo",
            "$OUTPUT[x]",
            "$INPUT.missing",
        ] {
            assert!(holds(text).is_err(), "{text}");
        }
        assert!(holds(&"!".repeat(100_000)).is_err());
        assert!(holds(&"(".repeat(100_000)).is_err());
    }
}
