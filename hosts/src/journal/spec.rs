//! What a store keeps of a run so that another process can execute it again.

use std::path::PathBuf;

use pml_protocol::{Flow, Limits, SessionId, VirtualClock};
use serde::{Deserialize, Serialize};

use super::run_journal::unix_ms;

/// The version of the format. A later one may have other fields.
const VERSION: u32 = 1;

/// A run, complete enough to execute it again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DurableSpec {
    version: u32,
    /// The script.
    pub script: DurableScript,
    /// How much the run may use.
    pub limits: Limits,
    /// The start time and the seed of the first execution.
    pub clock: VirtualClock,
    /// The secret that `crypto` draws from.
    pub entropy: [u8; 32],
    /// The time limit of one call, if the operator set one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_ms: Option<u64>,
    /// The configuration file of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<PathBuf>,
    /// The placeholders in the model's text and their values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub placeholders: Vec<pml_scrub::SavedPlaceholder>,
    /// What the session of the run had read when it began.
    #[serde(default, skip_serializing_if = "Flow::is_clean")]
    pub session: Flow,
    /// Whether a model reads only the shape and the size of the result.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hold: bool,
    /// Whether a person says what became of a guarded call that got no answer, also if pml lived; otherwise the
    /// script gets the failure.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub settles: bool,
}

/// The script of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DurableScript {
    /// The name in messages and stack traces.
    pub name: String,
    /// TypeScript or JavaScript.
    pub source: String,
    /// What the script sees as `args`.
    pub args: Vec<String>,
    /// The file that it was read from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// Whether the source is the plan of a workflow and the argument its input.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_workflow: bool,
}

impl DurableScript {
    /// What a person or a model wrote: the source, and the inputs of a plan.
    pub fn written(&self) -> String {
        match self.is_workflow {
            true => format!("{}\n{}", self.source, self.args.join("\n")),
            false => self.source.clone(),
        }
    }

    /// The digest of what the script does: its source and its arguments.
    pub fn digest(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        for text in std::iter::once(&self.source).chain(&self.args) {
            // The length first, so that no text can extend into the next.
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        }
        hasher.finalize().into()
    }
}

impl DurableSpec {
    /// A run of a script.
    pub fn new(script: DurableScript, limits: Limits) -> Self {
        let mut entropy = [0; 32];
        // Without the kernel's randomness, a session id is drawn from the clock and a counter.
        if getrandom::fill(&mut entropy).is_err() {
            entropy = blake3::hash(SessionId::random().to_string().as_bytes()).into();
        }
        let [a, b, c, d, ..] = entropy;
        Self {
            version: VERSION,
            script,
            limits,
            clock: VirtualClock {
                seed: u32::from_le_bytes([a, b, c, d]),
                time_ms: unix_ms(),
            },
            entropy,
            tool_ms: None,
            config: None,
            placeholders: Vec::new(),
            session: Flow::default(),
            hold: false,
            settles: false,
        }
    }

    /// The form in the store.
    pub fn to_bytes(&self) -> Vec<u8> {
        // A struct of plain fields always becomes JSON.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Reads the form in the store.
    ///
    /// # Errors
    ///
    /// One sentence: the run was stored by another version of pml, or is damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Head {
            version: u32,
        }
        let damaged = |error| format!("the run in the store is damaged: {error}");
        let head: Head = serde_json::from_slice(bytes).map_err(damaged)?;
        if head.version != VERSION {
            return Err(format!(
                "the run was stored by another version of pml (journal version {}, this pml reads {VERSION}); resume it with that version",
                head.version
            ));
        }
        serde_json::from_slice(bytes).map_err(damaged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(source: &str, args: &[&str]) -> DurableScript {
        DurableScript {
            name: "a.ts".to_owned(),
            source: source.to_owned(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            file: None,
            is_workflow: false,
        }
    }

    #[test]
    fn the_digest_tells_the_source_and_every_argument_apart() {
        let digests = [
            script("ab", &[]),
            script("a", &["b"]),
            script("", &["a", "b"]),
            script("", &["ab"]),
        ]
        .map(|script| script.digest());
        for (index, digest) in digests.iter().enumerate() {
            assert!(!digests[..index].contains(digest), "{index}");
        }
    }

    #[test]
    fn a_run_of_another_version_is_named() {
        let spec = DurableSpec::new(script("1", &[]), Limits::default());
        assert_eq!(DurableSpec::from_bytes(&spec.to_bytes()), Ok(spec));
        let error = DurableSpec::from_bytes(br#"{"version":9}"#).unwrap_err();
        assert!(error.contains("version 9"), "{error}");
        let error = DurableSpec::from_bytes(b"x").unwrap_err();
        assert!(error.contains("damaged"), "{error}");
    }
}
