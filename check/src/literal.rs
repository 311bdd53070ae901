//! Values that are written out in a script, as far as they are.

use swc_core::common::{Span, Spanned};
use swc_core::ecma::ast::{Expr, Lit, Prop, PropOrSpread, TsKeywordTypeKind, TsType, UnaryOp};

use crate::api::name_of;

#[derive(Debug)]
pub struct Literal {
    pub span: Span,
    pub value: Known,
}

/// What is certain about a value.
#[derive(Debug)]
pub enum Known {
    /// It may be anything.
    Nothing,
    Undefined,
    Null,
    Boolean(bool),
    Number(f64),
    /// A text, and which, where no part of it is computed.
    Text(Option<String>),
    Array {
        items: Vec<Literal>,
        /// Nothing was spread into it.
        whole: bool,
    },
    Object {
        fields: Vec<Field>,
        /// Every key is known.
        whole: bool,
    },
}

#[derive(Debug)]
pub struct Field {
    pub name: String,
    pub key: Span,
    pub value: Literal,
}

/// An expression without parentheses and without what only the type checker reads.
pub fn bare(expr: &Expr) -> &Expr {
    match expr {
        Expr::Paren(paren) => bare(&paren.expr),
        Expr::TsAs(cast) => bare(&cast.expr),
        Expr::TsSatisfies(cast) => bare(&cast.expr),
        Expr::TsConstAssertion(cast) => bare(&cast.expr),
        Expr::TsNonNull(cast) => bare(&cast.expr),
        Expr::TsTypeAssertion(cast) => bare(&cast.expr),
        other => other,
    }
}

/// Whoever writes `as any` knows better.
pub fn is_overruled(expr: &Expr) -> bool {
    let overrules = |ty: &TsType| {
        matches!(ty, TsType::TsKeywordType(word) if matches!(
            word.kind,
            TsKeywordTypeKind::TsAnyKeyword | TsKeywordTypeKind::TsNeverKeyword | TsKeywordTypeKind::TsUnknownKeyword
        ))
    };
    match expr {
        Expr::Paren(paren) => is_overruled(&paren.expr),
        Expr::TsAs(cast) => overrules(&cast.type_ann) || is_overruled(&cast.expr),
        Expr::TsTypeAssertion(cast) => overrules(&cast.type_ann) || is_overruled(&cast.expr),
        _ => false,
    }
}

/// A text that is written out.
pub fn text(expr: &Expr) -> Option<String> {
    match read(expr).value {
        Known::Text(text) => text,
        _ => None,
    }
}

pub fn read(expr: &Expr) -> Literal {
    let span = expr.span();
    if is_overruled(expr) {
        return Literal {
            span,
            value: Known::Nothing,
        };
    }
    let value = match bare(expr) {
        Expr::Lit(Lit::Str(text)) => Known::Text(text.value.as_str().map(str::to_owned)),
        Expr::Lit(Lit::Num(number)) => Known::Number(number.value),
        Expr::Lit(Lit::Bool(value)) => Known::Boolean(value.value),
        Expr::Lit(Lit::Null(_)) => Known::Null,
        Expr::Ident(name) if name.sym == "undefined" => Known::Undefined,
        Expr::Tpl(template) => match template.quasis.as_slice() {
            [only] if template.exprs.is_empty() => {
                let cooked = only.cooked.as_ref().and_then(|text| text.as_str());
                Known::Text(cooked.map(str::to_owned))
            }
            _ => Known::Text(None),
        },
        Expr::Unary(unary) if unary.op == UnaryOp::Minus => match read(&unary.arg).value {
            Known::Number(number) => Known::Number(-number),
            _ => Known::Nothing,
        },
        Expr::Array(array) => {
            let mut whole = true;
            let mut items = Vec::new();
            for element in &array.elems {
                match element {
                    Some(element) if element.spread.is_none() => items.push(read(&element.expr)),
                    // What follows has a place that nobody knows.
                    _ => {
                        whole = false;
                        break;
                    }
                }
            }
            Known::Array { items, whole }
        }
        Expr::Object(object) => read_object(&object.props),
        _ => Known::Nothing,
    };
    Literal { span, value }
}

fn read_object(props: &[PropOrSpread]) -> Known {
    let mut fields: Vec<Field> = Vec::new();
    let mut whole = true;
    for prop in props {
        let field = match prop {
            PropOrSpread::Prop(prop) => read_field(prop),
            PropOrSpread::Spread(_) => None,
        };
        match field {
            // The last of two wins.
            Some(field) => {
                fields.retain(|known| known.name != field.name);
                fields.push(field);
            }
            // Any key may come from here, over those before it.
            None => {
                whole = false;
                for field in &mut fields {
                    field.value.value = Known::Nothing;
                }
            }
        }
    }
    Known::Object { fields, whole }
}

fn read_field(prop: &Prop) -> Option<Field> {
    let unknown = |span| Literal {
        span,
        value: Known::Nothing,
    };
    let (name, key, value) = match prop {
        Prop::KeyValue(pair) => {
            // Sets the prototype, and no field.
            let name = name_of(&pair.key).filter(|name| name != "__proto__")?;
            (name, pair.key.span(), read(&pair.value))
        }
        Prop::Shorthand(name) => {
            let value = match name.sym.as_str() {
                "undefined" => Literal {
                    span: name.span,
                    value: Known::Undefined,
                },
                _ => unknown(name.span),
            };
            (name.sym.to_string(), name.span, value)
        }
        Prop::Getter(getter) => (
            name_of(&getter.key)?,
            getter.key.span(),
            unknown(getter.span),
        ),
        Prop::Method(method) => (
            name_of(&method.key)?,
            method.key.span(),
            unknown(method.key.span()),
        ),
        Prop::Setter(_) | Prop::Assign(_) => return None,
    };
    Some(Field { name, key, value })
}
