//! Durable runs that call functions.

use serde_json::{Value, json};

use super::ledger::{Ledger, kill};
use crate::support::repository;

/// A ledger with functions that make calls of their own.
fn ledger() -> Ledger {
    let ledger = Ledger::new();
    let server = repository().join("tests/durable/ledger.py");
    let config = json!({
        "mcpServers": {
            "s": { "command": "python3", "args": [server, ledger.path()] },
            "local": { "functions": "functions.ts", "trust": "annotations" },
        },
        "pml": { "effects": { "s:look": "read", "s:put": "idempotent" } },
    });
    ledger.write("mcp.json", &config.to_string());
    ledger.write(
        "functions.ts",
        "export async function twice(text: string, hold?: string): Promise<string> {\n\
           await tools.s.record({ text: text + '-1' });\n\
           await tools.s.record({ text: text + '-2', ...(hold ? { hold } : {}) });\n\
           return text;\n\
         }\n\
         /** @effect idempotent */\n\
         export async function again(text: string, hold: string): Promise<string> {\n\
           await tools.s.put({ text: text + '-1' });\n\
           await tools.s.look({ text, hold });\n\
           return text;\n\
         }\n",
    );
    ledger
}

#[test]
fn a_function_that_has_returned_is_not_run_again() {
    let ledger = ledger();
    let run = ledger.start(
        "const a = await tools.local.twice({ text: 'a' });\n\
         await tools.s.look({ text: 'x', hold: 'before' });\n\
         return a + await tools.local.twice({ text: 'b' });",
    );
    ledger.wait_until_held();
    kill(run);
    ledger.let_go();
    let outcome = ledger.resume();
    assert_eq!(outcome["result"], json!("ab"), "{outcome}");
    let effects = ["a-1", "a-2", "b-1", "b-2"].map(|text| format!("record {text}"));
    assert_eq!(ledger.effects(), effects);
}

#[test]
fn a_function_that_may_have_had_effects_waits_for_a_person() {
    let ledger = ledger();
    let run = ledger.start("return await tools.local.twice({ text: 'a', hold: 'after' })");
    ledger.wait_until_held();
    kill(run);
    ledger.let_go();
    let outcome = ledger.resume();
    assert_eq!(outcome["error"]["kind"], "unknown", "{outcome}");
    assert_eq!(ledger.effects(), ["record a-1", "record a-2"]);
    let shown = ledger.show();
    let number = shown["unknown"][0]["call"].to_string();
    assert_eq!(shown["unknown"][0]["tool"], "local:twice", "{shown}");
    ledger.json(&[
        "runs",
        "settle",
        "r",
        &number,
        "--json",
        "--happened",
        "\"a\"",
    ]);
    let outcome: Value = ledger.resume();
    assert_eq!(outcome["result"], json!("a"), "{outcome}");
    assert_eq!(ledger.effects(), ["record a-1", "record a-2"]);
}

#[test]
fn a_function_that_may_be_repeated_is_run_again() {
    let ledger = ledger();
    let run = ledger.start("await tools.s.record({ text: 'x' }); return await tools.local.again({ text: 'a', hold: 'after' })");
    ledger.wait_until_held();
    kill(run);
    ledger.let_go();
    let outcome = ledger.resume();
    assert_eq!(outcome["result"], json!("a"), "{outcome}");
    assert_eq!(ledger.effects(), ["record x", "put a-1", "put a-1"]);
}
