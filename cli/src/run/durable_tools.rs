//! What the tools of a durable run need besides those of another.

use std::sync::Arc;

use pml_approvals::Approvals;
use pml_gateway::Gateway;
use pml_hosts::journal::RunJournal;
use pml_hosts::{Approver, CannotAsk, IfUnasked, Person, RunPlaceholders};

/// What the tools of a durable run need besides.
pub struct DurableTools {
    pub journal: Arc<RunJournal>,
    pub approvals: Approvals,
    /// Questions to approvers show placeholders instead of private values.
    pub placeholders: Arc<RunPlaceholders>,
    /// Answers the questions before tasks of plans; with `None`, they wait for `pml approvals`.
    pub task_approver: Option<Arc<dyn Approver>>,
}

impl DurableTools {
    /// The person at the terminal started the script and is not asked; an operator's `ask` is answered
    /// with `pml approvals`.
    pub fn person(&self, gateway: &Gateway) -> Person {
        let (placeholders, rules) = (self.placeholders.clone(), self.approvals.rules().clone());
        let approver = Arc::new(CannotAsk);
        let person = Person::new(approver, gateway, placeholders, IfUnasked::Send, rules);
        match &self.task_approver {
            Some(approver) => person.with_task_approver(approver.clone(), gateway),
            None => person,
        }
    }

    /// The same tools with somebody who answers the questions before tasks.
    #[must_use]
    pub fn with_task_approver(self, approver: Arc<dyn Approver>) -> Self {
        Self {
            task_approver: Some(approver),
            ..self
        }
    }
}
