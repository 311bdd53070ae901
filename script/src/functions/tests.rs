//! Types of TypeScript as JSON Schema.

use serde_json::{Value, json};

use super::{FunctionFile, read_functions};

fn read(source: &str) -> FunctionFile {
    read_functions("tools.ts", source).unwrap()
}

/// The schema of the one argument `x` of this type, and the types of the file.
fn schema_with(declarations: &str, ty: &str) -> Value {
    let source = format!("{declarations}\nexport async function f(x: {ty}) {{}}");
    let file = read(&source);
    assert_eq!(file.skipped, [], "{ty}");
    file.functions[0].input_schema.clone()
}

fn of(declarations: &str, ty: &str) -> Value {
    schema_with(declarations, ty)["properties"]["x"].clone()
}

/// Why a function with an argument of this type is no tool.
fn refusal(declarations: &str, ty: &str) -> String {
    let source = format!("{declarations}\nexport async function f(x: {ty}) {{}}");
    let file = read(&source);
    assert_eq!(file.functions, [], "{ty}");
    file.skipped[0].reason.clone()
}

#[test]
fn plain_types_unions_and_literals_become_schemas() {
    for (ty, expected) in [
        ("string", json!({ "type": "string" })),
        ("number", json!({ "type": "number" })),
        ("boolean", json!({ "type": "boolean" })),
        ("unknown", json!({})),
        ("object", json!({ "type": "object" })),
        ("string | null", json!({ "type": ["string", "null"] })),
        (
            "\"a\" | \"b\"",
            json!({ "type": "string", "enum": ["a", "b"] }),
        ),
        ("-1 | 1", json!({ "type": "number", "enum": [-1, 1] })),
        ("\"a\"", json!({ "type": "string", "const": "a" })),
        ("true | false", json!({ "type": "boolean" })),
        (
            "(\"a\" | \"b\") | null",
            json!({ "anyOf": [{ "type": "string", "enum": ["a", "b"] }, { "type": "null" }] }),
        ),
        (
            "string | number",
            json!({ "anyOf": [{ "type": "string" }, { "type": "number" }] }),
        ),
        ("string | any", json!({})),
        (
            "string[]",
            json!({ "type": "array", "items": { "type": "string" } }),
        ),
        (
            "ReadonlyArray<number>",
            json!({ "type": "array", "items": { "type": "number" } }),
        ),
        (
            "readonly string[]",
            json!({ "type": "array", "items": { "type": "string" } }),
        ),
        (
            "[string, number?]",
            json!({ "type": "array", "prefixItems": [{ "type": "string" }, { "type": "number" }], "items": false, "minItems": 1, "maxItems": 2 }),
        ),
        (
            "[string, ...number[]]",
            json!({ "type": "array", "prefixItems": [{ "type": "string" }], "items": { "type": "number" }, "minItems": 1 }),
        ),
        (
            "Record<string, number>",
            json!({ "type": "object", "additionalProperties": { "type": "number" } }),
        ),
        (
            "{ [name: string]: boolean }",
            json!({ "type": "object", "additionalProperties": { "type": "boolean" } }),
        ),
        (
            "`v${number}.x`",
            json!({ "type": "string", "pattern": "^v-?[0-9]+(\\.[0-9]+)?\\.x$" }),
        ),
        ("string & { __brand: \"Id\" }", json!({ "type": "string" })),
    ] {
        assert_eq!(of("", ty), expected, "{ty}");
    }
}

#[test]
fn objects_have_required_and_optional_properties_with_their_comments() {
    let schema = of(
        "",
        "{ /** The name. @minLength 1 */ name: string; /** @integer\n * @minimum 0 */ age?: number; nick: string | undefined }",
    );
    assert_eq!(
        schema,
        json!({
            "type": "object",
            "properties": {
                "name": { "type": "string", "description": "The name. @minLength 1" },
                "age": { "type": "integer", "minimum": 0 },
                "nick": { "type": "string" },
            },
            "required": ["name"],
            "additionalProperties": false,
        })
    );
}

