//! Answers to approvals.

use pml_store::{ApprovalState, StoreError, StoredApproval};

/// What became of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Answered {
    /// It was recorded.
    Recorded(StoredApproval),
    /// It came too late, and changed nothing.
    Late(StoredApproval),
}

/// Why an answer is refused.
#[derive(Debug, thiserror::Error)]
pub enum AnswerError {
    /// The one who answers is none of the approvers.
    #[error(
        "`{by}` may not answer for `{tool}`: `pml.approvals.approvers` names {}",
        approvers.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    )]
    NotAnApprover {
        /// Who answered.
        by: String,
        /// `server:tool`
        tool: String,
        /// Who may.
        approvers: Vec<String>,
    },
    /// The name of the one who answers cannot be shown.
    #[error("the name of an approver has 1 to 64 bytes, without control characters")]
    Name,
    /// The store refuses.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why an answer came too late, in one sentence.
pub fn late_answer(approval: &StoredApproval) -> String {
    let id = &approval.id;
    let by = match &approval.answered_by {
        Some(by) => format!(" by `{by}`"),
        None => String::new(),
    };
    match approval.state {
        ApprovalState::Allowed | ApprovalState::Denied => format!(
            "approval {id} was {} before{by}; this answer changes nothing",
            approval.state.as_str()
        ),
        ApprovalState::Expired => format!(
            "approval {id} has expired, and this answer changes nothing; the call is refused when run {} goes on",
            approval.asked.run
        ),
        ApprovalState::Void => format!(
            "approval {id} is void, and this answer changes nothing: the tool, the policy, the script or the arguments have changed since, or the run was cancelled; `pml approvals` lists what is asked now"
        ),
        // An open one takes the answer.
        ApprovalState::Open => format!("approval {id} is open"),
    }
}
