//! The audit log of `pml run`, `pml resume` and `pml workflow`, where the operator wants commands
//! recorded.

use std::sync::Arc;

use pml_gateway::Gateway;
use pml_hosts::stack;
use pml_hosts::{AuditTrail, RunEnd};
use pml_protocol::{Outcome, RunContext, ToolHost};

use crate::audit_setup::AuditSetup;

/// The log of one run.
pub struct RunAudit {
    setup: AuditSetup,
    trail: AuditTrail,
    run: RunContext,
}

impl RunAudit {
    /// `None` if nothing is recorded. `run` is the identity of a durable run.
    pub fn open(mut setup: AuditSetup, gateway: &Gateway, run: Option<RunContext>) -> Option<Self> {
        let trail = setup.trail(gateway)?;
        Some(Self {
            setup,
            trail,
            run: run.unwrap_or_else(RunContext::local),
        })
    }

    /// The run that events are about.
    pub fn context(&self) -> RunContext {
        self.run.clone()
    }

    /// The same host, whose calls are recorded.
    pub fn host(&self, host: Arc<dyn ToolHost>) -> Arc<dyn ToolHost> {
        stack::audited(host, Some(self.trail.clone()))
    }

    /// Records how the run ended.
    pub fn ended(&self, script: &str, outcome: &Outcome) {
        self.trail
            .run_ended(&self.run, script, &RunEnd::new(outcome));
    }

    /// Signs the last checkpoint.
    pub async fn close(self) {
        self.setup.close().await;
    }
}