#[test]
fn named_types_are_definitions_and_may_contain_themselves() {
    let declarations = "/** A node. */ interface Node extends Base<string> { children: Node[]; level: Level }\ninterface Base<T> { value: T; note?: string }\nenum Level { Low, High = 5, Top }";
    let schema = schema_with(declarations, "Node");
    assert_eq!(schema["properties"]["x"], json!({ "$ref": "#/$defs/Node" }));
    let node = &schema["$defs"]["Node"];
    assert_eq!(node["description"], "A node.");
    assert_eq!(
        node["properties"]["children"]["items"],
        json!({ "$ref": "#/$defs/Node" })
    );
    assert_eq!(
        node["properties"]["level"],
        json!({ "type": "number", "enum": [0, 5, 6] })
    );
    assert_eq!(node["properties"]["value"], json!({ "type": "string" }));
    assert_eq!(node["required"], json!(["value", "children", "level"]));

    let schema = schema_with(
        "type Json = string | Json[] | { [key: string]: Json }",
        "Json",
    );
    assert_eq!(schema["properties"]["x"], json!({ "$ref": "#/$defs/Json" }));
    assert_eq!(
        schema["$defs"]["Json"]["anyOf"][1]["items"],
        json!({ "$ref": "#/$defs/Json" })
    );
}

#[test]
fn generic_types_are_read_once_for_each_of_their_arguments() {
    let declarations = "interface Page<T> { items: T[] }";
    let schema = schema_with(
        declarations,
        "{ a: Page<string>; b: Page<number>; c: Page<string> }",
    );
    let properties = &schema["properties"]["x"]["properties"];
    assert_eq!(properties["a"], properties["c"]);
    assert_ne!(properties["a"], properties["b"]);
    let defs = schema["$defs"].as_object().unwrap();
    assert_eq!(defs.keys().collect::<Vec<_>>(), ["Page", "Page_2"]);
}

#[test]
fn types_made_of_other_types_are_understood() {
    let user = "interface User { id: number; name: string; mail?: string }\nconst LEVELS = [\"low\", \"high\"] as const;\nenum Color { Red = \"red\", Blue = \"blue\" }";
    let keys = |schema: &Value| -> Vec<String> {
        let names = schema["properties"].as_object().unwrap().keys();
        let mut names: Vec<String> = names.cloned().collect();
        names.sort();
        names
    };
    assert_eq!(
        keys(&of(user, "Pick<User, \"id\" | \"name\">")),
        ["id", "name"]
    );
    assert_eq!(keys(&of(user, "Omit<User, \"id\">")), ["mail", "name"]);
    assert_eq!(of(user, "Partial<User>").get("required"), None);
    assert_eq!(
        of(user, "Required<User>")["required"]
            .as_array()
            .unwrap()
            .len(),
        3
    );
    assert_eq!(of(user, "keyof User")["enum"].as_array().unwrap().len(), 3);
    assert_eq!(of(user, "User[\"name\"]"), json!({ "type": "string" }));
    assert_eq!(
        of(user, "(typeof LEVELS)[number]"),
        json!({ "type": "string", "enum": ["low", "high"] })
    );
    assert_eq!(
        of(user, "Record<\"a\" | \"b\", number>")["required"],
        json!(["a", "b"])
    );
    assert_eq!(
        of(user, "{ [K in \"a\" | \"b\"]?: K }").get("required"),
        None
    );
    assert_eq!(
        keys(&of(user, "User & { extra: string }")),
        ["extra", "id", "mail", "name"]
    );
    assert_eq!(
        of(user, "Color"),
        json!({ "type": "string", "enum": ["red", "blue"] })
    );
    assert_eq!(of(user, "Color.Red"), json!({ "const": "red" }));
    assert_eq!(
        of(user, "Exclude<\"a\" | \"b\", \"a\">"),
        json!({ "type": "string", "const": "b" })
    );
    assert_eq!(
        of(user, "NonNullable<string | null | undefined>"),
        json!({ "type": "string" })
    );
}

