//! `pml types`: TypeScript declarations for real tools, checked with the real compiler.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use pml_typegen::{ToolSchemas, declarations, signature};
use serde_json::{Value, json};

use crate::gateway::{Place, demo};
use crate::support::repository;
use crate::typings::{compile, typings};

/// Characters per token, a low estimate: the signatures of these tools have 4.3 characters per
/// token of `o200k_base`.
const CHARACTERS_PER_TOKEN: f64 = 3.75;

// Real tools.

/// The tools of 18 published servers, from a folder beside the repository, if it exists.
fn real_tools() -> Option<Vec<Value>> {
    const PLACE: &str = "shared/data/retrieval/real-mcp-servers/tools.jsonl";
    let repository = repository()
        .canonicalize()
        .expect("the repository is there");
    let text = repository
        .ancestors()
        .find_map(|folder| fs::read_to_string(folder.join(PLACE)).ok());
    let Some(text) = text else {
        eprintln!("SKIPPED: there is no {PLACE} in any folder above the repository");
        return None;
    };
    let tools = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("a tool on each line"));
    Some(tools.collect())
}

fn types(tool: &Value) -> ToolSchemas<'_> {
    ToolSchemas {
        server: tool["server"].as_str().expect("a server"),
        name: tool["name"].as_str().expect("a name"),
        description: tool["description"].as_str().unwrap_or_default(),
        input: &tool["inputSchema"],
        output: tool.get("outputSchema"),
        observed: None,
    }
}

/// Shortens every description to its first words: a golden file is about types, and the texts
/// belong to their servers.
fn shorten(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                match field {
                    Value::String(text) if name == "description" => {
                        let words: Vec<&str> = text.split_whitespace().take(4).collect();
                        *text = words.join(" ");
                    }
                    other => shorten(other),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(shorten),
        _ => {}
    }
}

fn golden_folder() -> PathBuf {
    typings().join("golden")
}

#[test]
fn the_types_of_real_servers_are_those_of_the_golden_files() {
    let Some(mut tools) = real_tools() else {
        return;
    };
    tools.iter_mut().for_each(shorten);
    let mut servers: BTreeMap<&str, Vec<ToolSchemas<'_>>> = BTreeMap::new();
    for tool in &tools {
        let tool = types(tool);
        servers.entry(tool.server).or_default().push(tool);
    }
    assert_eq!(servers.len(), 18);
    for (server, tools) in servers {
        let file = golden_folder().join(format!("{server}.d.ts"));
        let printed = declarations(&tools);
        if std::env::var_os("PML_BLESS").is_some() {
            fs::create_dir_all(golden_folder()).expect("a folder can be made");
            fs::write(&file, &printed).expect("a file can be written");
        }
        let golden = fs::read_to_string(&file).unwrap_or_default();
        assert!(
            golden == printed,
            "{} differs; PML_BLESS=1 writes it",
            file.display()
        );
    }
}

/// Compiles declarations together with `pml.d.ts`.
fn compile_with(files: &[&Path]) -> Result<(), String> {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let mut all = vec![typings().join("pml.d.ts")];
    all.extend(files.iter().map(|file| file.to_path_buf()));
    let config = json!({ "extends": typings().join("tsconfig.json"), "files": all });
    fs::write(folder.path().join("tsconfig.json"), config.to_string())
        .expect("a file can be written");
    compile(folder.path())
}

#[test]
fn the_golden_files_compile_under_strict_typescript() {
    let files: Vec<PathBuf> = fs::read_dir(golden_folder())
        .expect("the golden files are there")
        .map(|entry| entry.expect("a file").path())
        .collect();
    assert_eq!(files.len(), 18);
    let files: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    assert_eq!(compile_with(&files), Ok(()));
}

#[test]
fn a_real_tool_takes_fewer_than_80_tokens_on_average() {
    let Some(tools) = real_tools() else {
        return;
    };
    let lines: Vec<String> = tools.iter().map(|tool| signature(&types(tool))).collect();
    let characters: usize = lines.iter().map(|line| line.chars().count()).sum();
    let tokens = characters as f64 / lines.len() as f64 / CHARACTERS_PER_TOKEN;
    assert!(tokens < 80.0, "{tokens}");
    let longest = lines.iter().map(|line| line.chars().count()).max();
    assert!(longest < Some(700), "{longest:?}");
}

