//! Generates the one-line signature of a tool: its call, its result, its purpose.

use serde_json::Value;

use crate::ToolSchemas;
use crate::print::{DetailLimits, OneLinePrinter, clean, first_sentence, member};
use crate::read::Schema;
use crate::type_graph::{NamedType, Object, Type};

/// Highest number of characters of the arguments, the result and the summary. With these, signatures of
/// real servers average well under 80 tokens.
const ARGUMENTS: usize = 360;
const RESULT: usize = 200;
const SUMMARY: usize = 120;

/// From the most to the least detail; the first that fits is used.
const DETAILS: [DetailLimits; 8] = [
    DetailLimits {
        depth: 4,
        members: 12,
        optional: 100,
        fields: 100,
    },
    DetailLimits {
        depth: 3,
        members: 8,
        optional: 16,
        fields: 24,
    },
    DetailLimits {
        depth: 2,
        members: 6,
        optional: 12,
        fields: 20,
    },
    DetailLimits {
        depth: 1,
        members: 6,
        optional: 10,
        fields: 16,
    },
    DetailLimits {
        depth: 1,
        members: 4,
        optional: 6,
        fields: 12,
    },
    DetailLimits {
        depth: 1,
        members: 3,
        optional: 3,
        fields: 8,
    },
    DetailLimits {
        depth: 1,
        members: 2,
        optional: 0,
        fields: 5,
    },
    DetailLimits {
        depth: 1,
        members: 1,
        optional: 0,
        fields: 2,
    },
];

/// Returns the signature of a tool:
///
/// `tools.fs.read_file({ path: string, head?: number }): Promise<string>  // Read a file`
///
/// What does not fit is replaced with `...`: first details of nested objects and long enumerations, then
/// optional arguments.
pub fn signature(tool: &ToolSchemas<'_>) -> String {
    let input = Schema::brief(tool.input).read();
    let arguments = match &input.root {
        Type::Object(Object {
            fields,
            index_signature: None,
            ..
        }) if fields.is_empty() => String::new(),
        root => {
            let printed = fit(root, &input.named, ARGUMENTS);
            let optional = if is_optional(root, &input.named) {
                "?"
            } else {
                ""
            };
            match printed.as_str() {
                // Named, because a bare type would look like a value.
                printed if !printed.starts_with('{') => format!("args{optional}: {printed}"),
                printed => printed.to_owned(),
            }
        }
    };
    let result = match tool.output.or(tool.observed) {
        None => "unknown".to_owned(),
        Some(schema) => {
            let output = Schema::brief(schema).read();
            fit(&output.root, &output.named, RESULT)
        }
    };
    let (server, name) = (member(&bounded(tool.server)), member(&bounded(tool.name)));
    let mut line = format!("tools{server}{name}({arguments}): Promise<{result}>");
    let summary = first_sentence(&clean(tool.description, 1_000), SUMMARY);
    if !summary.is_empty() {
        line.push_str("  // ");
        line.push_str(&summary);
    }
    line
}

/// Returns the type of `schema`, which is a part of the document `root`, on one line of at most
/// `max_chars` characters, or a short ellipsis.
pub fn one_line(root: &Value, schema: &Value, max_chars: usize) -> String {
    let graph = Schema::part(root, schema).read();
    fit(&graph.root, &graph.named, max_chars)
}

/// Cuts a name at 200 characters; no real one is longer.
fn bounded(name: &str) -> String {
    name.chars().take(200).collect()
}

fn fit(ty: &Type, named: &[NamedType], max_chars: usize) -> String {
    let mut shortest = None;
    for detail in DETAILS {
        let printed = OneLinePrinter::new(named, detail).print(ty);
        if printed.chars().count() <= max_chars {
            return printed;
        }
        shortest = Some(printed);
    }
    // Even the least detail can be too long.
    match shortest {
        Some(printed) if printed.starts_with('{') => "{ ... }".to_owned(),
        Some(printed) if printed.ends_with("[]") => "{ ... }[]".to_owned(),
        _ => "...".to_owned(),
    }
}

