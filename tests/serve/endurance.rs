//! A thousand scripts over one connection leave nothing behind.

use std::fs;

use serde_json::json;

use super::driver::StdioClient;
use crate::gateway::{Place, demo};

const RUNS: usize = 1_000;
/// Runs before the baseline is taken: caches are warm by then, so later growth is a leak.
const WARM_UP: usize = 200;

/// Pids of the worker processes of a server.
pub fn workers_of(server: u32) -> Vec<u32> {
    children_of(server)
        .into_iter()
        .filter(|child| {
            let line = fs::read(format!("/proc/{child}/cmdline")).unwrap_or_default();
            let words: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
            words.get(1).is_some_and(|word| word.starts_with(b"__"))
        })
        .collect()
}

fn children_of(parent: u32) -> Vec<u32> {
    let mut children = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Some(id) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok())
        else {
            continue;
        };
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        // After the process name, which may contain anything: state, then parent pid.
        let mut fields = stat.rsplit(')').next().unwrap_or("").split_whitespace();
        if fields.nth(1).and_then(|field| field.parse().ok()) == Some(parent) {
            children.push(id);
        }
    }
    children
}

fn descriptors(process: u32) -> usize {
    fs::read_dir(format!("/proc/{process}/fd")).unwrap().count()
}

fn private_kib(process: u32) -> u64 {
    let rollup = fs::read_to_string(format!("/proc/{process}/smaps_rollup")).unwrap();
    rollup
        .lines()
        .filter(|line| line.starts_with("Private_"))
        .filter_map(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok())
        .sum()
}

fn threads(process: u32) -> usize {
    fs::read_dir(format!("/proc/{process}/task"))
        .unwrap()
        .count()
}

#[test]
fn a_thousand_scripts_leave_nothing_behind() {
    let data = tempfile::tempdir().unwrap();
    fs::write(data.path().join("a.txt"), "write to jane.roe@example.org").unwrap();
    let place = Place::with_servers(json!({ "demo": demo(data.path()) }));
    let mut client = StdioClient::open(&place, &[]);
    let server = client.id();
    let script = "console.log('line'); const text = await tools.demo.read_file({ path: 'a.txt' }); await store('k', text); return [text, 'x'.repeat(5000)]";
    let mut settled = None;
    for n in 0..RUNS {
        let envelope = match n % 10 {
            7 => client.run("throw new Error('on purpose')"),
            9 => client.run("return 'x'.repeat(30000)"),
            _ => client.run(script),
        };
        assert_eq!(envelope["ok"], n % 10 != 7, "{envelope}");
        if n == WARM_UP {
            std::thread::sleep(std::time::Duration::from_millis(500));
            settled = Some((
                private_kib(server),
                descriptors(server),
                children_of(server).len(),
                threads(server),
            ));
        }
    }
    std::thread::sleep(std::time::Duration::from_millis(500));
    let (memory, open, children, running) = settled.unwrap();
    let grown = private_kib(server).saturating_sub(memory);
    // Stored results may still grow: a hundred of 30 KB.
    assert!(
        grown < 8 * 1024,
        "the memory grew by {grown} KiB from {memory} KiB"
    );
    assert!(
        descriptors(server) <= open + 2,
        "{open} descriptors became {}",
        descriptors(server)
    );
    assert!(
        children_of(server).len() <= children + 1,
        "{children} processes became {}",
        children_of(server).len()
    );
    assert!(
        threads(server) <= running + 2,
        "{running} threads became {}",
        threads(server)
    );
}
