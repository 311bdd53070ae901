//! The audit log of `pml run`, `pml resume` and `pml workflow`, where the operator wants commands
//! recorded.

use std::sync::Arc;

use pml_gateway::Gateway;
use pml_hosts::stack;
use pml_hosts::{AuditTrail, RunEnd};
use pml_protocol::{RunContext, ToolHost};

use crate::audit_setup::AuditSetup;

/// The log of one run.
pub struct RunAudit {
    setup: AuditSetup,
    trail: AuditTrail,
    run: RunContext,
}

impl RunAudit {
    /// `None` if nothing is recorded. `run` is what events are about.
    pub fn open(mut setup: AuditSetup, gateway: &Gateway, run: RunContext) -> Option<Self> {
        let trail = setup.trail(gateway)?;
        Some(Self { setup, trail, run })
    }

    /// The log, for the calls of functions.
    pub fn trail(&self) -> AuditTrail {
        self.trail.clone()
    }

    /// The same host, whose calls are recorded.
    pub fn host(&self, host: Arc<dyn ToolHost>) -> Arc<dyn ToolHost> {
        stack::audited(host, Some(self.trail.clone()))
    }

    /// Records how the run ended.
    pub fn ended(&self, script: &str, ended: &RunEnd) {
        self.trail.run_ended(&self.run, script, ended);
    }

    /// Signs the last checkpoint.
    pub async fn close(self) {
        self.setup.close().await;
    }
}
