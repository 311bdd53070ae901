//! Literals of a script: the parts of a value that are certain.

use swc_core::common::{Span, Spanned};
use swc_core::ecma::ast::{Expr, Lit, Prop, PropOrSpread, TsKeywordTypeKind, TsType, UnaryOp};

use crate::api_bindings::key_name;

/// An expression and what is certain about its value.
#[derive(Debug)]
pub struct Literal {
    pub span: Span,
    pub value: KnownValue,
}

/// What is certain about a value.
#[derive(Debug)]
pub enum KnownValue {
    /// Any value.
    Unknown,
    Undefined,
    Null,
    Boolean(bool),
    Number(f64),
    /// A string; its content unless a part of it is computed.
    Text(Option<String>),
    Array {
        items: Vec<Literal>,
        /// Nothing is spread into it.
        complete: bool,
    },
    Object {
        fields: Vec<Field>,
        /// Every key is known.
        complete: bool,
    },
}

/// A property of an object literal.
#[derive(Debug)]
pub struct Field {
    pub name: String,
    pub key: Span,
    pub value: Literal,
}

/// An expression without parentheses and type assertions.
pub fn without_casts(expr: &Expr) -> &Expr {
    match expr {
        Expr::Paren(paren) => without_casts(&paren.expr),
        Expr::TsAs(cast) => without_casts(&cast.expr),
        Expr::TsSatisfies(cast) => without_casts(&cast.expr),
        Expr::TsConstAssertion(cast) => without_casts(&cast.expr),
        Expr::TsNonNull(cast) => without_casts(&cast.expr),
        Expr::TsTypeAssertion(cast) => without_casts(&cast.expr),
        other => other,
    }
}

/// Whether the author casts the expression to `any`, `unknown` or `never`: then the types are not
/// reported.
pub fn is_cast_to_any(expr: &Expr) -> bool {
    let is_any = |ty: &TsType| {
        matches!(ty, TsType::TsKeywordType(word) if matches!(
            word.kind,
            TsKeywordTypeKind::TsAnyKeyword | TsKeywordTypeKind::TsNeverKeyword | TsKeywordTypeKind::TsUnknownKeyword
        ))
    };
    match expr {
        Expr::Paren(paren) => is_cast_to_any(&paren.expr),
        Expr::TsAs(cast) => is_any(&cast.type_ann) || is_cast_to_any(&cast.expr),
        Expr::TsTypeAssertion(cast) => is_any(&cast.type_ann) || is_cast_to_any(&cast.expr),
        _ => false,
    }
}

/// The content of a string literal.
pub fn text(expr: &Expr) -> Option<String> {
    match read(expr).value {
        KnownValue::Text(text) => text,
        _ => None,
    }
}

/// Reads an expression as far as it is a literal.
pub fn read(expr: &Expr) -> Literal {
    let span = expr.span();
    if is_cast_to_any(expr) {
        return Literal {
            span,
            value: KnownValue::Unknown,
        };
    }
    let value = match without_casts(expr) {
        Expr::Lit(Lit::Str(text)) => KnownValue::Text(text.value.as_str().map(str::to_owned)),
        Expr::Lit(Lit::Num(number)) => KnownValue::Number(number.value),
        Expr::Lit(Lit::Bool(value)) => KnownValue::Boolean(value.value),
        Expr::Lit(Lit::Null(_)) => KnownValue::Null,
        Expr::Ident(name) if name.sym == "undefined" => KnownValue::Undefined,
        Expr::Tpl(template) => match template.quasis.as_slice() {
            [only] if template.exprs.is_empty() => {
                let cooked = only.cooked.as_ref().and_then(|text| text.as_str());
                KnownValue::Text(cooked.map(str::to_owned))
            }
            _ => KnownValue::Text(None),
        },
        Expr::Unary(unary) if unary.op == UnaryOp::Minus => match read(&unary.arg).value {
            KnownValue::Number(number) => KnownValue::Number(-number),
            _ => KnownValue::Unknown,
        },
        Expr::Array(array) => {
            let mut complete = true;
            let mut items = Vec::new();
            for element in &array.elems {
                match element {
                    Some(element) if element.spread.is_none() => items.push(read(&element.expr)),
                    // The indexes after a spread are unknown.
                    _ => {
                        complete = false;
                        break;
                    }
                }
            }
            KnownValue::Array { items, complete }
        }
        Expr::Object(object) => read_object(&object.props),
        _ => KnownValue::Unknown,
    };
    Literal { span, value }
}

fn read_object(props: &[PropOrSpread]) -> KnownValue {
    let mut fields: Vec<Field> = Vec::new();
    let mut complete = true;
    for prop in props {
        let field = match prop {
            PropOrSpread::Prop(prop) => read_field(prop),
            PropOrSpread::Spread(_) => None,
        };
        match field {
            // The last of two equal keys wins.
            Some(field) => {
                fields.retain(|known| known.name != field.name);
                fields.push(field);
            }
            // A spread may set any key, and override those before it.
            None => {
                complete = false;
                for field in &mut fields {
                    field.value.value = KnownValue::Unknown;
                }
            }
        }
    }
    KnownValue::Object { fields, complete }
}

fn read_field(prop: &Prop) -> Option<Field> {
    let unknown = |span| Literal {
        span,
        value: KnownValue::Unknown,
    };
    let (name, key, value) = match prop {
        Prop::KeyValue(pair) => {
            // `__proto__` sets the prototype.
            let name = key_name(&pair.key).filter(|name| name != "__proto__")?;
            (name, pair.key.span(), read(&pair.value))
        }
        Prop::Shorthand(name) => {
            let value = match name.sym.as_str() {
                "undefined" => Literal {
                    span: name.span,
                    value: KnownValue::Undefined,
                },
                _ => unknown(name.span),
            };
            (name.sym.to_string(), name.span, value)
        }
        Prop::Getter(getter) => (
            key_name(&getter.key)?,
            getter.key.span(),
            unknown(getter.span),
        ),
        Prop::Method(method) => (
            key_name(&method.key)?,
            method.key.span(),
            unknown(method.key.span()),
        ),
        Prop::Setter(_) | Prop::Assign(_) => return None,
    };
    Some(Field { name, key, value })
}
