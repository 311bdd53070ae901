//! Why a tool is not called.

use std::fmt;

/// How a tool differs from what is pinned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quarantine {
    /// Nothing of its server is pinned.
    NewServer,
    /// Its server is pinned, and the tool is not.
    NewTool,
    /// Its server is another program or has another address.
    Identity,
    /// Its server gives other instructions.
    Instructions,
    /// Its definition is another one.
    Definition,
}

impl Quarantine {
    /// Whether a definition of the tool is pinned.
    pub fn is_pinned(self) -> bool {
        !matches!(self, Self::NewServer | Self::NewTool)
    }
}

impl fmt::Display for Quarantine {
    /// The end of a sentence whose subject is the tool.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::NewServer => "is not in pml.lock, nor is its server",
            Self::NewTool => "is not in pml.lock",
            Self::Identity => "belongs to a server whose command or address is not the one in pml.lock",
            Self::Instructions => {
                "belongs to a server whose instructions have changed since they were pinned in pml.lock"
            }
            Self::Definition => "has changed since it was pinned in pml.lock",
        })
    }
}
