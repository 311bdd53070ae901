//! `pml test` against `deno test` on 200 files of one small test each.
//!
//! `pml test` starts a sandboxed process for each file; Deno runs all of them in one.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use pml_bench::{Sample, build_pml, cache_folder, describe_machine, install_npm, millis, timed};

const DENO: &str = "2.9.6";
const FILES: usize = 200;
const ROUNDS: usize = 5;
const TARGET_SECONDS: f64 = 5.0;

fn main() -> Result<()> {
    let pml = build_pml()?;
    let deno = install_npm("deno", DENO)?.join("deno");
    let ours = write_tests("pml", |i| {
        format!(
            "import {{ expect, mockTool, test }} from \"pml/test\";\n\
             test(\"adds {i}\", async () => {{\n  \
               const add = mockTool(\"math:add\", ({{ a, b }}) => a + b);\n  \
               expect(await tools.math.add({{ a: {i}, b: 1 }})).toBe({});\n  \
               expect(add).toHaveBeenCalledTimes(1);\n\
             }});\n",
            i + 1
        )
    })?;
    let theirs = write_tests("deno", |i| {
        format!(
            "const add = async ({{ a, b }}: {{ a: number; b: number }}) => a + b;\n\
             Deno.test(\"adds {i}\", async () => {{\n  \
               if (await add({{ a: {i}, b: 1 }}) !== {}) throw new Error(\"wrong\");\n\
             }});\n",
            i + 1
        )
    })?;

    println!("{}; peer: Deno {DENO}", describe_machine());
    println!("\n| what | pml | Deno | ratio or target |\n|---|---|---|---|");
    let (mut pml_times, mut deno_times) = (Sample::default(), Sample::default());
    // The two alternate, so that noise on the machine affects both.
    for round in 0..=ROUNDS {
        let (done, time) = timed(|| run(Command::new(&pml).arg("test").current_dir(&ours)));
        done?;
        let mut peer = Command::new(&deno);
        peer.args(["test", "--no-check", "--parallel"])
            .current_dir(&theirs);
        let (done, other) = timed(|| run(&mut peer));
        done?;
        // The first round fills the file cache.
        if round > 0 {
            pml_times.push(time);
            deno_times.push(other);
        }
    }
    println!(
        "| {FILES} files of one test, median of {ROUNDS} | {} | {} | {:.2}; target {TARGET_SECONDS} s on 2 cores |",
        millis(pml_times.median()),
        millis(deno_times.median()),
        pml_times.median().as_secs_f64() / deno_times.median().as_secs_f64(),
    );
    Ok(())
}

fn write_tests(name: &str, text: impl Fn(usize) -> String) -> Result<PathBuf> {
    let folder = cache_folder()?.join("tests").join(name);
    fs::create_dir_all(&folder)
        .with_context(|| format!("the folder {} cannot be created", folder.display()))?;
    for i in 0..FILES {
        fs::write(folder.join(format!("file{i}.test.ts")), text(i))?;
    }
    Ok(folder)
}

fn run(command: &mut Command) -> Result<()> {
    let status = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .with_context(|| format!("{command:?} could not be started"))?;
    ensure!(status.success(), "{command:?} failed");
    Ok(())
}
