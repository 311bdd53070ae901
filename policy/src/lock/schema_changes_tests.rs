use serde_json::json;

use super::*;

fn impacts(side: Side, before: Value, after: Value) -> Vec<(String, Impact)> {
    let mut details = Vec::new();
    compare("x", side, &before, &after, &mut details);
    details
        .into_iter()
        .map(|detail| (detail.place, detail.impact))
        .collect()
}

#[test]
fn what_makes_a_right_call_wrong_breaks() {
    let object = |properties: Value, required: Value| json!({ "type": "object", "properties": properties, "required": required });
    let cases = [
        (
            "a property is gone",
            object(json!({ "a": {} }), json!([])),
            object(json!({}), json!([])),
            Impact::Breaking,
        ),
        (
            "a new one",
            object(json!({}), json!([])),
            object(json!({ "a": {} }), json!([])),
            Impact::Compatible,
        ),
        (
            "a new one that is required",
            object(json!({}), json!([])),
            object(json!({ "a": {} }), json!(["a"])),
            Impact::Breaking,
        ),
        (
            "required",
            object(json!({ "a": {} }), json!([])),
            object(json!({ "a": {} }), json!(["a"])),
            Impact::Breaking,
        ),
        (
            "not required",
            object(json!({ "a": {} }), json!(["a"])),
            object(json!({ "a": {} }), json!([])),
            Impact::Compatible,
        ),
        (
            "another type",
            json!({ "type": "string" }),
            json!({ "type": "integer" }),
            Impact::Breaking,
        ),
        (
            "a wider type",
            json!({ "type": "integer" }),
            json!({ "type": "number" }),
            Impact::Compatible,
        ),
        (
            "a narrower type",
            json!({}),
            json!({ "type": "string" }),
            Impact::Breaking,
        ),
        (
            "two types",
            json!({ "type": "string" }),
            json!({ "type": ["string", "null"] }),
            Impact::Compatible,
        ),
        (
            "a value less",
            json!({ "enum": [1, 2] }),
            json!({ "enum": [1] }),
            Impact::Breaking,
        ),
        (
            "a value more",
            json!({ "enum": [1] }),
            json!({ "enum": [1, 2] }),
            Impact::Compatible,
        ),
        (
            "any value",
            json!({ "enum": [1] }),
            json!({}),
            Impact::Compatible,
        ),
        (
            "a higher minimum",
            json!({ "minimum": 1 }),
            json!({ "minimum": 2 }),
            Impact::Breaking,
        ),
        (
            "a higher maximum",
            json!({ "maximum": 1 }),
            json!({ "maximum": 2 }),
            Impact::Compatible,
        ),
        (
            "a new bound",
            json!({}),
            json!({ "maxLength": 2 }),
            Impact::Breaking,
        ),
        (
            "closed",
            json!({}),
            json!({ "additionalProperties": false }),
            Impact::Breaking,
        ),
        (
            "opened",
            json!({ "additionalProperties": false }),
            json!({}),
            Impact::Compatible,
        ),
        (
            "items",
            json!({ "items": { "type": "string" } }),
            json!({ "items": { "type": "null" } }),
            Impact::Breaking,
        ),
        (
            "a new pattern",
            json!({}),
            json!({ "pattern": "a" }),
            Impact::Breaking,
        ),
        (
            "no pattern",
            json!({ "pattern": "a" }),
            json!({}),
            Impact::Compatible,
        ),
        (
            "alternatives",
            json!({ "anyOf": [{}] }),
            json!({ "anyOf": [{}, {}] }),
            Impact::Breaking,
        ),
        (
            "a reference",
            json!({ "$ref": "#/$defs/a" }),
            json!({ "$ref": "#/$defs/b" }),
            Impact::Breaking,
        ),
        (
            "a definition",
            json!({ "$defs": { "a": { "type": "string" } } }),
            json!({ "$defs": { "a": { "type": "null" } } }),
            Impact::Breaking,
        ),
        (
            "a definition that may be negated",
            json!({ "not": { "$ref": "#/$defs/a" }, "$defs": { "a": { "type": "string" } } }),
            json!({ "not": { "$ref": "#/$defs/a" }, "$defs": { "a": { "type": ["string", "number"] } } }),
            Impact::Breaking,
        ),
        (
            "a definition that was missing",
            json!({ "$ref": "#/$defs/a" }),
            json!({ "$ref": "#/$defs/a", "$defs": { "a": { "type": "string" } } }),
            Impact::Breaking,
        ),
        (
            "another dialect",
            json!({ "$schema": "http://json-schema.org/draft-07/schema#" }),
            json!({ "$schema": "https://json-schema.org/draft/2020-12/schema" }),
            Impact::Breaking,
        ),
        (
            "values beside a constant",
            json!({ "const": 1, "enum": [1] }),
            json!({ "const": 1, "enum": [2] }),
            Impact::Breaking,
        ),
        (
            "a bound of draft 4",
            json!({ "minimum": 1, "exclusiveMinimum": false }),
            json!({ "minimum": 1, "exclusiveMinimum": true }),
            Impact::Breaking,
        ),
        (
            "a bound with many digits",
            json!({ "minimum": 9_007_199_254_740_992_u64 }),
            json!({ "minimum": 9_007_199_254_740_993_u64 }),
            Impact::Breaking,
        ),
        (
            "a type that is none",
            json!({ "type": 5 }),
            json!({ "type": {} }),
            Impact::Breaking,
        ),
        (
            "a property that had the schema of all others",
            json!({ "additionalProperties": { "type": "integer" } }),
            json!({ "additionalProperties": { "type": "integer" }, "properties": { "x": { "type": "string" } } }),
            Impact::Breaking,
        ),
        (
            "a text",
            json!({ "description": "a" }),
            json!({ "description": "b" }),
            Impact::Cosmetic,
        ),
        (
            "a default",
            json!({ "default": 1 }),
            json!({ "default": 2 }),
            Impact::Compatible,
        ),
        (
            "nothing accepted",
            json!({}),
            json!(false),
            Impact::Breaking,
        ),
    ];
    for (case, before, after, expected) in cases {
        let found = impacts(Side::Input, before.clone(), after.clone());
        let impact = found.iter().map(|(_, impact)| *impact).max();
        assert_eq!(impact, Some(expected), "{case}: {found:?}");
        assert_eq!(impacts(Side::Input, before.clone(), before), [], "{case}");
    }
    assert_eq!(impacts(Side::Input, json!({}), json!(true)), []);
    let (one, other) = (
        json!({ "required": ["a", "b"] }),
        json!({ "required": ["b", "a"] }),
    );
    assert_eq!(impacts(Side::Input, one, other), []);
}

