//! What a run or a session has read, and the paths on which it came.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::label::Label;

/// How the path of something that a run has read ends.
const RUN: &str = " → run";
/// Different crossings that a run remembers.
const MAX_CROSSINGS: usize = 100;

/// What was read, and through which tools: a [`Label`] with its reasons. It only grows.
///
/// ```
/// use pml_protocol::{Flow, Label};
///
/// let flow = Flow::of("web:fetch", &Label::untrusted());
/// assert!(flow.label().is_untrusted());
/// assert_eq!(flow.untrusted_path(), Some("web:fetch → run"));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Flow {
    /// The path of the first untrusted data.
    #[serde(skip_serializing_if = "Option::is_none")]
    untrusted: Option<String>,
    /// The path of the first private data of each server.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    private: BTreeMap<String, String>,
}

impl Flow {
    /// What a run has read that received data with this label from `source`.
    pub fn of(source: &str, label: &Label) -> Self {
        let path = || format!("{source}{RUN}");
        Self {
            untrusted: label.is_untrusted().then(path),
            private: label
                .private_servers()
                .map(|server| (server.to_owned(), path()))
                .collect(),
        }
    }

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

    /// The path of the first untrusted data.
    pub fn untrusted_path(&self) -> Option<&str> {
        self.untrusted.as_deref()
    }

    /// The servers whose private data was read, with the path of the first of it.
    pub fn private_paths(&self) -> impl Iterator<Item = (&str, &str)> {
        let private = self.private.iter();
        private.map(|(server, path)| (server.as_str(), path.as_str()))
    }

    /// Adds what another flow has read. Paths that are known stay.
    pub fn join(&mut self, other: &Self) {
        if self.untrusted.is_none() {
            self.untrusted.clone_from(&other.untrusted);
        }
        for (server, path) in &other.private {
            let known = self.private.entry(server.clone());
            known.or_insert_with(|| path.clone());
        }
    }

    /// The same flow as another run reads it, through `session` or `store`.
    #[must_use]
    pub fn through(&self, channel: &str) -> Self {
        let step = format!(" → {channel}");
        let via = |path: &String| match path.strip_suffix(RUN) {
            // A path does not grow with every run that it passes.
            Some(source) if !source.contains(&step) => format!("{source}{step}{RUN}"),
            _ => path.clone(),
        };
        let private = self.private.iter();
        Self {
            untrusted: self.untrusted.as_ref().map(via),
            private: private
                .map(|(name, path)| (name.clone(), via(path)))
                .collect(),
        }
    }
}

/// A call whose tool does not accept what the run has read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Crossing {
    /// `web:fetch → run → mail:send`
    pub path: String,
    /// Whether the call was refused. It is sent where labels are only observed.
    pub refused: bool,
}

/// The labels of a run that has ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelReport {
    /// What the run has read, with what its session had read before.
    pub read: Flow,
    /// Calls whose tools do not accept it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub crossings: Vec<Crossing>,
}

/// What one run has read so far. Clones are the same run.
#[derive(Debug, Clone, Default)]
pub struct RunFlow(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    session: Flow,
    state: Mutex<LabelReport>,
    /// The run that this one is a part of.
    whole: Option<RunFlow>,
}

impl RunFlow {
    /// A run whose script was written by somebody who has read `session`.
    pub fn of_session(session: &Flow) -> Self {
        Self(Arc::new(Shared {
            session: session.clone(),
            state: Mutex::new(LabelReport {
                read: session.through("session"),
                crossings: Vec::new(),
            }),
            whole: None,
        }))
    }

    /// A part of this run that has read only `start` so far, such as a task of a plan. What the part reads, the
    /// whole has read as well.
    #[must_use]
    pub fn part(&self, start: Flow) -> Self {
        Self(Arc::new(Shared {
            session: self.0.session.clone(),
            state: Mutex::new(LabelReport {
                read: start,
                crossings: Vec::new(),
            }),
            whole: Some(self.clone()),
        }))
    }

