//! Prints a type on as many lines as it needs, with its comments; nothing is left out.

use super::{comment, is_compound, key};
use crate::type_graph::{IndexSignature, Object, Tuple, Type};

const STEP: &str = "  ";
/// Columns of an object, a union or a tuple that is kept on one line.
const WIDTH: usize = 88;

/// Prints types over several lines.
pub struct MultiLinePrinter<'a> {
    /// The name in the file of each named type of the graph.
    pub names: &'a [String],
    /// The indentation of the line that the type begins on.
    pub indent: String,
}

impl MultiLinePrinter<'_> {
    /// The type, on one line if it fits and has no comments.
    pub fn print(&self, ty: &Type) -> String {
        let mut line = String::new();
        // The attempt stops when the line is full, so it is cheap at any depth.
        if self.line(ty, &mut line).is_some() {
            return line;
        }
        match ty {
            Type::Array(item) => format!("{}[]", self.grouped(item)),
            Type::Tuple(tuple) => self.tuple(tuple),
            Type::Object(object) => format!("{{\n{}{}}}", self.members(object), self.indent),
            Type::Union(members) => self.joined(members, '|'),
            Type::Intersection(members) => self.joined(members, '&'),
            Type::Literal(text) => text.clone(),
            // Keywords always fit.
            other => keyword(other).to_owned(),
        }
    }

    /// Appends `ty` to `out`; `None` if it does not fit or has comments.
    fn line(&self, ty: &Type, out: &mut String) -> Option<()> {
        match ty {
            Type::Literal(text) => out.push_str(text),
            Type::Named(index) => {
                out.push_str(self.names.get(*index).map_or("unknown", String::as_str));
            }
            Type::Array(item) => {
                self.grouped_line(item, out)?;
                out.push_str("[]");
            }
            Type::Tuple(tuple) => {
                out.push('[');
                for (index, item) in tuple.items.iter().enumerate() {
                    out.push_str(if index > 0 { ", " } else { "" });
                    self.grouped_line(item, out)?;
                    out.push_str(if index < tuple.required { "" } else { "?" });
                }
                if let Some(rest) = &tuple.rest {
                    out.push_str(if tuple.items.is_empty() {
                        "..."
                    } else {
                        ", ..."
                    });
                    self.grouped_line(rest, out)?;
                    out.push_str("[]");
                }
                out.push(']');
            }
            Type::Object(object) => self.object_line(object, out)?,
            Type::Union(members) | Type::Intersection(members) => {
                let is_union = matches!(ty, Type::Union(_));
                for (index, member) in members.iter().enumerate() {
                    match (index, is_union) {
                        (0, _) => {}
                        (_, true) => out.push_str(" | "),
                        (_, false) => out.push_str(" & "),
                    }
                    match is_union {
                        true => self.line(member, out)?,
                        false => self.grouped_line(member, out)?,
                    }
                }
            }
            other => out.push_str(keyword(other)),
        }
        (out.len() <= WIDTH).then_some(())
    }

    fn grouped_line(&self, ty: &Type, out: &mut String) -> Option<()> {
        if !is_compound(ty) {
            return self.line(ty, out);
        }
        out.push('(');
        self.line(ty, out)?;
        out.push(')');
        Some(())
    }

    fn object_line(&self, object: &Object, out: &mut String) -> Option<()> {
        match (object.fields.is_empty(), &object.index_signature) {
            (true, None) if object.closed => out.push_str("Record<string, never>"),
            (true, None) => out.push_str("object"),
            (true, Some(index)) if index.doc.is_empty() => {
                out.push_str("{ [key: string]: ");
                self.line(&index.ty, out)?;
                out.push_str(" }");
            }
            (_, Some(_)) => return None,
            (false, None) => {
                out.push_str("{ ");
                for (index, field) in object.fields.iter().enumerate() {
                    if !field.doc.is_empty() {
                        return None;
                    }
                    out.push_str(if index > 0 { "; " } else { "" });
                    out.push_str(&key(&field.name));
                    out.push_str(if field.optional { "?: " } else { ": " });
                    self.line(&field.ty, out)?;
                }
                out.push_str(" }");
            }
        }
        Some(())
    }

    fn grouped(&self, ty: &Type) -> String {
        let printed = self.print(ty);
        if is_compound(ty) {
            format!("({printed})")
        } else {
            printed
        }
    }

    fn deeper(&self) -> Self {
        Self {
            names: self.names,
            indent: format!("{}{STEP}", self.indent),
        }
    }

    fn joined(&self, members: &[Type], operator: char) -> String {
        let deeper = self.deeper();
        let lines = members.iter().map(|member| {
            let member = deeper.grouped(member);
            format!("\n{}{operator} {member}", deeper.indent)
        });
        lines.collect()
    }

    fn tuple(&self, tuple: &Tuple) -> String {
        let deeper = self.deeper();
        let indent = &deeper.indent;
        let mut out = "[\n".to_owned();
        for (index, item) in tuple.items.iter().enumerate() {
            let optional = if index < tuple.required { "" } else { "?" };
            out.push_str(&format!("{indent}{}{optional},\n", deeper.grouped(item)));
        }
        if let Some(rest) = &tuple.rest {
            out.push_str(&format!("{indent}...{}[],\n", deeper.grouped(rest)));
        }
        out.push_str(&self.indent);
        out.push(']');
        out
    }

    /// The lines between the braces of an object or an interface.
    pub fn members(&self, object: &Object) -> String {
        let deeper = self.deeper();
        let indent = &deeper.indent;
        let mut out = String::new();
        for field in &object.fields {
            out.push_str(&comment(&field.doc, indent));
            let mark = if field.optional { "?" } else { "" };
            let ty = deeper.print(&field.ty);
            let gap = gap_before(&ty);
            out.push_str(&format!("{indent}{}{mark}:{gap}{ty};\n", key(&field.name)));
        }
        if let Some(index) = &object.index_signature {
            out.push_str(&deeper.index_signature(index, object.fields.is_empty()));
        }
        out
    }

    /// An index signature must be compatible with the fields beside it, so it is `unknown` there, and
    /// its type goes into the comment.
    fn index_signature(&self, index: &IndexSignature, alone: bool) -> String {
        let indent = &self.indent;
        let printed = self.print(&index.ty);
        if alone || index.ty == Type::Unknown {
            let comment = comment(&index.doc, indent);
            let gap = gap_before(&printed);
            return format!("{comment}{indent}[key: string]:{gap}{printed};\n");
        }
        let mut doc = index.doc.clone();
        if !printed.contains('\n') && printed.len() <= WIDTH {
            doc.tags.push(("additionalProperties".to_owned(), printed));
        }
        let comment = comment(&doc, indent);
        format!("{comment}{indent}[key: string]: unknown;\n")
    }
}

/// The separator before a printed type: none before a multi-line union, which begins with a line break.
pub fn gap_before(printed: &str) -> &'static str {
    if printed.starts_with('\n') { "" } else { " " }
}

fn keyword(ty: &Type) -> &'static str {
    match ty {
        Type::Never => "never",
        Type::Null => "null",
        Type::Boolean => "boolean",
        Type::Number => "number",
        Type::String => "string",
        _ => "unknown",
    }
}