#[test]
fn a_result_is_judged_from_its_reader() {
    let cases = [
        (
            json!({ "type": "number" }),
            json!({ "type": "integer" }),
            Impact::Compatible,
        ),
        (
            json!({ "type": "string" }),
            json!({ "type": ["string", "null"] }),
            Impact::Breaking,
        ),
        (
            json!({ "enum": [1] }),
            json!({ "enum": [1, 2] }),
            Impact::Breaking,
        ),
        (json!({ "required": ["a"] }), json!({}), Impact::Breaking),
        (json!({}), json!({ "required": ["a"] }), Impact::Compatible),
    ];
    for (before, after, expected) in cases {
        let found = impacts(Side::Output, before, after.clone());
        assert_eq!(
            found.iter().map(|(_, impact)| *impact).max(),
            Some(expected),
            "{after}"
        );
    }
}

#[test]
fn a_difference_says_where_it_is() {
    let schema = |kind: &str| json!({ "properties": { "list": { "items": { "properties": { "at": { "type": kind } } } } } });
    let found = impacts(Side::Input, schema("string"), schema("number"));
    assert_eq!(found, [("x.list[].at".to_owned(), Impact::Breaking)]);
}

#[test]
fn many_small_differences_hide_no_large_one() {
    let schema = |text: &str, kind: &str| {
        let mut properties: Map<String, Value> = Map::new();
        for n in 0..500 {
            properties.insert(format!("p{n}"), json!({ "description": text }));
        }
        properties.insert("zz".to_owned(), json!({ "type": kind }));
        json!({ "properties": properties })
    };
    let found = impacts(Side::Input, schema("a", "string"), schema("b", "integer"));
    assert_eq!(
        found.iter().map(|(_, impact)| *impact).max(),
        Some(Impact::Breaking)
    );
}