    /// What the session had read when the run began.
    pub fn session(&self) -> &Flow {
        &self.0.session
    }

    /// What the run has read so far.
    pub fn current(&self) -> Flow {
        self.lock().read.clone()
    }

    /// Whether nothing was read that is untrusted or private.
    pub fn is_clean(&self) -> bool {
        self.lock().read.is_clean()
    }

    /// Whether the model of the session has not read all that the run has read.
    pub fn is_above_session(&self) -> bool {
        let session = self.0.session.label();
        !session.covers(&self.lock().read.label())
    }

    /// The run has read something. Everything that it does from here on can depend on it.
    pub fn read(&self, flow: &Flow) {
        self.lock().read.join(flow);
        if let Some(whole) = &self.0.whole {
            whole.read(flow);
        }
    }

    /// Notes a call whose tool does not accept what the run has read.
    pub fn crossed(&self, crossing: Crossing) {
        if let Some(whole) = &self.0.whole {
            whole.crossed(crossing.clone());
        }
        let crossings = &mut self.lock().crossings;
        if crossings.len() < MAX_CROSSINGS && !crossings.contains(&crossing) {
            crossings.push(crossing);
        }
    }

    /// What is to be said about the run; `None` if it has read nothing untrusted or private.
    pub fn report(&self) -> Option<LabelReport> {
        let report = self.lock();
        let is_empty = report.read.is_clean() && report.crossings.is_empty();
        (!is_empty).then(|| report.clone())
    }

    fn lock(&self) -> MutexGuard<'_, LabelReport> {
        // Labels only rise, each in one step.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_only_grows_and_keeps_the_first_path() {
        let mut flow = Flow::of("web:fetch", &Label::untrusted());
        flow.join(&Flow::of("mail:read", &Label::untrusted()));
        flow.join(&Flow::of("crm:list", &Label::private("crm")));
        flow.join(&Flow::default());
        assert_eq!(flow.untrusted_path(), Some("web:fetch → run"));
        let expected = Label::untrusted().join(&Label::private("crm"));
        assert_eq!(flow.label(), expected);
    }

    #[test]
    fn the_way_through_a_session_is_in_the_path_once() {
        let first = Flow::of("web:fetch", &Label::untrusted());
        let later = first.through("session").through("store").through("session");
        let path = "web:fetch → session → store → run";
        assert_eq!(later.untrusted_path(), Some(path));
    }

    #[test]
    fn a_run_begins_with_what_its_session_has_read() {
        let run = RunFlow::of_session(&Flow::of("crm:list", &Label::private("crm")));
        assert!(!run.is_above_session());
        assert!(!run.is_clean());
        run.read(&Flow::of("web:fetch", &Label::untrusted()));
        assert!(run.is_above_session());
        assert_eq!(run.session().label(), Label::private("crm"));
    }

    #[test]
    fn a_part_raises_the_whole_and_not_the_other_parts() {
        let whole = RunFlow::default();
        let (one, other) = (whole.part(Flow::default()), whole.part(Flow::default()));
        let read = Flow::of("web:fetch", &Label::untrusted());
        one.read(&read);
        assert_eq!(whole.current(), read);
        assert!(other.is_clean());
        assert_eq!(whole.part(one.current()).current(), read);
        other.crossed(Crossing {
            path: "a".to_owned(),
            refused: true,
        });
        assert_eq!(whole.report().unwrap().crossings.len(), 1);
    }

    #[test]
    fn equal_crossings_are_noted_once() {
        let run = RunFlow::default();
        assert_eq!(run.report(), None);
        let crossing = Crossing {
            path: "web:fetch → run → mail:send".to_owned(),
            refused: true,
        };
        run.crossed(crossing.clone());
        run.crossed(crossing.clone());
        assert_eq!(run.report().unwrap().crossings, [crossing]);
    }
}