/// Whether a call may omit its arguments.
pub(crate) fn is_optional(ty: &Type, named: &[NamedType]) -> bool {
    // Nested names can multiply; when the budget is spent, the answer is the lenient one.
    let mut budget = 1_000;
    accepts_empty(ty, named, &mut budget)
}

fn accepts_empty(ty: &Type, named: &[NamedType], budget: &mut usize) -> bool {
    if *budget == 0 {
        return true;
    }
    *budget -= 1;
    match ty {
        Type::Unknown => true,
        Type::Object(object) => object.fields.iter().all(|field| field.optional),
        Type::Union(members) => members.iter().any(|one| accepts_empty(one, named, budget)),
        Type::Intersection(members) => members.iter().all(|one| accepts_empty(one, named, budget)),
        Type::Named(index) => named
            .get(*index)
            .is_some_and(|target| accepts_empty(&target.ty, named, budget)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn line(input: Value, output: Option<Value>, description: &str) -> String {
        signature(&ToolSchemas {
            server: "fs",
            name: "read_file",
            description,
            input: &input,
            output: output.as_ref(),
            observed: None,
        })
    }

    fn arguments(input: Value) -> String {
        let line = line(input, None, "");
        line.strip_prefix("tools.fs.read_file(")
            .and_then(|rest| rest.strip_suffix("): Promise<unknown>"))
            .unwrap_or_else(|| panic!("{line}"))
            .to_owned()
    }

    #[test]
    fn a_tool_is_one_line_that_can_be_copied() {
        let input = json!({
            "type": "object",
            "properties": { "head": { "type": "number" }, "path": { "type": "string" } },
            "required": ["path"],
        });
        let expected =
            "tools.fs.read_file({ path: string, head?: number }): Promise<string>  // Read a file";
        let output = Some(json!({ "type": "string" }));
        assert_eq!(
            line(input, output, "Read a file. DEPRECATED: no.\nMore."),
            expected
        );
    }

    #[test]
    fn names_that_are_not_identifiers_are_quoted() {
        let tool = ToolSchemas {
            server: "chrome-devtools",
            name: "click.all",
            description: "",
            input: &json!({ "type": "object", "properties": {} }),
            output: None,
            observed: Some(&json!({ "type": "array", "items": { "type": "number" } })),
        };
        assert_eq!(
            signature(&tool),
            r#"tools["chrome-devtools"]["click.all"](): Promise<number[]>"#
        );
    }

    #[test]
    fn every_kind_of_schema_has_its_type() {
        for (schema, printed) in [
            (json!({ "type": "integer" }), "number"),
            (json!({ "type": ["string", "null"] }), "string | null"),
            (
                json!({ "type": "string", "nullable": true }),
                "string | null",
            ),
            (
                json!({ "enum": ["a", 1, null, true] }),
                r#""a" | 1 | null | true"#,
            ),
            (json!({ "type": "string", "enum": ["a", null] }), r#""a""#),
            (json!({ "enum": [true, false] }), "boolean"),
            (json!({ "const": { "a": [1] } }), "{ a: [1] }"),
            (
                json!({ "type": "array", "items": { "enum": ["x", "y"] } }),
                r#"("x" | "y")[]"#,
            ),
            (
                json!({ "prefixItems": [{ "type": "string" }, { "type": "number" }], "minItems": 1, "items": false }),
                "[string, number?]",
            ),
            (
                json!({ "items": [{ "type": "string" }], "additionalItems": { "type": "null" }, "minItems": 1 }),
                "[string, ...null[]]",
            ),
            (
                json!({ "additionalProperties": { "type": "number" } }),
                "Record<string, number>",
            ),
            (
                json!({ "patternProperties": { "^x": { "type": "number" } } }),
                "Record<string, number>",
            ),
            (
                json!({ "anyOf": [{ "type": "string" }, { "type": "number" }] }),
                "string | number",
            ),
            (
                json!({ "allOf": [
                    { "properties": { "a": { "type": "string" } } },
                    { "properties": { "b": { "type": "string" } }, "required": ["a"] },
                ] }),
                "{ a: string, b?: string }",
            ),
            (
                json!({ "properties": { "a": { "type": "string" }, "b": { "type": "string" } },
                    "anyOf": [{ "required": ["a"] }, { "required": ["b"] }] }),
                "{ a?: string, b?: string }",
            ),
            (json!(true), "unknown"),
            (json!(false), "never"),
            (json!("text"), "unknown"),
            (json!({ "$ref": "#/nowhere" }), "unknown"),
            (json!({ "$ref": "https://example.test/x.json" }), "unknown"),
            (
                json!({ "propertyNames": { "enum": ["a", "b"] }, "type": "object",
                "additionalProperties": { "type": "number" } }),
                "{ a?: number, b?: number }",
            ),
        ] {
            let input = json!({ "type": "object", "properties": { "x": schema } });
            assert_eq!(arguments(input), format!("{{ x?: {printed} }}"), "{schema}");
        }
    }

    #[test]
    fn references_are_followed_and_recursion_ends() {
        let input = json!({
            "type": "object",
            "properties": { "node": { "$ref": "#/$defs/Node" } },
            "required": ["node"],
            "$defs": { "Node": {
                "type": "object",
                "properties": {
                    "name": { "type": "string" },
                    "children": { "type": "array", "items": { "$ref": "#/$defs/Node" } },
                },
                "required": ["name"],
            } },
        });
        assert_eq!(
            arguments(input),
            "{ node: { name: string, children?: { ... }[] } }"
        );
    }

    #[test]
    fn optional_arguments_are_left_out_before_required_ones() {
        let mut properties = serde_json::Map::new();
        for n in 0..60 {
            properties.insert(
                format!("optional_argument_{n}"),
                json!({ "type": "string" }),
            );
        }
        properties.insert("needed".to_owned(), json!({ "type": "number" }));
        let printed = arguments(
            json!({ "type": "object", "properties": properties, "required": ["needed"] }),
        );
        assert!(
            printed.starts_with("{ needed: number, optional_argument_0?: string,"),
            "{printed}"
        );
        assert!(
            printed.ends_with(", ... }") && printed.len() <= ARGUMENTS,
            "{printed}"
        );
    }

    #[test]
    fn a_signature_is_short_and_on_one_line_whatever_the_schema() {
        let mut deep = json!({ "type": "string" });
        for _ in 0..100 {
            deep = json!({ "type": "object", "properties": { "a\n*/b": deep } });
        }
        let mut names = serde_json::Map::new();
        for n in 0..300 {
            let next = |step| json!({ "$ref": format!("#/$defs/d{}", (n * 7 + step) % 300) });
            names.insert(
                format!("d{n}"),
                json!({ "anyOf": (0..20).map(next).collect::<Vec<_>>() }),
            );
        }
        let hostile = [
            deep,
            json!({ "$ref": "#/$defs/d0", "$defs": names }),
            json!({ "$ref": "#" }),
            json!({ "type": "object", "properties": { ("x".repeat(1 << 20)): {} } }),
            json!({ "enum": (0..100_000).collect::<Vec<_>>() }),
            json!({ "enum": ["\n//\u{2028}".repeat(9)] }),
            json!({ "description": "*/".repeat(1 << 20), "type": "object" }),
        ];
        for schema in hostile {
            let line = line(schema.clone(), Some(schema), "One.\u{2028}Two\r\nthree");
            assert!(line.chars().count() < 800, "{line}");
            assert_eq!(line.lines().count(), 1, "{line}");
            assert!(line.ends_with("  // One"), "{line}");
        }
    }
}
