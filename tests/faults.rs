//! Fault injection: twenty demo servers are killed and stopped, and print garbage, while fifty
//! scripts call them.
//!
//! It takes ten seconds by default; `PML_FAULT_SECONDS=60` runs the full test.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use pml_gateway::Gateway;
use pml_gateway::config::{Config, ServerConfig};
use pml_hosts::stack::{self, LiveRun};
use pml_protocol::Limits;
use pml_runtime::{Pool, PoolOptions, Script};
use pml_search::{Search, SearchOptions, ToolFinder};
use serde::Deserialize;
use serde_json::Value;

use crate::support::binary;
use processes::{eventually, processes_with};

#[path = "../gateway/tests/processes.rs"]
mod processes;

const SERVERS: usize = 20;
/// Number of servers that print garbage between their messages.
const NOISY: usize = 5;
const SCRIPTS: usize = 50;

/// Twenty calls, each with a unique title, to servers chosen at random.
const SCRIPT: &str = r#"
const [script, servers] = args;
const results = [];
for (let n = 0; n < 20; n++) {
  const title = `${script}-${n}`;
  const server = String(Math.floor(Math.random() * Number(servers))).padStart(2, "0");
  const { success, error } = await callTool(`s${server}:add_note`, { title, text: "" });
  results.push({ title, success, message: error?.message ?? "" });
}
return results;
"#;

/// The outcome of one call, as its script saw it.
#[derive(Deserialize)]
struct CallReport {
    title: String,
    success: bool,
    message: String,
}

impl CallReport {
    fn was_never_sent(&self) -> bool {
        let signs = ["before the call was sent", "is not usable"];
        !self.success && signs.iter().any(|sign| self.message.contains(sign))
    }
}

