//! The label of a run or session, with where it comes from.

use std::collections::BTreeMap;

use super::label::Label;
use super::rules::Sink;

/// What was read, and through which tools. It only grows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Flow {
    /// Where the first untrusted data came from.
    untrusted: Option<String>,
    /// Where the first private data of each server came from.
    private: BTreeMap<String, String>,
}

/// A call that a label does not permit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedFlow {
    /// `web:fetch → run → mail:send`
    pub path: String,
    /// Why it is refused, and what to do, in one sentence.
    pub reason: String,
}

impl Flow {
    /// The label.
    pub fn label(&self) -> Label {
        let untrusted = self.untrusted.as_ref().map(|_| Label::untrusted());
        let private = self.private.keys().map(|server| Label::private(server));
        let labels = untrusted.into_iter().chain(private);
        labels.fold(Label::CLEAN, |label, next| label.join(&next))
    }

    /// Whether nothing was read that is untrusted or private.
    pub fn is_clean(&self) -> bool {
        self.untrusted.is_none() && self.private.is_empty()
    }

    /// Notes that something with this label was read from `source`.
    pub fn read(&mut self, source: &str, label: &Label) {
        if label.is_untrusted() && self.untrusted.is_none() {
            self.untrusted = Some(format!("{source} → run"));
        }
        for server in label.private_servers() {
            let known = self.private.entry(server.to_owned());
            known.or_insert_with(|| format!("{source} → run"));
        }
    }

    /// Adds what another flow has read; `through` is what it came through, such as `session`.
    pub fn join(&mut self, other: &Self, through: &str) {
        let via = |path: &String| match path.strip_suffix(" → run") {
            Some(source) => format!("{source} → {through} → run"),
            None => path.clone(),
        };
        if self.untrusted.is_none() {
            self.untrusted = other.untrusted.as_ref().map(via);
        }
        for (server, path) in &other.private {
            let known = self.private.entry(server.clone());
            known.or_insert_with(|| via(path));
        }
    }

    /// Whether what was read may reach `tool`.
    ///
    /// # Errors
    /// It may not.
    pub fn check(&self, tool: &str, sink: &Sink) -> Result<(), RefusedFlow> {
        if let (true, Some(path)) = (sink.needs_trusted, &self.untrusted) {
            return Err(refused(
                path,
                tool,
                "data that anybody may have written",
                "trusted",
            ));
        }
        if let Some(own) = &sink.needs_public_except {
            let foreign = self.private.iter().find(|(server, _)| *server != own);
            if let Some((server, path)) = foreign {
                let what = format!("private data of `{server}`");
                return Err(refused(path, tool, &what, "public"));
            }
        }
        Ok(())
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
    use super::*;

    #[test]
    fn private_data_goes_back_to_its_own_server() {
        let mut run = Flow::default();
        run.read("crm:list", &Label::private("crm"));
        let to = |server: &str| Sink {
            needs_trusted: true,
            needs_public_except: Some(server.to_owned()),
        };
        assert!(run.check("crm:update", &to("crm")).is_ok());
        let refused = run.check("web:post", &to("web")).unwrap_err();
        assert_eq!(refused.path, "crm:list → run → web:post");
        assert!(
            refused.reason.contains("private data of `crm`"),
            "{}",
            refused.reason
        );
    }

    #[test]
    fn what_the_session_has_read_shows_in_the_path() {
        let (mut first, mut later) = (Flow::default(), Flow::default());
        first.read("web:fetch", &Label::untrusted());
        later.join(&first, "session");
        let sink = Sink {
            needs_trusted: true,
            ..Sink::default()
        };
        let refused = later.check("mail:send", &sink).unwrap_err();
        assert_eq!(refused.path, "web:fetch → session → run → mail:send");
    }
}
