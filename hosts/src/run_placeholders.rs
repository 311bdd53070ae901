//! The placeholders of one run: which ones it may restore, and what it has received.

use std::sync::Arc;

use pml_protocol::{Failure, FailureKind};
use pml_scrub::{
    ForeignValue, Origin, RestoreRefusal, RunOrigins, SavedPlaceholder, SharedPlaceholders,
    WrittenPlaceholders,
};
use serde_json::Value;

/// The placeholders of one run. It is made by the broker before the run begins; no message of a
/// worker changes which placeholders are restored.
///
/// A placeholder is restored in the arguments of a call if it stands in the text that the model wrote
/// for this run, and if its value came from the server that is called, or `pml.scrub.restore` allows
/// the destination.
pub struct RunPlaceholders {
    shared: SharedPlaceholders,
    origins: Arc<RunOrigins>,
    written: WrittenPlaceholders,
}

impl RunPlaceholders {
    /// A run of a session. `written` is what the model wrote: the source of a script, or the
    /// arguments of a call as JSON.
    pub async fn new(session: &SharedPlaceholders, written: &str) -> Self {
        let origins = Arc::<RunOrigins>::default();
        Self {
            written: session.turn().await.lock().written_in(written),
            shared: session.for_run(origins.clone()),
            origins,
        }
    }

    /// The session's placeholders, for what this run says: values get their origin from what the run
    /// has received.
    pub fn shared(&self) -> &SharedPlaceholders {
        &self.shared
    }

    /// The placeholders that the run may restore, with their values.
    pub async fn saved(&self) -> Vec<SavedPlaceholder> {
        match self.written.is_empty() {
            true => Vec::new(),
            false => self.shared.turn().await.lock().save(&self.written),
        }
    }

    /// Whose data everything can hold that the run makes from here on.
    pub fn origin(&self) -> Origin {
        self.origins.label()
    }

    /// The run received a text in JSON.
    pub(crate) fn received(&self, origin: &Origin, json: &str) {
        self.origins.received(origin, json);
        self.written.received(json);
    }

    /// The values in the arguments of a call that would go to a server which they did not come from.
    pub(crate) async fn foreign_values(
        &self,
        tool: &str,
        args: &Value,
    ) -> Result<Vec<ForeignValue>, Failure> {
        if self.written.is_empty() {
            return Ok(Vec::new());
        }
        let turn = self.shared.turn().await;
        let checked = turn.lock().check_args(args, tool, &self.written);
        checked.map_err(|refusal| denied(&refusal))
    }

    /// The arguments with values; `None` if nothing in them is restored.
    pub(crate) async fn restored(
        &self,
        tool: &str,
        args: &Value,
    ) -> Result<Option<Value>, Failure> {
        if self.written.is_empty() {
            return Ok(None);
        }
        let mut restored = args.clone();
        let turn = self.shared.turn().await;
        let count = turn
            .lock()
            .restore_args(&mut restored, tool, &self.written)
            .map_err(|refusal| denied(&refusal))?;
        Ok((count > 0).then_some(restored))
    }

    /// Refuses a request whose text holds a placeholder that the model wrote. Placeholders are restored in
    /// the arguments of tools alone. Sent as text, one would tell the server its random part, and data of
    /// the server could then contain it.
    pub(crate) fn refuse_in(&self, text: &str) -> Result<(), Failure> {
        let Some(found) = self.written.first_in(text) else {
            return Ok(());
        };
        let message = format!(
            "the request was not sent: {found} stands for a private value, and only the arguments of a \
             tool may contain it"
        );
        Err(Failure::new(FailureKind::Denied, message))
    }

    /// Whether the text can hold a placeholder that is restored: most arguments have no bracket.
    pub(crate) fn may_hold_placeholders(&self, args: &str) -> bool {
        !self.written.is_empty() && args.contains('[')
    }

    /// The failure of a call, with placeholders in the place of values that were restored.
    pub(crate) async fn hidden(&self, failure: Failure) -> Failure {
        let turn = self.shared.turn().await;
        let hidden = turn.lock().hide_restored(&failure.message);
        Failure {
            message: hidden.unwrap_or(failure.message),
            ..failure
        }
    }
}

fn denied(refusal: &RestoreRefusal) -> Failure {
    Failure::new(FailureKind::Denied, refusal.to_string())
}
