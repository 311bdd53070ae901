//! `pml.approvals`: who may approve which calls, and who is told.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use pml_approvals::{ApprovalRules, Approvals, Webhook, WebhookSecret};
use pml_gateway::policy::globs::ToolGlob;
use pml_store::Store;
use pml_units::HumanDuration;
use serde::Deserialize;

/// `pml.approvals`: a missing key keeps its default.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct ApprovalSettings {
    notify: Option<NotifySettings>,
    approvers: BTreeMap<ToolGlob, Vec<String>>,
    expires: Option<Expiry>,
    keep: Option<HumanDuration>,
}

/// The webhook that tells approvers.
#[derive(Clone, Deserialize)]
#[serde(try_from = "UncheckedNotify")]
struct NotifySettings(Webhook);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UncheckedNotify {
    url: String,
    secret: String,
}

impl TryFrom<UncheckedNotify> for NotifySettings {
    type Error = String;

    fn try_from(notify: UncheckedNotify) -> Result<Self, String> {
        let secret: WebhookSecret = notify
            .secret
            .parse()
            .map_err(|error: pml_approvals::SignatureError| error.to_string())?;
        let webhook = Webhook::new(&notify.url, secret);
        webhook.map(Self).map_err(|error| error.to_string())
    }
}

/// How long an approval can be answered: at least a second.
#[derive(Clone, Copy, Deserialize)]
#[serde(try_from = "HumanDuration")]
struct Expiry(Duration);

impl TryFrom<HumanDuration> for Expiry {
    type Error = String;

    fn try_from(time: HumanDuration) -> Result<Self, String> {
        match time.get() < Duration::from_secs(1) {
            true => Err("an approval can be answered for at least 1s".to_owned()),
            false => Ok(Self(time.get())),
        }
    }
}

impl ApprovalSettings {
    /// Who may answer which approval.
    pub fn rules(&self) -> Arc<ApprovalRules> {
        let default = ApprovalRules::default();
        let approvers = self.approvers.iter();
        Arc::new(ApprovalRules {
            approvers: approvers
                .map(|(glob, names)| (glob.clone(), names.clone()))
                .collect(),
            expires: self.expires.map_or(default.expires, |time| time.0),
        })
    }

    /// The approvals of a store.
    pub fn open(&self, store: Store) -> Approvals {
        let webhook = self.notify.clone().map(|NotifySettings(webhook)| webhook);
        Approvals::new(store, self.rules(), webhook)
    }

    /// How long answered approvals are kept, if the operator says so.
    pub fn keep(&self) -> Option<Duration> {
        self.keep.map(HumanDuration::get)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_setting_is_one_sentence() {
        let read = |json: &str| {
            let settings = serde_json::from_str::<ApprovalSettings>(json);
            settings.map(|_| ()).map_err(|error| error.to_string())
        };
        let secret = "0123456789abcdef";
        for (json, message) in [
            (r#"{ "expires": "10ms" }"#.to_owned(), "at least 1s"),
            (r#"{ "approvers": { "mail": [] } }"#.to_owned(), "mail:*"),
            (
                format!(r#"{{ "notify": {{ "url": "http://a.example", "secret": "{secret}" }} }}"#),
                "https://",
            ),
            (
                r#"{ "notify": { "url": "https://a.example", "secret": "x" } }"#.to_owned(),
                "at least 16 bytes",
            ),
        ] {
            let error = read(&json).unwrap_err();
            assert!(error.contains(message), "{json}: {error}");
        }
        let settings: ApprovalSettings = serde_json::from_str("{}").unwrap();
        assert_eq!(settings.rules().expires, Duration::from_secs(3_600));
    }
}
