//! Resolves `$ref`.

use serde_json::Value;

/// References to references that are followed.
const MAX_HOPS: usize = 16;

/// Returns the schema that `reference` points to in the document `root`: a JSON pointer, an anchor or an
/// `$id`. Nothing is downloaded: a target outside of the document is `None`.
pub fn resolve<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
    let within = match document {
        "" => root,
        id if root["$id"].as_str().map(without_fragment) == Some(id) => root,
        id => definitions(root).find(|definition| definition["$id"].as_str() == Some(id))?,
    };
    if fragment.is_empty() || fragment.starts_with('/') {
        return within.pointer(&percent_decoded(fragment));
    }
    let anchored = |schema: &Value| {
        ["$anchor", "$dynamicAnchor"]
            .iter()
            .any(|key| schema[*key].as_str() == Some(fragment))
            || schema["$id"].as_str().and_then(|id| id.strip_prefix('#')) == Some(fragment)
    };
    if anchored(within) {
        return Some(within);
    }
    definitions(within).find(|definition| anchored(definition))
}

/// The first target that is not itself a mere reference, with a name for it.
pub fn follow<'a>(root: &'a Value, reference: &str) -> Option<(&'a Value, String)> {
    let mut reference = reference;
    for _ in 0..MAX_HOPS {
        let target = resolve(root, reference)?;
        match target.as_object().filter(|keywords| keywords.len() == 1) {
            Some(keywords) if let Some(Value::String(next)) = keywords.get("$ref") => {
                reference = next;
            }
            _ => return Some((target, name_of(target, reference))),
        }
    }
    None
}

fn name_of(target: &Value, reference: &str) -> String {
    let last = reference.rsplit(['/', '#']).next().unwrap_or_default();
    let own = || target["title"].as_str().unwrap_or("Self").to_owned();
    match last {
        "" => own(),
        index if index.bytes().all(|byte| byte.is_ascii_digit()) => own(),
        name => percent_decoded(name),
    }
}

fn definitions(root: &Value) -> impl Iterator<Item = &Value> {
    ["$defs", "definitions"]
        .into_iter()
        .filter_map(|key| root.get(key)?.as_object())
        .flat_map(|definitions| definitions.values())
}

fn without_fragment(id: &str) -> &str {
    id.strip_suffix('#').unwrap_or(id)
}

/// Decodes percent escapes; invalid ones are left unchanged.
fn percent_decoded(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let byte = (bytes[at] == b'%')
            .then(|| text.get(at + 1..at + 3))
            .flatten()
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match byte {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn pointers_anchors_and_ids_lead_into_the_document() {
        let root = json!({
            "$id": "https://example.test/a",
            "$defs": {
                "a b": { "const": 1 },
                "n": { "$anchor": "named", "const": 2 },
                "i": { "$id": "other", "const": 3 },
            },
            "definitions": { "x/y": { "const": 4 } },
        });
        let found = |reference| resolve(&root, reference).map(|schema| schema["const"].clone());
        assert_eq!(found("#/$defs/a%20b"), Some(json!(1)));
        assert_eq!(found("https://example.test/a#/$defs/a b"), Some(json!(1)));
        assert_eq!(found("#named"), Some(json!(2)));
        assert_eq!(found("other"), Some(json!(3)));
        assert_eq!(found("#/definitions/x~1y"), Some(json!(4)));
        assert_eq!(resolve(&root, "#"), Some(&root));
        for nowhere in [
            "#/$defs/z",
            "#no",
            "https://example.test/b",
            "%",
            "#%zz",
            "#/%",
        ] {
            assert_eq!(resolve(&root, nowhere), None, "{nowhere}");
        }
    }

    #[test]
    fn references_that_only_point_to_each_other_do_not_resolve() {
        let root =
            json!({ "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "$ref": "#/$defs/a" } } });
        assert!(follow(&root, "#/$defs/a").is_none());
    }
}