// Hostile schemas.

/// A generator with a fixed seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % sides
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.roll(from.len())]
    }
}

const ODD_NAMES: [&str; 14] = [
    "a",
    "class",
    "new",
    "__proto__",
    "constructor",
    "a-b",
    "0",
    "*/",
    "\n",
    "\"",
    "größe",
    "Promise",
    "\u{202e}",
    "`${a}",
];
const DEFINITIONS: [&str; 5] = ["A", "B", "Promise", "Record", "*/"];

fn odd_schema(dice: &mut Dice, depth: usize) -> Value {
    if dice.roll(20) == 0 {
        return [json!(true), json!(false), json!(7), json!(null)][dice.roll(4)].clone();
    }
    let mut schema = json!({});
    let kinds = [
        "string", "integer", "null", "boolean", "object", "array", "weird",
    ];
    if dice.roll(3) > 0 {
        schema["type"] = json!(dice.pick(&kinds));
    }
    if dice.roll(4) == 0 {
        let texts = [
            "text",
            "*/ evil",
            "@tag\n\n*/\n",
            "/** x",
            "\u{2029}a",
            "`${",
        ];
        schema["description"] = json!(dice.pick(&texts));
    }
    if dice.roll(4) == 0 {
        schema["$ref"] = match dice.roll(5) {
            0 => json!("#"),
            1 => json!("#/nowhere"),
            _ => json!(format!(
                "#/$defs/{}",
                dice.pick(&DEFINITIONS).replace('/', "~1")
            )),
        };
    }
    if dice.roll(10) == 0 {
        schema["enum"] =
            json!(["a", -1.5, null, "*/", "\u{2028}", [1], { "new": {} }, "x".repeat(300)]);
    }
    if dice.roll(10) == 0 {
        schema["pattern"] = json!("*/^a\n");
        schema["default"] = json!({ "*/": 1 });
    }
    let Some(inner) = depth.checked_sub(1) else {
        return schema;
    };
    if dice.roll(3) == 0 {
        let fields =
            (0..dice.roll(4)).map(|_| (dice.pick(&ODD_NAMES).to_owned(), odd_schema(dice, inner)));
        schema["properties"] = Value::Object(fields.collect());
        schema["required"] = json!([dice.pick(&ODD_NAMES), dice.pick(&ODD_NAMES)]);
    }
    for (odds, key) in [
        (6, "additionalProperties"),
        (6, "items"),
        (12, "additionalItems"),
        (20, "then"),
    ] {
        if dice.roll(odds) == 0 {
            schema[key] = odd_schema(dice, inner);
        }
    }
    for key in ["allOf", "anyOf", "oneOf", "prefixItems", "items"] {
        if dice.roll(7) == 0 {
            schema[key] = (0..dice.roll(4)).map(|_| odd_schema(dice, inner)).collect();
        }
    }
    schema
}

#[test]
fn types_of_hostile_schemas_compile_under_strict_typescript() {
    let mut dice = Dice(11);
    let mut schemas = Vec::new();
    for _ in 0..250 {
        let mut schema = odd_schema(&mut dice, 4);
        if let Value::Object(schema) = &mut schema {
            let definitions = DEFINITIONS.map(|name| (name.to_owned(), odd_schema(&mut dice, 3)));
            schema.insert(
                "$defs".to_owned(),
                Value::Object(definitions.into_iter().collect()),
            );
        }
        schemas.push(schema);
    }
    // More combinations than the compiler accepts.
    let many: Vec<Value> = (0..12)
        .map(|n| json!({ "enum": (n..n + 12).collect::<Vec<_>>() }))
        .collect();
    schemas.push(json!({ "type": "object", "properties": { "x": { "allOf": many } } }));
    // Ten megabytes.
    let wide = (0..200_000).map(|n| {
        (
            format!("property_{n}_{}", "x".repeat(20)),
            json!({ "type": "string" }),
        )
    });
    schemas.push(json!({ "type": "object", "properties": Value::Object(wide.collect()) }));
    let names: Vec<String> = (0..schemas.len())
        .map(|n| format!("{}{n}", ODD_NAMES[n % ODD_NAMES.len()]))
        .collect();
    let servers = ["fs", "a-b", "promise", "PmlTools", "*/", "0"];
    let tools: Vec<ToolSchemas<'_>> = schemas
        .iter()
        .zip(&names)
        .enumerate()
        .map(|(n, (schema, name))| ToolSchemas {
            server: servers[n % servers.len()],
            name,
            description: "*/ export const evil = 1; /*",
            input: schema,
            output: schemas.get((n + 7) % 250),
            observed: None,
        })
        .collect();
    let printed = declarations(&tools);
    assert!(printed.len() < 8 << 20, "{}", printed.len());
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("pml-tools.d.ts");
    fs::write(&file, printed).expect("a file can be written");
    assert_eq!(compile_with(&[&file]), Ok(()));
}

