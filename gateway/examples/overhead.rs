//! What the gateway adds to a call, side by side with a bare rmcp client in the same run:
//! `cargo run --release -p pml-gateway --example overhead`

use std::io::{BufRead, Write};
use std::process::Stdio;
use std::time::{Duration, Instant};

use pml_gateway::config::Config;
use pml_gateway::{Gateway, RunLimits, RunScope};
use rmcp::ServiceExt;
use rmcp::model::CallToolRequestParams;
use rmcp::service::{RoleClient, RunningService};
use serde_json::{Value, json};

const ROUNDS: usize = 400;
const CALLS_A_ROUND: usize = 10;
const AT_ONCE: u32 = 200;
const SLEEP: Duration = Duration::from_millis(100);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == "serve") {
        return serve();
    }
    // One thread: on a machine with other work, wake-ups across cores would drown the difference.
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(async {
            match arguments.as_slice() {
                [client, calls] => repeat(client == "gateway", calls.parse()?).await,
                _ => measure().await,
            }
        })
}

async fn measure() -> Result<(), Box<dyn std::error::Error>> {
    let own = std::env::current_exe()?;
    let bare = bare_client(&own).await?;
    let (gateway, scope) = gateway(&own)?;
    for (name, text) in [
        ("a short answer", "hello".to_owned()),
        ("an answer of 32 KiB", "x".repeat(32 * 1024)),
    ] {
        let arguments = json!({ "text": text });
        let (mut bare_times, mut gateway_times) = (Times::default(), Times::default());
        for _ in 0..ROUNDS {
            for _ in 0..CALLS_A_ROUND {
                let start = Clocks::now();
                call_bare(&bare, "echo", &arguments).await?;
                bare_times.add(start);
            }
            for _ in 0..CALLS_A_ROUND {
                let start = Clocks::now();
                gateway
                    .call(&scope, "bench:echo", arguments.clone())
                    .await?;
                gateway_times.add(start);
            }
        }
        let ((bare_wall, bare_cpu), (wall, cpu)) = (bare_times.medians(), gateway_times.medians());
        println!(
            "{name}: bare rmcp {bare_wall:.1} us, gateway {wall:.1} us, ratio {:.3}; of that on our processor {bare_cpu:.1} and {cpu:.1} us, so {:+.1} us a call (medians of {})",
            wall / bare_wall,
            cpu - bare_cpu,
            ROUNDS * CALLS_A_ROUND
        );
    }
    let (mut bare_ratios, mut gateway_ratios) = (Vec::new(), Vec::new());
    let nothing = json!({});
    for _ in 0..9 {
        let start = Instant::now();
        let calls = (0..AT_ONCE).map(|_| call_bare(&bare, "sleep", &nothing));
        futures::future::try_join_all(calls).await?;
        bare_ratios.push(start.elapsed().as_secs_f64() / SLEEP.as_secs_f64());

        let start = Instant::now();
        let calls = (0..AT_ONCE).map(|_| gateway.call(&scope, "bench:sleep", json!({})));
        futures::future::try_join_all(calls).await?;
        gateway_ratios.push(start.elapsed().as_secs_f64() / SLEEP.as_secs_f64());
    }
    bare_ratios.sort_by(f64::total_cmp);
    gateway_ratios.sort_by(f64::total_cmp);
    println!(
        "{AT_ONCE} calls at once to a tool that sleeps {} ms: {:.3} times the ideal, best {:.3} (bare rmcp {:.3}, best {:.3}; medians of 9)",
        SLEEP.as_millis(),
        gateway_ratios[4],
        gateway_ratios[0],
        bare_ratios[4],
        bare_ratios[0]
    );
    gateway.shutdown().await;
    Ok(())
}

/// Only short calls through one of the clients, for a tool that counts instructions:
/// `valgrind --tool=callgrind overhead gateway 1000`, and the same with `bare`.
async fn repeat(through_gateway: bool, calls: usize) -> Result<(), Box<dyn std::error::Error>> {
    let own = std::env::current_exe()?;
    let arguments = json!({ "text": "hello" });
    if through_gateway {
        let (gateway, scope) = gateway(&own)?;
        for _ in 0..calls {
            gateway
                .call(&scope, "bench:echo", arguments.clone())
                .await?;
        }
        gateway.shutdown().await;
    } else {
        let bare = bare_client(&own).await?;
        for _ in 0..calls {
            call_bare(&bare, "echo", &arguments).await?;
        }
    }
    Ok(())
}

