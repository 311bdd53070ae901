//! A full disk and one that cannot be written.

use std::process::{Command, Output};

use super::ledger::{Ledger, stderr};

/// Runs `pml` commands, one per line, where the folder of the store is a file system of its own. `None` if
/// that cannot be made here.
fn on_disk(ledger: &Ledger, options: &str, commands: &str) -> Option<Output> {
    std::fs::create_dir_all(ledger.file("store")).expect("a folder");
    let pml = ledger.pml(&[]);
    let script = format!(
        "mount -t tmpfs -o {options} none store || exit 99\npml() {{ \"$PML\" \"$@\" --config mcp.json --store sqlite:store/pml.db; }}\n{commands}"
    );
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", &script])
        .env("PML", pml.get_program())
        .env("PML_TRUST", "1")
        .current_dir(ledger.path())
        .output()
        .ok()?;
    match output.status.code() {
        Some(99) => None,
        _ if stderr(&output).contains("unshare failed") => None,
        _ => Some(output),
    }
}

#[test]
fn a_full_disk_is_one_sentence_and_the_run_can_be_looked_at() {
    let ledger = Ledger::new();
    ledger.write("script.ts", "for (let i = 0; i < 90; i++) await tools.s.put({ text: `${i} ` + 'x'.repeat(20_000) }); return 'all'");
    let commands =
        "pml run --durable --run-id r script.ts; echo \"code $?\"\npml runs show r --json";
    let Some(output) = on_disk(&ledger, "size=1m", commands) else {
        eprintln!("no user namespaces here: a full disk is NOT tested");
        return;
    };
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("code 70"), "{output:?}");
    let errors = stderr(&output);
    assert!(errors.contains("is full"), "{errors}");
    assert!(!errors.contains("panicked"), "{errors}");
    let shown: serde_json::Value =
        serde_json::from_str(text.split_once('\n').expect("two answers").1).expect("JSON");
    let calls = shown["calls"].as_array().expect("calls").len();
    assert!(calls > 5, "{calls}");
    // A call that may be repeated is not on disk before it is sent; the run ends soon after the first that
    // cannot be written.
    let effects = ledger.effects().len();
    assert!(effects <= calls + 5, "{effects} effects, {calls} calls");
}

#[test]
fn a_disk_that_cannot_be_written_is_named() {
    let ledger = Ledger::new();
    ledger.write("script.ts", "await tools.s.put({ text: 'a' }); return 1");
    let commands = "pml run --durable script.ts; echo \"code $?\"; pml runs; echo \"code $?\"";
    let Some(output) = on_disk(&ledger, "ro", commands) else {
        eprintln!("no user namespaces here: a read-only disk is NOT tested");
        return;
    };
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(text.matches("code 2").count(), 2, "{output:?}");
    let errors = stderr(&output);
    assert_eq!(errors.matches("error:").count(), 2, "{errors}");
    assert!(
        errors.contains("pml.db") || errors.contains("store"),
        "{errors}"
    );
    assert!(ledger.effects().is_empty());
}
