//! The metrics that are counted here: their names, units and labels.

/// The bounds of the histograms of durations, in seconds, as the conventions for MCP have them.
const DURATIONS: &[f64] = &[
    0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0,
];

/// What a metric is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FamilyKind {
    /// A sum that only grows.
    Counter,
    /// Counts of values up to each bound.
    Histogram(&'static [f64]),
}

/// A metric with its labels.
#[derive(Debug)]
pub struct Family {
    /// The name of OpenTelemetry.
    pub name: &'static str,
    pub unit: &'static str,
    pub help: &'static str,
    pub kind: FamilyKind,
    pub labels: &'static [&'static str],
    /// The label whose values come from servers and scripts: beyond a number, they become `other`.
    pub open: Option<usize>,
}

impl Family {
    /// The name of Prometheus: with the unit, and `_total` for a counter.
    pub fn prometheus_name(&self) -> String {
        let mut name = self.name.replace('.', "_");
        if self.unit == "s" {
            name += "_seconds";
        }
        if self.kind == FamilyKind::Counter {
            name += "_total";
        }
        name
    }
}

pub static CLIENT_DURATION: Family = Family {
    name: "mcp.client.operation.duration",
    unit: "s",
    help: "Requests to MCP servers, from their dispatch to their answer.",
    kind: FamilyKind::Histogram(DURATIONS),
    labels: &[
        "mcp.method.name",
        "gen_ai.tool.name",
        "network.transport",
        "error.type",
    ],
    open: Some(1),
};

pub static SERVER_DURATION: Family = Family {
    name: "mcp.server.operation.duration",
    unit: "s",
    help: "Requests of clients to pml.",
    kind: FamilyKind::Histogram(DURATIONS),
    labels: &[
        "mcp.method.name",
        "gen_ai.tool.name",
        "network.transport",
        "error.type",
    ],
    open: None,
};

pub static CALLS: Family = Family {
    name: "pml.calls",
    unit: "",
    help: "Requests to MCP servers by their outcome: ok, cached, speculated, or the kind of the error.",
    kind: FamilyKind::Counter,
    labels: &["tool", "outcome"],
    open: Some(0),
};

pub static RETRIES: Family = Family {
    name: "pml.call.retries",
    unit: "",
    help: "Further attempts of calls.",
    kind: FamilyKind::Counter,
    labels: &["server"],
    open: Some(0),
};

pub static SPECULATED: Family = Family {
    name: "pml.speculated.calls",
    unit: "",
    help: "Calls that were made ahead of the script, and those of them whose results the script took.",
    kind: FamilyKind::Counter,
    labels: &["result"],
    open: None,
};

pub static COSTS: Family = Family {
    name: "pml.call.cost",
    unit: "",
    help: "What calls cost, in the unit of pml.workflows.costs.",
    kind: FamilyKind::Counter,
    labels: &["tool"],
    open: Some(0),
};

pub static GUARDS: Family = Family {
    name: "pml.guard.verdicts",
    unit: "",
    help: "What guards said about calls: warn, repair or block.",
    kind: FamilyKind::Counter,
    labels: &["guard", "verdict"],
    open: None,
};

pub static WAITS: Family = Family {
    name: "pml.wait.duration",
    unit: "s",
    help: "Time that runs and calls waited for a worker, a slot or a person.",
    kind: FamilyKind::Histogram(DURATIONS),
    labels: &["for"],
    open: None,
};

pub static RUNS: Family = Family {
    name: "pml.run.duration",
    unit: "s",
    help: "Runs of scripts by their outcome: ok, or the kind of the error.",
    kind: FamilyKind::Histogram(DURATIONS),
    labels: &["outcome"],
    open: None,
};

pub static REDACTIONS: Family = Family {
    name: "pml.redactions",
    unit: "",
    help: "Values that scrubbing replaced in replies, by their kind.",
    kind: FamilyKind::Counter,
    labels: &["kind"],
    open: Some(0),
};

pub static ANOMALIES: Family = Family {
    name: "pml.anomalies",
    unit: "",
    help: "Sudden changes of a tool: of its latency, error rate or call volume.",
    kind: FamilyKind::Counter,
    labels: &["tool", "signal"],
    open: Some(0),
};

/// All of them, in the order of `/metrics`.
pub static ALL: [&Family; 11] = [
    &CLIENT_DURATION,
    &SERVER_DURATION,
    &CALLS,
    &RETRIES,
    &SPECULATED,
    &COSTS,
    &GUARDS,
    &WAITS,
    &RUNS,
    &REDACTIONS,
    &ANOMALIES,
];
