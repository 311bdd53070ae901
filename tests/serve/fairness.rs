//! Fair scheduling between clients.

use std::time::{Duration, Instant};

use serde_json::json;

use super::driver::{HttpServer, python};
use crate::gateway::Place;

/// About one second of CPU time.
const WORK: &str = "let n = 0; const until = performance.now() + 1e9; for (let i = 0; i < 4e8; i++) n = (n + i) | 0; return n";

fn time(server: &HttpServer) -> Duration {
    let began = Instant::now();
    let heard = python(&json!({
        "mode": "legacy", "url": server.url,
        "steps": [{ "tool": "execute_code", "args": { "code": WORK } }],
    }));
    assert_eq!(heard["steps"][0]["isError"], false, "{heard}");
    began.elapsed()
}

#[test]
fn a_client_with_many_endless_loops_does_not_starve_another() {
    let place = Place::empty();
    let server = HttpServer::open(&place, &[]);
    let alone = time(&server);
    let loops: Vec<_> = (0..16)
        .map(|_| json!({ "tool": "execute_code", "args": { "code": "for (;;) {}", "cpu_ms": 2500 } }))
        .collect();
    let busy = json!({ "mode": "legacy", "url": server.url, "steps": loops, "together": true });
    std::thread::scope(|scope| {
        let hostile = scope.spawn(|| python(&busy));
        std::thread::sleep(Duration::from_secs(2));
        let beside = time(&server);
        let share = beside.as_secs_f64() / alone.as_secs_f64();
        // Two clients share the cores, so one gets at least half of them.
        assert!(share < 4.0, "alone {alone:?}, beside the other {beside:?}");
        let heard = hostile.join().unwrap();
        let steps = heard["steps"].as_array().unwrap();
        assert!(steps.iter().all(|step| step["isError"] == true), "{heard}");
    });
}
