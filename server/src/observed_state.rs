//! What metrics read of a server when they are asked for.

use pml_gateway::policy::breaker::BreakerState;
use pml_policy::suspensions::Suspended;
use pml_telemetry::Gauge;

use crate::state::ServerState;

/// The values as they are now.
pub fn gauges(state: &ServerState) -> Vec<Gauge> {
    let mut gauges = vec![Gauge {
        labels: vec![("version", env!("CARGO_PKG_VERSION").to_owned())],
        ..gauge("pml.build.info", "The version of pml.", 1.0)
    }];
    gauges.extend(of_workers(state));
    gauges.extend(of_servers(state));
    gauges.extend(of_cache(state));
    gauges.extend(of_suspensions(state));
    gauges.push(gauge(
        "pml.requests.open",
        "Calls of clients in flight.",
        state.calls_in_flight() as f64,
    ));
    gauges
}

fn gauge(name: &'static str, help: &'static str, value: f64) -> Gauge {
    Gauge {
        name,
        help,
        is_counter: false,
        labels: Vec::new(),
        value,
    }
}

fn of_workers(state: &ServerState) -> Vec<Gauge> {
    let status = state.pool().status();
    let workers = |of: &str, count: usize| Gauge {
        labels: vec![("state", of.to_owned())],
        ..gauge("pml.workers", "Processes that run scripts.", count as f64)
    };
    vec![
        workers("idle", status.idle),
        workers("busy", status.running),
        gauge(
            "pml.runs.waiting",
            "Runs that wait for a slot.",
            status.waiting as f64,
        ),
    ]
}

fn of_servers(state: &ServerState) -> Vec<Gauge> {
    let of = |server: &str, name, help, value| Gauge {
        labels: vec![("server", server.to_owned())],
        ..gauge(name, help, value)
    };
    let all = state.gateway().server_snapshots().flat_map(|server| {
        let breaker = match server.breaker {
            BreakerState::Closed => 0.0,
            BreakerState::HalfOpen => 1.0,
            BreakerState::Open => 2.0,
        };
        [
            of(
                server.name,
                "pml.server.up",
                "Whether a server is connected.",
                f64::from(u8::from(server.is_up)),
            ),
            of(
                server.name,
                "pml.breaker.state",
                "The circuit breaker of a server: 0 closed, 1 half open, 2 open.",
                breaker,
            ),
        ]
    });
    all.collect()
}

fn of_suspensions(state: &ServerState) -> Vec<Gauge> {
    // What cannot be read is not known, and is no number.
    let Ok(all) = state.suspensions().all() else {
        return Vec::new();
    };
    let of = |what: &str, is_it: fn(&Suspended) -> bool| Gauge {
        labels: vec![("what", what.to_owned())],
        ..gauge(
            "pml.suspended",
            "Tools and principals that are withdrawn until a person has looked.",
            all.iter().filter(|one| is_it(&one.suspended)).count() as f64,
        )
    };
    vec![
        of("tool", |one| matches!(one, Suspended::Tool(_))),
        of("principal", |one| matches!(one, Suspended::Principal(_))),
    ]
}

fn of_cache(state: &ServerState) -> Vec<Gauge> {
    let stats = state.gateway().cache_stats();
    let lookups = |result: &str, count: u64| Gauge {
        is_counter: true,
        labels: vec![("result", result.to_owned())],
        ..gauge(
            "pml.cache.lookups",
            "Lookups of cached results.",
            count as f64,
        )
    };
    vec![lookups("hit", stats.hits), lookups("miss", stats.misses)]
}
