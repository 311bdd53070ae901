//! Scrubs values that are shown outside of replies: in spans, baggage and audit events.

use std::sync::Arc;

use pml_gateway::Secrets;
use pml_hosts::ShowValue;
use pml_scrub::{PlaceholderMap, Scrubber};

/// Replaces private values and credentials in a text; `None` if the policy of scrubbing does not let any of
/// it pass.
pub fn value_scrubber(scrubber: Arc<Scrubber>, secrets: Secrets) -> ShowValue {
    Arc::new(move |text| {
        let text = secrets.hide_for_people(text);
        let mut placeholders = PlaceholderMap::new(scrubber.clone());
        let scrubbed = placeholders.scrub_text(&text, None).ok()?;
        Some(scrubbed.into_inner())
    })
}
