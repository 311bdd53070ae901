//! Tests of the measures of schemas.

use serde_json::{Map, Value, json};

use super::*;

fn problem(schema: Value) -> Option<SchemaProblem> {
    SchemaGraph::new(&schema).err()
}

fn chain(length: usize, link: impl Fn(Value) -> Value) -> Value {
    let mut definitions = Map::new();
    for at in 0..length {
        let next = json!({ "$ref": format!("#/$defs/d{}", at + 1) });
        definitions.insert(format!("d{at}"), link(next));
    }
    definitions.insert(format!("d{length}"), json!({ "type": "object" }));
    json!({ "$ref": "#/$defs/d0", "$defs": definitions })
}

#[test]
fn ordinary_schemas_have_no_problem() {
    for schema in [
        json!({ "type": "object" }),
        json!(true),
        json!({ "$id": "https://example.test/a", "$ref": "https://example.test/a#/$defs/b", "$defs": { "b": {} } }),
        json!({ "properties": { "$ref": { "type": "string" }, "$id": { "type": "string" } } }),
        json!({ "properties": { "a": { "$id": "#/properties/a", "type": "string" } } }),
        json!({ "properties": { "next": { "$ref": "#" } } }),
        json!({ "$defs": { "a b": {} }, "$ref": "#/$defs/a%20b" }),
        json!({ "$defs": { "a/b": {} }, "$ref": "#/$defs/a~1b" }),
        chain(40, |next| json!({ "properties": { "a": next } })),
    ] {
        assert_eq!(problem(schema.clone()), None, "{schema}");
    }
}

#[test]
fn many_paths_are_counted_and_not_walked() {
    for keyword in ["allOf", "anyOf", "oneOf", "prefixItems"] {
        let schema = chain(20, |next| json!({ keyword: [next, next] }));
        assert_eq!(problem(schema), Some(SchemaProblem::TooLarge), "{keyword}");
    }
    let schema = chain(40, |next| json!({ "properties": { "a": next, "b": next } }));
    assert_eq!(problem(schema), Some(SchemaProblem::TooLarge));
    let schema = chain(
        12,
        |next| json!({ "allOf": [next], "unevaluatedProperties": false }),
    );
    assert_eq!(problem(schema), Some(SchemaProblem::TooLarge));
}

#[test]
fn long_chains_are_too_deep_and_overflow_no_stack() {
    let schema = chain(30_000, |next| json!({ "properties": { "a": next } }));
    assert!(problem(schema).is_some());
    let schema = chain(300, |next| json!({ "items": next }));
    assert_eq!(problem(schema), Some(SchemaProblem::TooDeep));
    let schema = chain(60, |next| json!({ "not": next }));
    assert_eq!(problem(schema), Some(SchemaProblem::TooDeep));
}

#[test]
fn a_reference_to_itself_on_the_same_value_has_no_end() {
    for schema in [
        json!({ "$ref": "#" }),
        json!({ "anyOf": [{ "type": "string" }, { "$ref": "#" }] }),
        json!({ "$ref": "#/$defs/a", "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "not": { "$ref": "#/$defs/a" } } } }),
    ] {
        assert_eq!(
            problem(schema.clone()),
            Some(SchemaProblem::Endless),
            "{schema}"
        );
    }
}

#[test]
fn references_that_are_not_followed_are_named() {
    for schema in [
        json!({ "$ref": "https://example.test/x.json" }),
        json!({ "$ref": "#/$defs/missing" }),
        json!({ "$ref": "#anchor" }),
        json!({ "$ref": "" }),
        json!({ "$ref": 7 }),
        json!({ "$dynamicRef": "#node" }),
        json!({ "properties": { "a": { "$id": "b.json", "$ref": "#/$defs/c" } }, "$defs": { "c": {} } }),
    ] {
        let found = problem(schema.clone());
        assert!(
            matches!(found, Some(SchemaProblem::Reference(_))),
            "{schema}: {found:?}"
        );
    }
}

#[test]
fn repetitions_multiply_the_work_of_a_pattern() {
    assert!(pattern_work("^[a-z]+$") < 20);
    assert!(pattern_work("([ab]{100}){100}") > 10_000);
    assert!(pattern_work("(((((a{9}){9}){9}){9}){9}") > 50_000);
    assert!(pattern_work(&"(".repeat(10_000)) > 0);
}