#[test]
fn what_is_no_json_is_refused_with_what_to_write() {
    for (ty, part) in [
        ("Date", "use a string"),
        ("Map<string, number>", "Record<string, …>"),
        ("bigint", "use `number`"),
        ("() => void", "take or return data"),
        ("{ run(): void }", "a method is no JSON"),
        ("Unknown", "`Unknown` is not declared in this file"),
        ("Imported", "`Imported` is imported"),
        ("Model", "the class `Model`"),
        ("T extends string ? 1 : 2", "conditional"),
        ("Endless<string>", "too large"),
        ("string & number", "`&` is understood"),
    ] {
        let declarations = "import type { Imported } from \"./types.ts\"; class Model {}\ntype Endless<T> = { next: Endless<T[]> };";
        let reason = refusal(declarations, ty);
        assert!(reason.contains(part), "{ty}: {reason}");
    }
}

#[test]
fn parameters_are_properties_and_defaults_make_them_optional() {
    let file = read(
        "/**\n * Finds.\n * @param text What to find.\n * @param limit How many.\n * @effect read\n */\nexport async function find(text: string, limit = 10, exact?: boolean, ...tags: string[]): Promise<string[]> { return [] }",
    );
    let tool = &file.functions[0];
    assert_eq!((tool.name.as_str(), tool.line), ("find", 7));
    assert_eq!(tool.description, "Finds.");
    assert_eq!(tool.effect.as_deref(), Some("read"));
    assert_eq!(
        tool.input_schema,
        json!({
            "type": "object",
            "properties": {
                "text": { "type": "string", "description": "What to find." },
                "limit": { "type": "number", "description": "How many.", "default": 10 },
                "exact": { "type": "boolean" },
                "tags": { "type": "array", "items": { "type": "string" } },
            },
            "required": ["text"],
            "additionalProperties": false,
        })
    );
    assert_eq!(
        tool.output_schema,
        Some(json!({ "type": "array", "items": { "type": "string" } }))
    );
    let script = tool.script("FILE");
    assert!(script.starts_with("FILE\n"), "{script}");
    assert!(
        script.contains("find(__given_find[\"text\"], __given_find[\"limit\"], __given_find[\"exact\"], ...(__given_find[\"tags\"] ?? []))"),
        "{script}"
    );
}

#[test]
fn one_pattern_of_an_object_takes_the_arguments_themselves() {
    let file = read(
        "export const add = async ({ a, b = 2 }: { a: number; b: number }): Promise<number> => a + b;",
    );
    let tool = &file.functions[0];
    assert_eq!(tool.input_schema["required"], json!(["a"]));
    assert_eq!(tool.input_schema["properties"]["b"]["default"], json!(2));
    assert!(tool.script("").contains("add(__given_add)"));
    let file = read("export async function f(a: string, { b }: { b: string }) {}");
    assert!(file.skipped[0].reason.contains("needs a name"));
}

#[test]
fn only_exported_async_functions_are_tools() {
    let file = read(
        "async function hidden() {}\nexport function plain() { return 1 }\nexport function promised(): Promise<void> { return hidden() }\nconst g = async () => 1;\nexport { g as renamed };\nexport const n = 1;\nexport type T = string;",
    );
    let names: Vec<&str> = file.functions.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["promised", "renamed"]);
    assert!(file.functions[1].script("").contains("=> g("));
    assert_eq!(file.functions[0].output_schema, None);
}

#[test]
fn what_cannot_be_a_tool_is_skipped_alone_and_named_with_its_line() {
    let file = read(
        "export async function good(a: string) {}\nexport async function* pieces() {}\nexport async function typed<T>(x: T) {}\nexport async function dated(\n  when: Date,\n) {}\nexport async function late(): Promise<Date> { return new Date() }",
    );
    let names: Vec<&str> = file.functions.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["good", "late"]);
    assert!(
        file.functions[1]
            .output_problem
            .as_ref()
            .unwrap()
            .contains("`Date`")
    );
    let skipped: Vec<(&str, u32)> = file
        .skipped
        .iter()
        .map(|it| (it.name.as_str(), it.line))
        .collect();
    assert_eq!(skipped, [("pieces", 2), ("typed", 3), ("dated", 5)]);
}

#[test]
fn a_file_that_is_no_script_is_refused_with_its_line() {
    let error = read_functions("a.ts", "export async function f( {").unwrap_err();
    assert_eq!(error.line, 1);
    let error = read_functions("a.ts", "\nimport fs from \"node:fs\";").unwrap_err();
    assert_eq!(error.line, 2);
    assert!(error.message.contains("node:fs"), "{}", error.message);
}
