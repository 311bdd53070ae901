//! A golden file for each format of `pml workflow show`. `PML_BLESS=1` writes them.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::fake::*;
use crate::*;

fn example() -> Value {
    json!({ "name": "config <summary> & issue", "tasks": [
        { "id": "list", "tool": "fs:list_directory", "args": { "ms": 20, "value": ["a", "b"] } },
        { "id": "read", "tool": "fs:read_file", "for_each": "$OUTPUT[list]", "optional": true, "args": { "ms": 30, "value": "$ITEM" } },
        { "id": "broken", "tool": "work:fail", "optional": true },
        { "id": "sum \u{202e}odd", "code": "return $OUTPUT[read].length", "depends_on": ["broken"] },
        { "id": "fast", "tool": "a:b", "race": "first", "args": { "ms": 5 } },
        { "id": "slow", "tool": "a:b", "race": "first", "args": { "ms": 500 } },
        { "id": "save", "tool": "work:fail", "fallback": "save_local", "args": { "x": "$OUTPUT[first]", "y": "$OUTPUT[read]" } },
        { "id": "save_local", "tool": "fs:write_file" },
    ] })
}

pub fn golden(name: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("golden")
        .join(name);
    if std::env::var_os("PML_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text, expected, "{name}; PML_BLESS=1 writes it anew");
}

#[tokio::test(start_paused = true)]
async fn every_format_has_a_golden_file() {
    let plan = plan(example());
    let report = run_plan(&Fake::new(), example(), json!({})).await;
    golden("plan.txt", &show::text(&plan, None));
    golden("plan.mmd", &show::mermaid(&plan, None));
    golden("plan.dot", &show::dot(&plan, None));
    golden("plan.svg", &show::svg(&plan, None));
    golden("run.txt", &show::text(&plan, Some(&report)));
    golden("run.mmd", &show::mermaid(&plan, Some(&report)));
    golden("run.dot", &show::dot(&plan, Some(&report)));
    golden("run.svg", &show::svg(&plan, Some(&report)));
    let json = serde_json::to_string_pretty(&show::json(&plan, Some(&report))).unwrap();
    golden("run.json", &format!("{json}\n"));
}
