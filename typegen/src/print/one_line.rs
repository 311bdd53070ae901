//! Prints a type on one line, with `...` for what is left out.

use std::cell::Cell;

use super::{is_compound, key};
use crate::type_graph::{NamedType, Object, Tuple, Type};

/// How much of a type is printed.
#[derive(Debug, Clone, Copy)]
pub struct DetailLimits {
    /// Nesting levels of objects.
    pub depth: usize,
    /// Members of a union.
    pub members: usize,
    /// Optional fields of one object.
    pub optional: usize,
    /// Fields of one object, required and optional ones.
    pub fields: usize,
}

/// Types that are printed on one line.
const FUEL: usize = 600;

/// Prints types on one line.
pub struct OneLinePrinter<'a> {
    named: &'a [NamedType],
    detail: DetailLimits,
    /// How many types may still be printed; nested names can multiply.
    fuel: Cell<usize>,
}

const MORE: &str = "...";

impl<'a> OneLinePrinter<'a> {
    /// A printer that resolves names in `named`.
    pub fn new(named: &'a [NamedType], detail: DetailLimits) -> Self {
        Self {
            named,
            detail,
            fuel: Cell::new(FUEL),
        }
    }

    /// The type, cut to the limits.
    pub fn print(&self, ty: &Type) -> String {
        self.nested(ty, self.detail.depth, &mut Vec::new())
    }

    /// `within` holds the names that are being printed, so that a recursive type is not expanded again.
    fn nested(&self, ty: &Type, depth: usize, within: &mut Vec<usize>) -> String {
        match self.fuel.get().checked_sub(1) {
            Some(left) => self.fuel.set(left),
            None => return MORE.to_owned(),
        }
        match ty {
            Type::Unknown => "unknown".to_owned(),
            Type::Never => "never".to_owned(),
            Type::Null => "null".to_owned(),
            Type::Boolean => "boolean".to_owned(),
            Type::Number => "number".to_owned(),
            Type::String => "string".to_owned(),
            Type::Literal(text) => text.clone(),
            Type::Array(item) => format!("{}[]", self.grouped(item, depth, within)),
            Type::Tuple(tuple) => self.tuple(tuple, depth, within),
            Type::Object(object) => self.object(object, depth, within),
            Type::Union(members) => {
                let shown = members.iter().take(self.detail.members);
                let mut shown: Vec<String> = shown
                    .map(|member| self.nested(member, depth, within))
                    .collect();
                shown.dedup();
                if members.len() > self.detail.members {
                    shown.push(MORE.to_owned());
                }
                shown.join(" | ")
            }
            Type::Intersection(members) => {
                let shown = members
                    .iter()
                    .map(|member| self.grouped(member, depth, within));
                shown.collect::<Vec<_>>().join(" & ")
            }
            Type::Named(index) => match self.named.get(*index) {
                Some(named) if !within.contains(index) && within.len() < 8 => {
                    within.push(*index);
                    let printed = self.nested(&named.ty, depth, within);
                    within.pop();
                    printed
                }
                _ => MORE_OBJECT.to_owned(),
            },
        }
    }

    fn grouped(&self, ty: &Type, depth: usize, within: &mut Vec<usize>) -> String {
        let printed = self.nested(ty, depth, within);
        let inner = match ty {
            Type::Named(index) => self.named.get(*index).map_or(ty, |named| &named.ty),
            other => other,
        };
        if is_compound(inner) || printed.contains(" | ") && matches!(inner, Type::Named(_)) {
            format!("({printed})")
        } else {
            printed
        }
    }

    fn tuple(&self, tuple: &Tuple, depth: usize, within: &mut Vec<usize>) -> String {
        let mut items = Vec::new();
        for (index, item) in tuple.items.iter().enumerate() {
            if index == self.detail.members {
                items.push(MORE.to_owned());
                break;
            }
            let optional = if index < tuple.required { "" } else { "?" };
            items.push(format!("{}{optional}", self.grouped(item, depth, within)));
        }
        if let Some(rest) = &tuple.rest {
            items.push(format!("...{}[]", self.grouped(rest, depth, within)));
        }
        format!("[{}]", items.join(", "))
    }

    fn object(&self, object: &Object, depth: usize, within: &mut Vec<usize>) -> String {
        if object.fields.is_empty() {
            return match &object.index_signature {
                Some(index) if index.ty == Type::Unknown => "object".to_owned(),
                Some(index) if depth > 0 => {
                    format!(
                        "Record<string, {}>",
                        self.nested(&index.ty, depth - 1, within)
                    )
                }
                Some(_) => "object".to_owned(),
                None if object.closed => "{}".to_owned(),
                None => "object".to_owned(),
            };
        }
        let Some(depth) = depth.checked_sub(1) else {
            return MORE_OBJECT.to_owned();
        };
        let mut fields = Vec::new();
        let mut left_out = false;
        let mut optional = 0;
        // Required fields come first.
        let required_first = [false, true].into_iter().flat_map(|kind| {
            object
                .fields
                .iter()
                .filter(move |field| field.optional == kind)
        });
        for field in required_first {
            optional += usize::from(field.optional);
            if optional > self.detail.optional || fields.len() == self.detail.fields {
                left_out = true;
                break;
            }
            let mark = if field.optional { "?" } else { "" };
            let ty = self.nested(&field.ty, depth, within);
            fields.push(format!("{}{mark}: {ty}", key(&field.name)));
        }
        if left_out || object.index_signature.is_some() {
            fields.push(MORE.to_owned());
        }
        format!("{{ {} }}", fields.join(", "))
    }
}

const MORE_OBJECT: &str = "{ ... }";
