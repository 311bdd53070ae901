//! Time of `pml check` for a script of 300 lines with 500 tools, against the TypeScript compiler on the
//! same script.
//!
//! `cargo run --release -p pml-bench --bin check`

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use pml_bench::{Sample, build_pml, describe_machine, install_npm, millis, timed};
use serde_json::{Map, Value, json};

const ROUNDS: usize = 40;
const PEER_ROUNDS: usize = 5;
const TYPESCRIPT: &str = "6.0.3";
const TOOLS: usize = 500;

fn main() -> Result<()> {
    let pml = build_pml()?;
    let tsc = install_npm("typescript", TYPESCRIPT)?.join("tsc");
    let home = tempfile::tempdir()?;
    let found = prepare(&pml, home.path())?;
    ensure!(found >= TOOLS, "expected {TOOLS} tools, found {found}");
    println!("# Checks\n");
    println!("{}; peer: TypeScript {TYPESCRIPT}\n", describe_machine());
    println!("| what | pml check | tsc | target |");
    println!("|---|---|---|---|");
    let mut ours = Sample::default();
    for round in 0..=ROUNDS {
        let (done, time) = timed(|| run(command(&pml, home.path()).args(["check", "script.ts"])));
        done?;
        // The first round fills the file cache.
        if round > 0 {
            ours.push(time);
        }
    }
    let mut theirs = Sample::default();
    for _ in 0..PEER_ROUNDS {
        let (done, time) = timed(|| run(Command::new(&tsc).arg("-p").arg(home.path())));
        done?;
        theirs.push(time);
    }
    println!(
        "| 300 lines, {found} tools, whole process, median of {ROUNDS} | {} | {} | 10 ms |",
        millis(ours.median()),
        millis(theirs.median()),
    );
    Ok(())
}

/// Writes a configuration, a script and its types, and fills the tool cache. Returns the number of
/// tools.
fn prepare(pml: &Path, home: &Path) -> Result<usize> {
    let servers: Map<String, Value> = (0..TOOLS / 13 + 2)
        .map(|n| {
            (
                format!("demo{n}"),
                json!({ "command": pml, "args": ["demo-server", home] }),
            )
        })
        .collect();
    fs::write(
        home.join(".mcp.json"),
        json!({ "mcpServers": servers }).to_string(),
    )?;
    let listed = command(pml, home).args(["tools", "--json"]).output()?;
    let listed: Value =
        serde_json::from_slice(&listed.stdout).context("`pml tools` printed no JSON")?;
    let found = listed["tools"].as_array().map_or(0, Vec::len);
    let mut script = String::new();
    for n in 0..100 {
        // Writing to a string cannot fail.
        let _ = writeln!(
            script,
            "const answer{n} = await callTool(\"demo{}:count_text\", {{ text: `text {n}` }});\n\
             if (!answer{n}.success) throw new Error(answer{n}.error.message);\n\
             console.log(answer{n}.result.words, args.map((arg) => arg.length));",
            n % servers.len(),
        );
    }
    fs::write(home.join("script.ts"), script)?;
    run(command(pml, home).args(["types", "--standalone", "-o", "pml.d.ts"]))?;
    let config = json!({
        "compilerOptions": {
            "target": "ESNext", "module": "ESNext", "moduleResolution": "Bundler",
            "moduleDetection": "force", "lib": ["ESNext"], "types": [],
            "strict": true, "noEmit": true,
        },
        "files": ["pml.d.ts", "script.ts"],
    });
    fs::write(home.join("tsconfig.json"), config.to_string())?;
    Ok(found)
}

/// A `pml` command in the empty home folder `home`.
fn command(pml: &Path, home: &Path) -> Command {
    let mut command = Command::new(pml);
    command
        .current_dir(home)
        .env("HOME", home)
        .env_remove("XDG_CONFIG_HOME")
        .env_remove("XDG_DATA_HOME");
    command
}

fn run(command: &mut Command) -> Result<()> {
    let output = command.stdin(Stdio::null()).output();
    let output = output.with_context(|| format!("{command:?} could not be started"))?;
    let stdout = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success(), "{command:?} failed: {stdout}");
    Ok(())
}
