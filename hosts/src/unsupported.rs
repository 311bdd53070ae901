//! Requests that a base host does not answer.

use pml_protocol::{Failure, FailureKind, Hint, Request};

/// The failure of a request that this kind of run has no host for.
pub fn unsupported(request: &Request) -> Failure {
    match request {
        Request::Harness { .. } => Failure::new(FailureKind::Denied, "this run is not a test"),
        Request::Store { .. } | Request::Load { .. } => Failure::new(
            FailureKind::Denied,
            "this run stores no values from script to script",
        ),
        Request::Resource { server, .. } => Failure::new(
            FailureKind::Unknown,
            format!("there is no server \"{server}\"; add it to .mcp.json in the working folder"),
        ),
        Request::Call { tool, .. } | Request::Describe { tool } => Failure::new(
            FailureKind::Unknown,
            format!("there is no tool \"{tool}\" in this run"),
        )
        .with_hint(Hint::SearchForTools),
        Request::Workflow { .. } => Failure::new(
            FailureKind::Denied,
            "no plan can be run here: the code of a workflow runs none, and a test mocks the function that calls `runWorkflow`",
        ),
        _ => Failure::new(
            FailureKind::Denied,
            "this run does not answer such requests",
        ),
    }
}