// The command.

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn ok(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn results_are_declared_observed_or_unknown() {
    let data = tempfile::tempdir().unwrap();
    fs::write(
        data.path().join("a.json"),
        r#"{ "versions": [1, 2], "name": "secret-name" }"#,
    )
    .unwrap();
    let place = Place::with_servers(json!({ "demo": demo(data.path()) }));
    let before = ok(&place.run(&["types"]));
    assert!(
        before.contains("list_files(args?: ListFilesArgs | null): Promise<ListFilesResult>;"),
        "{before}"
    );
    assert!(
        before.contains("read_json<T = unknown>(args: ReadJsonArgs): Promise<T>;"),
        "{before}"
    );

    place.result("await tools.demo.read_json({ path: 'a.json' })");
    let after = ok(&place.run(&["types"]));
    assert!(
        after.contains("read_json<T = ReadJsonResult>(args: ReadJsonArgs): Promise<T>;"),
        "{after}"
    );
    assert!(
        after.contains("@observed the type of the result was learned from earlier calls"),
        "{after}"
    );
    assert!(after.contains("versions: number[]"), "{after}");
    assert!(!after.contains("secret-name"), "{after}");

    // The catalog stores only shapes.
    let kept = place.folder().join("../.local/share/pml/catalog");
    let mut files = 0;
    for entry in fs::read_dir(&kept).unwrap() {
        let kept = fs::read_to_string(entry.unwrap().path()).unwrap();
        assert!(!kept.contains("secret-name"), "{kept}");
        files += 1;
    }
    assert_eq!(files, 3, "tools, shapes and the history of calls");
}

#[test]
fn a_file_of_types_gives_scripts_to_the_compiler() {
    let data = tempfile::tempdir().unwrap();
    let place = Place::with_servers(json!({ "demo": demo(data.path()) }));
    assert_eq!(
        ok(&place.run(&["types", "--standalone", "-o", "pml.d.ts"])),
        ""
    );
    let script = r#"
const { files } = await tools.demo.list_files({ suffix: ".json" });
const sizes: number[] = files.map((file) => file.bytes);
const answer = await callTool("demo:list_files");
if (answer.success) answer.result.files[0].path.length;
// @ts-expect-error
await tools.demo.list_files({ sufix: ".json" });
// @ts-expect-error
await tools.demo.read_file({ path: 5 });
// @ts-expect-error
await callTool("demo:read_file", { pth: "a" });
// @ts-expect-error
await tools.demo.nothing();
// @ts-expect-error
await tools.missing.list_files();
export default sizes;
"#;
    fs::write(place.folder().join("script.ts"), script).unwrap();
    let mut config: Value = json!({ "files": ["pml.d.ts", "script.ts"] });
    config["compilerOptions"] = json!({
        "target": "ESNext", "module": "ESNext", "moduleResolution": "Bundler",
        "moduleDetection": "force", "lib": ["ESNext"], "types": [],
    });
    fs::write(place.folder().join("tsconfig.json"), config.to_string()).unwrap();
    assert_eq!(compile(&place.folder()), Ok(()));
}

#[test]
fn a_server_that_does_not_start_leaves_the_others_their_types() {
    let data = tempfile::tempdir().unwrap();
    let place = Place::with_servers(json!({
        "demo": demo(data.path()),
        "gone": { "command": "/nonexistent/server" },
    }));
    let output = place.run(&["types"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("readonly demo: PmlTools.Demo.Tools;"));
    assert!(
        text(&output.stderr).contains("no types of server `gone`"),
        "{}",
        text(&output.stderr)
    );
}
