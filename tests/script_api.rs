//! The names of the script API. `pml_script::api::SCRIPT_API` is the table; the JavaScript, the
//! typings and `pml check` must have the same names.

use std::collections::BTreeSet;

use pml_check::{Rule, check};
use pml_script::api::{ApiKind, SCRIPT_API};

use crate::support::{repository, result_of};

fn read(path: &str) -> String {
    std::fs::read_to_string(repository().join(path))
        .unwrap_or_else(|error| panic!("{path} cannot be read: {error}"))
}

fn table() -> BTreeSet<String> {
    let names = SCRIPT_API.iter();
    names.map(|(name, _)| (*name).to_owned()).collect()
}

#[track_caller]
fn assert_is_table(place: &str, names: &[String]) {
    let found: BTreeSet<String> = names.iter().cloned().collect();
    assert_eq!(found.len(), names.len(), "{place} has a name twice");
    let table = table();
    let missing: Vec<&String> = table.difference(&found).collect();
    let unknown: Vec<&String> = found.difference(&table).collect();
    assert!(
        missing.is_empty() && unknown.is_empty(),
        "{place} and SCRIPT_API differ: {place} lacks {missing:?}, SCRIPT_API lacks {unknown:?}"
    );
}

#[test]
fn the_table_is_sorted() {
    assert!(SCRIPT_API.is_sorted_by(|a, b| a.0 < b.0), "{SCRIPT_API:?}");
}

#[test]
fn the_module_exports_the_names_of_the_table() {
    let names = names_of("import * as pml from \"pml\"; export default Object.keys(pml)");
    assert_is_table("the module pml", &names);
}

#[test]
fn the_names_of_the_table_are_globals() {
    let known: Vec<&str> = SCRIPT_API.iter().map(|(name, _)| *name).collect();
    let script = format!("{known:?}.filter((name) => globalThis[name] !== undefined)");
    assert_is_table("the globals", &names_of(&script));
}

/// The names that a script returns.
fn names_of(script: &str) -> Vec<String> {
    serde_json::from_value(result_of(script)).expect("the script returns names")
}

#[test]
fn the_typings_declare_the_names_of_the_table() {
    let text = read("typings/pml.d.ts");
    let (globals, module) = text
        .split_once("\ndeclare module \"pml\" {\n")
        .expect("the typings declare the module");
    let (module, _) = module.split_once("\n}\n").expect("the module ends");

    let exported: Vec<String> = module
        .lines()
        .filter_map(|line| line.strip_prefix("  export const "))
        .map(identifier)
        .collect();
    assert_is_table("the module of typings/pml.d.ts", &exported);

    // What is declared below the module is the web's and the language's.
    let functions = declared(globals, "declare function ");
    let values = declared(globals, "declare var ");
    let all: Vec<String> = functions.union(&values).cloned().collect();
    assert_is_table("the globals of typings/pml.d.ts", &all);
    for (name, kind) in SCRIPT_API {
        let is_function = matches!(kind, ApiKind::AsyncFunction | ApiKind::AsyncGenerator);
        assert_eq!(functions.contains(name), is_function, "{name} is {kind:?}");
    }
}

/// A function with overloads is declared more than once.
fn declared(text: &str, keyword: &str) -> BTreeSet<String> {
    let lines = text.lines();
    lines
        .filter_map(|line| line.strip_prefix(keyword))
        .map(identifier)
        .collect()
}

fn identifier(text: &str) -> String {
    let is_part = |c: &char| c.is_alphanumeric() || *c == '_';
    text.chars().take_while(is_part).collect()
}

#[test]
fn check_knows_the_names_of_the_table() {
    for (name, kind) in SCRIPT_API {
        let import = format!("import {{ {name} }} from \"pml\"; export default {name};");
        let findings = check("a.ts", &import, None);
        assert!(findings.is_empty(), "{import}\n{findings:?}");
        let global = format!("export default {name};");
        let findings = check("a.ts", &global, None);
        assert!(findings.is_empty(), "{global}\n{findings:?}");
        let call = format!("{name}(\"a\"); export default 1;");
        let floats = check("a.ts", &call, None)
            .iter()
            .any(|finding| finding.rule == Rule::FloatingPromise);
        assert_eq!(floats, kind == ApiKind::AsyncFunction, "{call}");
    }
    let unknown = check("a.ts", "import { noSuchName } from \"pml\";", None);
    assert_eq!(unknown[0].rule, Rule::UnreachableImport, "{unknown:?}");
}
