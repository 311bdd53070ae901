//! Approvals as rows of the store: questions to people that outlive the process which asked them.
//!
//! ```text
//! a durable run needs approval
//!   Approvals::ask       a row in the store, and a signed webhook that tells the approvers
//!   Approvals::answer    by an approver: at the client, on the command line, by a webhook's reply
//!   Approvals::answered  what the run waits for
//! ```
//!
//! An approval is bound to one call: the digests of its arguments, the script, the policy and the
//! definition of the tool. If one of them changes, the approval is void and the call is asked about
//! anew. An answer to an approval that is answered, expired or void changes nothing and says so.

#![forbid(unsafe_code)]

mod answer;
mod approvals;
mod binding;
mod question;
mod rules;
mod signature;
mod webhook;

pub use answer::{AnswerError, Answered, late_answer};
pub use approvals::Approvals;
pub use binding::Binding;
pub use question::Question;
pub use rules::ApprovalRules;
pub use signature::{SignatureError, Signed, WebhookSecret};
pub use webhook::{Decision, Reply, ReplyError, Webhook, WebhookUrlError};
