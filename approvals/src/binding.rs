//! What an approval is bound to.

/// What an approval is bound to. A call with any other of these needs another approval.
#[derive(Debug, Clone, Copy)]
pub struct Binding<'a> {
    /// Of the request in canonical form: the tool and its arguments.
    pub request: &'a [u8; 32],
    /// Of the script's source and arguments.
    pub script: &'a [u8; 32],
    /// Of the operator's policy.
    pub policy: &'a [u8; 32],
    /// Of the tool: name, description, schemas and annotations. Empty for resources and prompts.
    pub definition: &'a str,
}

impl Binding<'_> {
    /// The digest of one call.
    pub fn of_call(&self) -> [u8; 32] {
        self.digest(b"call", Some(self.request))
    }

    /// The digest of all calls of a tool in a run.
    pub fn of_tool(&self, tool: &str) -> [u8; 32] {
        self.digest(tool.as_bytes(), None)
    }

    fn digest(&self, what: &[u8], request: Option<&[u8; 32]>) -> [u8; 32] {
        let request = request.map_or(&[][..], |digest| digest);
        let parts = [
            what,
            request,
            self.script,
            self.policy,
            self.definition.as_bytes(),
        ];
        let mut hasher = blake3::Hasher::new_derive_key("pml approval of a tool call 1");
        for part in parts {
            // The length first, so that no part can extend into the next.
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        hasher.finalize().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_counts() {
        let (a, b) = (&[1; 32], &[2; 32]);
        let one = Binding {
            request: a,
            script: a,
            policy: a,
            definition: "d",
        };
        let others = [
            Binding { request: b, ..one },
            Binding { script: b, ..one },
            Binding { policy: b, ..one },
            Binding {
                definition: "e",
                ..one
            },
        ];
        for other in others {
            assert_ne!(one.of_call(), other.of_call(), "{other:?}");
        }
        assert_ne!(one.of_tool("s:t"), one.of_tool("s:u"));
        let other_arguments = Binding { request: b, ..one };
        assert_eq!(one.of_tool("s:t"), other_arguments.of_tool("s:t"));
    }
}