/// Runs in its own process, because it counts descriptors, memory and zombies.
#[test]
fn no_call_is_lost_or_doubled_and_nothing_leaks_under_faults() {
    let run = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "faults::faults", "--ignored", "--nocapture"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    println!("{said}");
    assert!(
        run.status.success(),
        "{said}\n{}",
        String::from_utf8_lossy(&run.stderr)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "started by the test above"]
async fn faults() {
    let seconds = std::env::var("PML_FAULT_SECONDS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(10);
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("journal");
    let mark = journal.display().to_string();
    let gateway = Gateway::open(Config::of(
        (0..SERVERS).map(|number| demo(number, &journal)),
    ))
    .unwrap();
    gateway.warm().await;
    let pool = Arc::new(pool());
    let (descriptors, memory) = (descriptors(), resident());

    let stop = Arc::new(AtomicBool::new(false));
    let scripts: Vec<_> = (0..SCRIPTS)
        .map(|number| {
            let work = run_scripts(gateway.clone(), pool.clone(), number, stop.clone());
            tokio::spawn(work)
        })
        .collect();
    let faults = cause_faults(&mark, Duration::from_secs(seconds)).await;
    stop.store(true, Ordering::Relaxed);
    let mut results = Vec::new();
    for script in scripts {
        results.extend(script.await.unwrap());
    }
    let grown = resident().saturating_sub(memory);

    let done = done(&journal);
    let count = |call: &CallReport| done.get(&call.title).copied().unwrap_or(0);
    let answered = results.iter().filter(|call| call.success).count();
    let unsent = results.iter().filter(|call| call.was_never_sent()).count();
    println!(
        "{seconds} s, {faults} faults: {answered} calls answered, {unsent} refused unsent, {} unsure; memory grew by {} KiB",
        results.len() - answered - unsent,
        grown / 1024
    );
    assert!(answered > 100, "too few calls went through");
    for call in &results {
        let title = &call.title;
        assert!(count(call) <= 1, "{title} was done {} times", count(call));
        assert!(
            !call.success || count(call) == 1,
            "{title} was answered and not done"
        );
        assert!(
            !call.was_never_sent() || count(call) == 0,
            "{title} was called unsent and done"
        );
    }
    assert!(grown < 64 * 1024 * 1024, "{grown} bytes more than before");

    gateway.shutdown().await;
    assert!(
        eventually(async || processes_with(&mark).is_empty()).await,
        "{:?}",
        processes_with(&mark)
    );
    drop((gateway, pool));
    assert!(
        eventually(async || zombies() == 0).await,
        "{} zombies",
        zombies()
    );
    assert!(
        eventually(async || self::descriptors() <= descriptors).await,
        "{} descriptors, {descriptors} before",
        self::descriptors()
    );
}

fn demo(number: usize, journal: &Path) -> ServerConfig {
    let mut args = vec!["demo-server".to_owned(), "--journal".to_owned()];
    args.push(journal.display().to_string());
    if number < NOISY {
        args.push("--noise".to_owned());
    }
    let program = binary().display().to_string();
    ServerConfig::stdio(format!("s{number:02}"), program, args)
}

fn pool() -> Pool {
    let options = PoolOptions {
        program: binary(),
        running: SCRIPTS,
        ..PoolOptions::new().unwrap()
    };
    Pool::new(options)
}

/// Runs scripts one after the other until `stop` is set, and returns the outcomes of their calls.
async fn run_scripts(
    gateway: Gateway,
    pool: Arc<Pool>,
    number: usize,
    stop: Arc<AtomicBool>,
) -> Vec<CallReport> {
    let search = Search::new(SearchOptions::default());
    let finder = Arc::new(ToolFinder::new(gateway.clone(), search));
    // All twenty calls of a script may hit a server that hangs.
    let limits = Limits {
        wall_ms: 120_000,
        cpu_ms: 60_000,
        ..Limits::default()
    };
    let mut results = Vec::new();
    for round in 0.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let script = Script {
            name: "faults.ts".to_owned(),
            source: SCRIPT.to_owned(),
            args: vec![format!("{number}-{round}"), SERVERS.to_string()],
        };
        let host = stack::live(LiveRun {
            gateway: gateway.clone(),
            search: finder.clone(),
            storage: Arc::default(),
            placeholders: None,
            person: None,
            observers: vec![finder.clone()],
            limits,
            tool_timeout: Some(Duration::from_secs(3)),
            journal: None,
            approvals: None,
            telemetry: None,
            costs: Default::default(),
            suspensions: Default::default(),
            script_observer: None,
            speculated: None,
            audit: None,
            progress: Arc::new(|_| {}),
        });
        let outcome = pool.run(script, limits, host, &mut |_| {}).await;
        let result = outcome.result.as_ref().map(|result| result.get());
        let result = result.unwrap_or_else(|| panic!("{:?}", outcome.error));
        results.extend(serde_json::from_str::<Vec<CallReport>>(result).unwrap());
    }
    results
}

/// How often the servers stored each title.
fn done(journal: &Path) -> HashMap<String, usize> {
    let mut done = HashMap::new();
    for line in std::fs::read_to_string(journal).unwrap().lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let title = line["args"]["title"].as_str().unwrap().to_owned();
        *done.entry(title).or_default() += 1;
    }
    done
}

async fn cause_faults(mark: &str, time: Duration) -> usize {
    let end = Instant::now() + time;
    let mut faults = 0;
    while Instant::now() < end {
        tokio::time::sleep(Duration::from_millis(150)).await;
        let servers = processes_with(mark);
        let Some(server) = pick(&servers) else {
            continue;
        };
        faults += 1;
        if faults % 3 == 0 {
            signal(server, libc::SIGSTOP);
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_millis(faults as u64 * 997 % 6000)).await;
                signal(server, libc::SIGCONT);
            });
        } else {
            signal(server, libc::SIGKILL);
        }
    }
    faults
}

fn pick(servers: &[u32]) -> Option<u32> {
    use std::hash::{BuildHasher, RandomState};
    let random = RandomState::new().hash_one(0) as usize;
    servers.get(random.checked_rem(servers.len())?).copied()
}

fn signal(process: u32, signal: i32) {
    // SAFETY: kill has no memory effects; the process is a server of this test.
    unsafe {
        libc::kill(process.cast_signed(), signal);
    }
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages = statm.split_whitespace().nth(1).unwrap();
    pages.parse::<usize>().unwrap() * 4096
}

/// The number of zombies among the children of this process.
fn zombies() -> usize {
    let own = std::process::id().to_string();
    std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok())
        .filter(|stat| {
            // After the process name, which may contain anything: state, then parent pid.
            let mut fields = stat.rsplit(')').next().unwrap_or("").split_whitespace();
            fields.next() == Some("Z") && fields.next() == Some(own.as_str())
        })
        .count()
}
