//! Whether the annotations of servers are trusted: the flags of `pml init` and `pml add`, and their
//! question.

use clap::Args;
use serde_json::{Map, Value};

use crate::confirm::confirm;

const ABOUT: &str = "\
A server can annotate its tools as read-only or idempotent. If you trust these annotations, pml may send\n\
such a call again when its answer is lost. Otherwise it treats every call as one with effects, until\n\
`pml.effects` says more. `pml tools --effects` shows the difference.";

/// The decision on the command line.
#[derive(Args)]
pub struct AnnotationTrustArgs {
    /// Trust what servers say about the effects of their tools
    ///
    /// Writes "trust": "annotations" into the entry. Without this flag and the next one, you are
    /// asked on a terminal; elsewhere nothing is trusted.
    #[arg(long)]
    trust_annotations: bool,

    /// Do not trust it, and do not ask
    #[arg(long, conflicts_with = "trust_annotations")]
    no_trust_annotations: bool,
}

impl AnnotationTrustArgs {
    /// What the flags say; `None` if they say nothing.
    pub fn given(&self) -> Option<bool> {
        match (self.trust_annotations, self.no_trust_annotations) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        }
    }

    /// What the flags say, else the answer to `question` on a terminal, else no.
    pub fn decide(&self, question: &str) -> bool {
        self.given().unwrap_or_else(|| confirm(ABOUT, question))
    }
}

/// Trusts the annotations of a server in its entry of `.mcp.json`.
pub fn trust_annotations(entry: &mut Map<String, Value>) {
    entry.insert("trust".to_owned(), "annotations".into());
}
