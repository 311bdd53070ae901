//! Types without parts: keywords, literals and templates of texts.

use serde_json::json;
use swc_core::common::BytePos;
use swc_core::ecma::ast::{TsKeywordTypeKind, TsLit, TsTplLitType, TsType};

use super::declarations::number;
use super::typed::{Reading, Typed, Unsupported};
use super::unions::one_of;

pub fn keyword_type(kind: TsKeywordTypeKind, at: BytePos) -> Reading {
    let plain = |name: &str| Ok(Typed::of(json!({ "type": name })));
    let no = |what: &str| Err(Unsupported::new(at, what));
    match kind {
        TsKeywordTypeKind::TsAnyKeyword | TsKeywordTypeKind::TsUnknownKeyword => {
            Ok(Typed::of(json!({})))
        }
        TsKeywordTypeKind::TsNumberKeyword => plain("number"),
        TsKeywordTypeKind::TsObjectKeyword => plain("object"),
        TsKeywordTypeKind::TsBooleanKeyword => plain("boolean"),
        TsKeywordTypeKind::TsStringKeyword => plain("string"),
        TsKeywordTypeKind::TsNullKeyword => plain("null"),
        TsKeywordTypeKind::TsVoidKeyword | TsKeywordTypeKind::TsUndefinedKeyword => {
            Ok(Typed::undefined())
        }
        TsKeywordTypeKind::TsBigIntKeyword => {
            no("a `bigint` is no JSON: use `number`, or a string of digits")
        }
        TsKeywordTypeKind::TsSymbolKeyword => no("a `symbol` is no JSON: use a string"),
        TsKeywordTypeKind::TsNeverKeyword | TsKeywordTypeKind::TsIntrinsicKeyword => {
            no("the type `never` has no value: leave it out")
        }
    }
}

pub fn literal_type(literal: &TsLit, at: BytePos) -> Reading {
    let value = match literal {
        TsLit::Number(n) => number(n.value),
        TsLit::Str(text) => text.value.to_string_lossy().into_owned().into(),
        TsLit::Bool(bool) => bool.value.into(),
        TsLit::BigInt(_) => {
            return Err(Unsupported::new(at, "a `bigint` is no JSON: use `number`"));
        }
        TsLit::Tpl(template) => return template_type(template, at),
    };
    Ok(Typed::of(one_of(vec![value])))
}

/// `` `v${number}` `` as a pattern.
fn template_type(template: &TsTplLitType, at: BytePos) -> Reading {
    let mut pattern = String::from("^");
    for (n, quasi) in template.quasis.iter().enumerate() {
        let text = quasi.cooked.as_ref().map(|text| text.to_string_lossy());
        for c in text.unwrap_or_default().chars() {
            if !c.is_alphanumeric() && c.is_ascii() {
                pattern.push('\\');
            }
            pattern.push(c);
        }
        match template.types.get(n).map(|ty| &**ty) {
            None => {}
            Some(TsType::TsKeywordType(keyword)) => match keyword.kind {
                TsKeywordTypeKind::TsStringKeyword => pattern.push_str("[\\s\\S]*"),
                TsKeywordTypeKind::TsNumberKeyword => pattern.push_str("-?[0-9]+(\\.[0-9]+)?"),
                _ => {
                    let message = "a template type is understood with `string` and `number`";
                    return Err(Unsupported::new(at, message));
                }
            },
            Some(_) => {
                let message = "a template type is understood with `string` and `number`";
                return Err(Unsupported::new(at, message));
            }
        }
    }
    pattern.push('$');
    Ok(Typed::of(json!({ "type": "string", "pattern": pattern })))
}
