//! `schema` stops arguments that the schema does not know, and repairs types that nearly fit.

use pml_guards::GuardName;
use pml_protocol::GuardVerdict;
use serde_json::{Value, json};

use crate::support::Session;

fn session(settings: Value) -> Session {
    let mut session = Session::only("schema", settings);
    session.schema = json!({
        "type": "object",
        "properties": {
            "path": { "type": "string" },
            "limit": { "type": "integer" },
            "ratio": { "type": "number" },
            "all": { "type": "boolean" },
            "ids": { "type": "array", "items": { "type": "integer" } },
            "filter": { "type": "object", "properties": { "name": { "type": "string" } } },
            "rows": { "type": "array", "items": { "type": "object", "properties": { "n": { "type": "integer" } } } },
            "free": { "type": "object", "properties": { "a": {} }, "additionalProperties": true }
        }
    });
    session
}

#[test]
fn a_name_that_the_schema_does_not_have_is_blocked_at_every_depth() {
    let session = session(json!("block"));
    for (arguments, place) in [
        (json!({ "path": "a", "recursive": true }), "`recursive`"),
        (json!({ "filter": { "nmae": "a" } }), "`filter.nmae`"),
        (
            json!({ "rows": [{ "n": 1 }, { "n": 1, "m": 2 }] }),
            "`rows[1].m`",
        ),
        // Bypasses: another case, spaces around, a prototype, an empty name.
        (json!({ "Path": "a" }), "`Path`"),
        (json!({ "path ": "a" }), "`*`"),
        (json!({ "__proto__": {} }), "`__proto__`"),
        (json!({ "": 1 }), "arguments ``"),
    ] {
        let judged = session.call("s:t", arguments.clone());
        assert!(judged.is_blocked_by(GuardName::Schema), "{arguments}");
        assert!(
            judged.text().contains(place),
            "{arguments}: {}",
            judged.text()
        );
    }
}

#[test]
fn what_the_schema_permits_passes() {
    let session = session(json!("block"));
    assert!(
        session
            .call("s:t", json!({ "free": { "b": 1 }, "path": "a" }))
            .notes
            .is_empty()
    );
    for schema in [
        json!({}),
        json!({ "anyOf": [] , "properties": { "a": {} } }),
    ] {
        let mut open = Session::only("schema", json!("block"));
        open.schema = schema;
        assert!(open.call("s:t", json!({ "x": 1 })).notes.is_empty());
    }
}

#[test]
fn repair_leaves_unknown_arguments_out() {
    let judged =
        session(json!("repair")).call("s:t", json!({ "path": "a", "x": 1, "filter": { "y": 2 } }));
    assert_eq!(judged.value, json!({ "path": "a", "filter": {} }));
    assert_eq!(judged.verdicts(), [("schema", GuardVerdict::Repair)]);
}

#[test]
fn types_are_converted_only_where_nothing_is_lost() {
    let session = session(json!({ "verdict": "warn", "coerce": true }));
    let converted = |arguments: Value| {
        let mut arguments = arguments;
        let note = session
            .guards
            .coerce("s:t", &session.schema, &mut arguments);
        (arguments, note.is_some())
    };
    for (given, wanted) in [
        (json!({ "limit": "5" }), json!({ "limit": 5 })),
        (json!({ "limit": 5.0 }), json!({ "limit": 5 })),
        (json!({ "ratio": "0.5" }), json!({ "ratio": 0.5 })),
        (json!({ "all": "true" }), json!({ "all": true })),
        (json!({ "path": 7 }), json!({ "path": "7" })),
        (json!({ "ids": "[1, 2]" }), json!({ "ids": [1, 2] })),
        (json!({ "ids": ["1"] }), json!({ "ids": [1] })),
        (
            json!({ "filter": "{\"name\": 1}" }),
            json!({ "filter": { "name": "1" } }),
        ),
    ] {
        assert_eq!(converted(given), (wanted, true));
    }
    for kept in [
        json!({ "limit": "05" }),
        json!({ "limit": " 5" }),
        json!({ "limit": "5.5" }),
        json!({ "limit": 5.5 }),
        json!({ "limit": "9007199254740993000000" }),
        json!({ "ratio": "inf" }),
        json!({ "ratio": ".5" }),
        json!({ "all": "yes" }),
        json!({ "ids": "1,2" }),
        json!({ "path": null }),
    ] {
        assert_eq!(converted(kept.clone()), (kept, false));
    }
    assert!(!Session::new(json!({})).guards.coerces("s:t"));
}