async fn bare_client(
    own: &std::path::Path,
) -> Result<RunningService<RoleClient, ()>, Box<dyn std::error::Error>> {
    let mut child = tokio::process::Command::new(own)
        .arg("serve")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let pipes = (
        child.stdout.take().ok_or("no output")?,
        child.stdin.take().ok_or("no input")?,
    );
    // The pipes end the server when the client is dropped.
    tokio::spawn(async move { child.wait().await });
    Ok(().serve(pipes).await?)
}

async fn call_bare(
    client: &RunningService<RoleClient, ()>,
    tool: &'static str,
    arguments: &Value,
) -> Result<(), Box<dyn std::error::Error>> {
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    client
        .call_tool(CallToolRequestParams::new(tool).with_arguments(arguments))
        .await?;
    Ok(())
}

fn gateway(own: &std::path::Path) -> Result<(Gateway, RunScope), Box<dyn std::error::Error>> {
    let text = json!({
        "mcpServers": { "bench": { "command": own, "args": ["serve"] } },
        "pml": { "policy": { "budget": { "calls": 10_000_000 } } },
    });
    let gateway = Gateway::open(Config::parse("bench".as_ref(), &text.to_string(), &|_| {
        None
    })?)?;
    let scope = gateway.run(RunLimits {
        concurrent: Some(AT_ONCE),
        ..RunLimits::default()
    });
    Ok((gateway, scope))
}

/// Wall time, and the time our own thread computed.
struct Clocks {
    wall: Instant,
    cpu: Duration,
}

impl Clocks {
    fn now() -> Self {
        let mut time = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: the clock exists on every supported system, and `time` is valid to write to.
        unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
        Self {
            wall: Instant::now(),
            cpu: Duration::new(
                time.tv_sec.unsigned_abs(),
                time.tv_nsec.unsigned_abs() as u32,
            ),
        }
    }
}

#[derive(Default)]
struct Times {
    wall: Vec<f64>,
    cpu: Vec<f64>,
}

impl Times {
    fn add(&mut self, start: Clocks) {
        let end = Clocks::now();
        self.wall.push((end.wall - start.wall).as_secs_f64() * 1e6);
        self.cpu.push((end.cpu - start.cpu).as_secs_f64() * 1e6);
    }

    fn medians(mut self) -> (f64, f64) {
        self.wall.sort_by(f64::total_cmp);
        self.cpu.sort_by(f64::total_cmp);
        (self.wall[self.wall.len() / 2], self.cpu[self.cpu.len() / 2])
    }
}

/// The server: as little as MCP allows, so that the clients are what is measured.
fn serve() -> Result<(), Box<dyn std::error::Error>> {
    let write = |message: Value| -> std::io::Result<()> {
        let mut out = std::io::stdout().lock();
        writeln!(out, "{message}")?;
        out.flush()
    };
    let schema = json!({ "type": "object", "properties": { "text": { "type": "string" } } });
    for line in std::io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line?)?;
        let Some(id) = message.get("id").cloned() else {
            continue;
        };
        let answer = |result: Value| json!({ "jsonrpc": "2.0", "id": id, "result": result });
        match message["method"].as_str() {
            Some("initialize") => write(answer(json!({
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "bench", "version": "1" },
            })))?,
            Some("tools/list") => write(answer(json!({ "tools": [
                { "name": "echo", "inputSchema": schema }, { "name": "sleep", "inputSchema": schema },
            ] })))?,
            Some("tools/call") => {
                let text = message["params"]["arguments"]["text"].clone();
                let text = text.as_str().unwrap_or("slept").to_owned();
                let result = answer(json!({ "content": [{ "type": "text", "text": text }] }));
                if message["params"]["name"] == "sleep" {
                    std::thread::spawn(move || {
                        std::thread::sleep(SLEEP);
                        write(result)
                    });
                } else {
                    write(result)?;
                }
            }
            _ => write(answer(json!({})))?,
        }
    }
    Ok(())
}
