//! What a journal costs: a call, a script that calls nothing, and a resumed run; beside DBOS, which
//! journals the steps of Python functions in SQLite.

mod server;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use pml_bench::{Sample, build_pml, describe_machine, install_pip, millis, timed};
use serde_json::json;
use tempfile::TempDir;

use server::Server;

const DBOS: &str = "dbos==3.3.0";
/// The calls of a script, for the time that a journal adds to one.
const CALLS: usize = 1_000;
/// The calls of the script that is compared with the peer.
const PEER_CALLS: usize = 100;
const ROUNDS: usize = 7;
/// Scripts over MCP that call nothing.
const TRIVIAL: usize = 400;

/// The exit code of a run that waits for a person.
const WAITING: i32 = 75;

fn main() -> Result<()> {
    let bench = Bench::new(build_pml()?)?;
    println!("{}; peer: {DBOS} with SQLite", describe_machine());
    println!("\n| what | pml | peer or without a journal | target |\n|---|---|---|---|");
    bench.calls()?;
    bench.guarded_calls()?;
    bench.peer()?;
    bench.trivial_script()?;
    bench.resume()
}

struct Bench {
    pml: PathBuf,
    folder: TempDir,
}

/// How a script is run.
#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Plain,
    Durable,
}

impl Bench {
    fn new(pml: PathBuf) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let bench = Self { pml, folder };
        bench.configure("process.json", "process")?;
        bench.configure("power.json", "power")?;
        Ok(bench)
    }

    fn configure(&self, name: &str, durability: &str) -> Result<()> {
        let demo = json!({ "command": self.pml, "args": ["demo-server", self.folder.path()] });
        let config = json!({
            "mcpServers": { "demo": demo },
            "pml": {
                "effects": { "demo:count_text": "read", "demo:add_note": "guarded" },
                "policy": { "ask": ["demo:delete_note"] },
                "store": { "durability": durability },
            },
        });
        std::fs::write(self.file(name), config.to_string())?;
        Ok(())
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A command of `pml` with a store of its own.
    fn command(&self, config: &str, words: &[&str]) -> Command {
        let mut command = Command::new(&self.pml);
        command
            .args(words)
            .arg("--config")
            .arg(self.file(config))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    fn store(&self) -> String {
        format!("sqlite:{}", self.file("store/pml.db").display())
    }

    /// The time of a script from its start to its end, without that of the process.
    fn run(&self, config: &str, mode: Mode, script: &str) -> Result<Duration> {
        let calls = (CALLS * 2).to_string();
        let words = [
            "run",
            "--json",
            "--max-calls",
            &calls,
            "--timeout",
            "5m",
            "-e",
            script,
        ];
        let mut command = self.command(config, &words);
        if mode == Mode::Durable {
            command.args(["--durable", "--store", &self.store()]);
        }
        let output = command.stdout(Stdio::piped()).output()?;
        let outcome: serde_json::Value = serde_json::from_slice(&output.stdout)
            .with_context(|| format!("{command:?} printed no outcome"))?;
        ensure!(outcome["ok"] == true, "the script failed: {outcome}");
        let ms = outcome["stats"]["wall_ms"].as_f64().context("no time")?;
        Ok(Duration::from_secs_f64(ms / 1_000.0))
    }

    /// A script with and without a journal, in turn.
    fn with_and_without(&self, config: &str, script: &str) -> Result<(Duration, Duration)> {
        let (mut with, mut without) = (Sample::default(), Sample::default());
        for round in 0..=ROUNDS {
            let durable = self.run(config, Mode::Durable, script)?;
            let plain = self.run(config, Mode::Plain, script)?;
            // The first round fills caches.
            if round > 0 {
                with.push(durable);
                without.push(plain);
            }
        }
        Ok((with.median(), without.median()))
    }

    fn calls(&self) -> Result<()> {
        let script = reads(CALLS);
        let (with, without) = self.with_and_without("process.json", &script)?;
        println!(
            "| {CALLS} `read` calls in a row, median of {ROUNDS} | {} | {} | {:.1} µs more for a call; at most 60 µs |",
            millis(with),
            millis(without),
            added_micros(with, without, CALLS),
        );
        Ok(())
    }

    fn guarded_calls(&self) -> Result<()> {
        for (config, durability) in [("process.json", "process"), ("power.json", "power")] {
            let script = format!(
                "for (let i = 0; i < {PEER_CALLS}; i++) await tools.demo.add_note({{ title: `n${{i}}`, text: 'x' }}); return 1"
            );
            let (with, without) = self.with_and_without(config, &script)?;
            println!(
                "| {PEER_CALLS} `guarded` calls in a row, `{durability}` | {} | {} | {:.1} µs more for a call |",
                millis(with),
                millis(without),
                added_micros(with, without, PEER_CALLS),
            );
            let script = "await Promise.all(Array.from({ length: 40 }, (_, i) => tools.demo.add_note({ title: `n${i}`, text: 'x' }))); return 1";
            let (with, without) = self.with_and_without(config, script)?;
            println!(
                "| 40 `guarded` calls at once, `{durability}` | {} | {} | {:.1} µs more for a call |",
                millis(with),
                millis(without),
                added_micros(with, without, 40),
            );
        }
        Ok(())
    }

    fn peer(&self) -> Result<()> {
        let python = install_pip("DBOS", DBOS)?.join("bin/python");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bin/durable/dbos_steps.py");
        let (mut ours, mut theirs) = (Sample::default(), Sample::default());
        for _ in 0..3 {
            ours.push(self.run("process.json", Mode::Durable, &reads(PEER_CALLS))?);
            let output = Command::new(&python)
                .arg(&script)
                .arg(self.file("dbos.db"))
                .arg(PEER_CALLS.to_string())
                .output()?;
            let text = String::from_utf8_lossy(&output.stdout);
            let ms: f64 = text.trim().parse().context("DBOS printed no time")?;
            theirs.push(Duration::from_secs_f64(ms / 1_000.0));
        }
        println!(
            "| {PEER_CALLS} journaled calls of a server; DBOS: steps that do nothing | {} | {} | {:.3} |",
            millis(ours.median()),
            millis(theirs.median()),
            ours.median().as_secs_f64() / theirs.median().as_secs_f64(),
        );
        Ok(())
    }

    fn trivial_script(&self) -> Result<()> {
        let store = self.store();
        let mut with = Server::start(self.command("process.json", &["serve", "--store", &store]))?;
        self.configure_without()?;
        let mut without = Server::start(self.command("without.json", &["serve"]))?;
        let (mut durable, mut plain) = (Sample::default(), Sample::default());
        let execute = |server: &mut Server| -> Result<Duration> {
            let (done, time) = timed(|| server.execute("return 1"));
            done?;
            Ok(time)
        };
        for round in 0..TRIVIAL {
            // The first of the two finds the other's new worker being started.
            let (time, other) = match round % 2 {
                0 => {
                    let time = execute(&mut with)?;
                    (time, execute(&mut without)?)
                }
                _ => {
                    let other = execute(&mut without)?;
                    (execute(&mut with)?, other)
                }
            };
            if round > TRIVIAL / 10 {
                durable.push(time);
                plain.push(other);
            }
        }
        println!(
            "| trivial script over MCP, median of {TRIVIAL} | {} | {} | {:.2}; at most 1.05 |",
            millis(durable.median()),
            millis(plain.median()),
            durable.median().as_secs_f64() / plain.median().as_secs_f64(),
        );
        Ok(())
    }

    fn configure_without(&self) -> Result<()> {
        let text = std::fs::read_to_string(self.file("process.json"))?;
        let mut config: serde_json::Value = serde_json::from_str(&text)?;
        config["pml"]["runs"] = json!({ "durable": false });
        std::fs::write(self.file("without.json"), config.to_string())?;
        Ok(())
    }

    /// A run that waits for an approval behind its calls is executed again by every `pml resume`.
    fn resume(&self) -> Result<()> {
        let script =
            reads(CALLS).replace("return 1", "return await tools.demo.delete_note({ id: 1 })");
        let store = self.store();
        let calls = (CALLS * 2).to_string();
        let words = [
            "run",
            "--durable",
            "--run-id",
            "long",
            "--max-calls",
            &calls,
            "--store",
            &store,
            "-e",
            &script,
        ];
        let status = self.command("process.json", &words).status()?;
        ensure!(
            status.code() == Some(WAITING),
            "the run does not wait: {status}"
        );
        let mut times = Sample::default();
        for round in 0..=ROUNDS {
            let words = ["resume", "long", "--store", &store];
            let (done, time) = timed(|| self.command("process.json", &words).status());
            ensure!(
                done?.code() == Some(WAITING),
                "the resumed run does not wait"
            );
            if round > 0 {
                times.push(time);
            }
        }
        println!(
            "| `pml resume` of a run with {CALLS} journaled calls, whole process | {} |  | at most 200 ms |",
            millis(times.median()),
        );
        Ok(())
    }
}

/// A script with calls that read, one after the other.
fn reads(calls: usize) -> String {
    format!(
        "for (let i = 0; i < {calls}; i++) await tools.demo.count_text({{ text: `line ${{i}}` }}); return 1"
    )
}

fn added_micros(with: Duration, without: Duration, calls: usize) -> f64 {
    (with.as_secs_f64() - without.as_secs_f64()) * 1e6 / calls as f64
}
