//! What a tool accepts.

use pml_protocol::Flow;

/// What a tool accepts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sink {
    /// Nothing that somebody untrusted may have written.
    pub needs_trusted: bool,
    /// Nothing that is private to another server than this one.
    pub needs_public_except: Option<String>,
}

/// A call that a label does not permit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedFlow {
    /// `web:fetch → run → mail:send`
    pub path: String,
    /// Why it is refused, and what to do, in one sentence.
    pub reason: String,
}

impl Sink {
    /// Whether a run that has read this much may call the tool.
    ///
    /// # Errors
    /// It may not.
    pub fn accepts(&self, tool: &str, read: &Flow) -> Result<(), RefusedFlow> {
        if let (true, Some(path)) = (self.needs_trusted, read.untrusted_path()) {
            let what = "data that anybody may have written";
            return Err(refused(path, tool, what, "trusted"));
        }
        if let Some(own) = &self.needs_public_except {
            let mut foreign = read.private_paths().filter(|(server, _)| server != own);
            if let Some((server, path)) = foreign.next() {
                let what = format!("private data of `{server}`");
                return Err(refused(path, tool, &what, "public"));
            }
        }
        Ok(())
    }

    /// The words of `pml.labels` for it.
    pub fn words(&self) -> &'static str {
        match (self.needs_trusted, self.needs_public_except.is_some()) {
            (true, true) => "trusted, public",
            (true, false) => "trusted",
            (false, true) => "public",
            (false, false) => "any",
        }
    }
}

fn refused(path: &str, tool: &str, what: &str, accepts: &str) -> RefusedFlow {
    let path = format!("{path} → {tool}");
    RefusedFlow {
        reason: format!(
            "`{tool}` may not be called: the run has read {what}, and the tool accepts only {accepts} data ({path}); make the call in a run that reads nothing of it, or ask the operator to change `pml.labels`"
        ),
        path,
    }
}

#[cfg(test)]
mod tests {
    use pml_protocol::Label;

    use super::*;

    #[test]
    fn private_data_goes_back_to_its_own_server() {
        let run = Flow::of("crm:list", &Label::private("crm"));
        let to = |server: &str| Sink {
            needs_trusted: true,
            needs_public_except: Some(server.to_owned()),
        };
        assert!(to("crm").accepts("crm:update", &run).is_ok());
        let refused = to("web").accepts("web:post", &run).unwrap_err();
        assert_eq!(refused.path, "crm:list → run → web:post");
        let reason = &refused.reason;
        assert!(reason.contains("private data of `crm`"), "{reason}");
    }

    #[test]
    fn what_the_session_has_read_shows_in_the_path() {
        let run = Flow::of("web:fetch", &Label::untrusted()).through("session");
        let sink = Sink {
            needs_trusted: true,
            ..Sink::default()
        };
        let refused = sink.accepts("mail:send", &run).unwrap_err();
        assert_eq!(refused.path, "web:fetch → session → run → mail:send");
    }
}
