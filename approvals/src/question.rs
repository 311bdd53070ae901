//! The question of an approval, as people read it.

use serde::{Deserialize, Serialize};

/// What a person is shown before they answer. Private values are placeholders.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// The arguments of the call, shortened; cuts are marked.
    pub arguments: String,
    /// What the server says about the tool, in words of pml: "destructive", "read-only".
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<String>,
    /// The name of the script.
    pub script: String,
    /// Who asked for the run.
    pub principal: String,
    /// Who may answer, by the rules of the run; `None` if anyone may who can answer at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approvers: Option<Vec<String>>,
    /// What an approval of all calls of this tool in this run is bound to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all_calls: Option<[u8; 32]>,
}

impl Question {
    /// The form in the store.
    pub fn to_bytes(&self) -> Vec<u8> {
        // A struct of plain fields always becomes JSON.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Reads the form in the store. A row of another version shows nothing.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        serde_json::from_slice(bytes).unwrap_or_default()
    }
}
