//! The webhook that tells approvers of an approval, and the replies to it.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pml_store::StoredApproval;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, Response, Url};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::{Semaphore, watch};

use crate::answer::{AnswerError, Answered, late_answer};
use crate::approvals::Approvals;
use crate::question::Question;
use crate::signature::{ID, SIGNATURE, SignatureError, Signed, TIMESTAMP, WebhookSecret};

/// How long one delivery may take.
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(10);
/// The pauses before the second and each further delivery; the last one repeats until the approval has
/// expired or is answered.
const PAUSES: [Duration; 5] = [
    Duration::from_secs(1),
    Duration::from_secs(5),
    Duration::from_secs(30),
    Duration::from_secs(2 * 60),
    Duration::from_secs(10 * 60),
];
/// Deliveries at the same time.
const CONCURRENT_DELIVERIES: usize = 8;
/// The bytes of a reply that are read.
const MAX_REPLY: usize = 16 * 1024;

/// Why an address cannot be a webhook.
#[derive(Debug, thiserror::Error)]
pub enum WebhookUrlError {
    /// It is no URL.
    #[error("the address is not a URL")]
    NotAUrl,
    /// It is not encrypted, and leads to another machine.
    #[error("the address must begin with https://: only one of this machine may be http://")]
    NotEncrypted,
    /// There is no TLS.
    #[error("the HTTP client cannot be made: {0}")]
    Client(#[from] reqwest::Error),
}

/// The webhook that tells approvers. Cheap to clone; clones share their deliveries.
#[derive(Clone)]
pub struct Webhook {
    url: Url,
    secret: WebhookSecret,
    client: Client,
    deliveries: Arc<watch::Sender<Deliveries>>,
    /// Deliveries at the same time.
    permits: Arc<Semaphore>,
}

/// The deliveries of one process.
#[derive(Default)]
struct Deliveries {
    /// The approvals that are being delivered.
    open: HashSet<String>,
    /// How many the other side does not want.
    refused: usize,
}

/// The decision of an approver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// The call may be sent.
    Allow,
    /// The call is refused.
    Deny,
}

/// A signed reply to a webhook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Reply {
    /// What the approver decided.
    pub decision: Decision,
    /// Who decided.
    pub by: String,
    /// Whether all further calls of the tool in the run are allowed too.
    #[serde(default)]
    pub all_calls: bool,
}

/// Why a reply is not taken.
#[derive(Debug, thiserror::Error)]
pub enum ReplyError {
    /// It is not signed by the other side.
    #[error("the reply is refused: {0}")]
    Signature(#[from] SignatureError),
    /// Its body is no reply.
    #[error(
        "a reply is {{\"decision\": \"allow\" | \"deny\", \"by\": NAME}}, and this one is not: {0}"
    )]
    Body(#[from] serde_json::Error),
    /// The answer is not taken.
    #[error(transparent)]
    Answer(#[from] AnswerError),
}

/// How a delivery ended.
enum Delivered {
    /// The approvers know of it.
    Yes,
    /// It is tried again.
    TryAgain(String),
    /// The other side wants no delivery.
    Refused(String),
}

impl Webhook {
    /// A webhook at an address.
    ///
    /// # Errors
    ///
    /// An address that is not encrypted, or none at all.
    pub fn new(url: &str, secret: WebhookSecret) -> Result<Self, WebhookUrlError> {
        let parsed = Url::parse(url).map_err(|_| WebhookUrlError::NotAUrl)?;
        let is_local = match parsed.host_str() {
            Some("localhost") => true,
            Some(host) => host
                .trim_matches(['[', ']'])
                .parse::<std::net::IpAddr>()
                .is_ok_and(|address| address.is_loopback()),
            None => false,
        };
        if parsed.scheme() != "https" && !(parsed.scheme() == "http" && is_local) {
            return Err(WebhookUrlError::NotEncrypted);
        }
        pml_gateway::install_tls();
        let client = Client::builder()
            .timeout(DELIVERY_TIMEOUT)
            // A redirect would get the question and its signature.
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("pml/", env!("CARGO_PKG_VERSION")))
            .build()?;
        Ok(Self {
            url: parsed,
            secret,
            client,
            deliveries: Arc::new(watch::Sender::new(Deliveries::default())),
            permits: Arc::new(Semaphore::new(CONCURRENT_DELIVERIES)),
        })
    }

    /// The secret that replies are signed with.
    pub fn secret(&self) -> &WebhookSecret {
        &self.secret
    }

    /// Tells the approvers, in the background, and takes their answer if the reply has one. An approval
    /// that is being delivered is not delivered a second time.
    pub(crate) fn tell(&self, approvals: Approvals, approval: StoredApproval) {
        let id = approval.id.clone();
        let mut is_new = false;
        self.deliveries
            .send_modify(|deliveries| is_new = deliveries.open.insert(id.clone()));
        if !is_new {
            return;
        }
        let webhook = self.clone();
        tokio::spawn(async move {
            webhook.deliver(&approvals, &approval).await;
            webhook.deliveries.send_modify(|deliveries| {
                deliveries.open.remove(&id);
            });
        });
    }

    /// Returns when the approvers were told of everything, or after `time`. Returns how many
    /// approvals were not delivered.
    pub async fn delivered(&self, time: Duration) -> usize {
        let mut deliveries = self.deliveries.subscribe();
        let none = deliveries.wait_for(|deliveries| deliveries.open.is_empty());
        // The number is read below.
        let _ = tokio::time::timeout(time, none).await;
        let deliveries = self.deliveries.borrow();
        deliveries.open.len() + deliveries.refused
    }

    async fn deliver(&self, approvals: &Approvals, approval: &StoredApproval) {
        let (tenant, id) = (&approval.asked.tenant, &approval.id);
        let body = message(approval);
        let mut pauses = PAUSES
            .iter()
            .chain(std::iter::repeat(&PAUSES[PAUSES.len() - 1]));
        let begun = Instant::now();
        loop {
            // The semaphore is never closed.
            let permit = self.permits.acquire().await;
            let posted = self.post(approvals, approval, &body).await;
            drop(permit);
            match posted {
                Delivered::Yes => return,
                Delivered::Refused(why) => {
                    tracing::warn!(approval = %id, why, "the webhook of `pml.approvals.notify` refuses an approval");
                    self.deliveries
                        .send_modify(|deliveries| deliveries.refused += 1);
                    return;
                }
                Delivered::TryAgain(why) => {
                    tracing::warn!(approval = %id, why, "the webhook of `pml.approvals.notify` cannot be reached; it is tried again");
                }
            }
            let pause = pauses.next().copied().unwrap_or_default();
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                // It was answered otherwise, or has expired.
                _ = approvals.answered(tenant, id) => return,
            }
            if begun.elapsed() > approvals.rules().expires {
                return;
            }
        }
    }

    async fn post(
        &self,
        approvals: &Approvals,
        approval: &StoredApproval,
        body: &[u8],
    ) -> Delivered {
        let signed = Signed::new(&self.secret, &approval.id, body);
        let request = self
            .client
            .post(self.url.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(ID, &signed.id)
            .header(TIMESTAMP, &signed.timestamp)
            .header(SIGNATURE, &signed.signature)
            .body(body.to_vec());
        let response = match request.send().await {
            Ok(response) => response,
            // The address may hold a token.
            Err(error) => return Delivered::TryAgain(error.without_url().to_string()),
        };
        let status = response.status();
        match status.as_u16() {
            200..=299 => {
                self.take_reply(approvals, approval, response).await;
                Delivered::Yes
            }
            408 | 425 | 429 | 500..=599 => Delivered::TryAgain(format!("HTTP {status}")),
            _ => Delivered::Refused(format!("HTTP {status}")),
        }
    }

    /// Takes the answer in the reply to a delivery. A reply without a body is none.
    async fn take_reply(
        &self,
        approvals: &Approvals,
        approval: &StoredApproval,
        mut response: Response,
    ) {
        let mut body = Vec::new();
        while let Ok(Some(chunk)) = response.chunk().await {
            body.extend_from_slice(&chunk);
            if body.len() > MAX_REPLY {
                return;
            }
        }
        let headers = response.headers();
        let header = |name: &str| headers.get(name)?.to_str().ok();
        let Ok(signed) = Signed::from_headers(header) else {
            // Many services reply "ok".
            return;
        };
        let taken = match signed.id == approval.id {
            true => self.take(approvals, approval, &signed, &body).await,
            false => Err(ReplyError::Signature(SignatureError::Signature)),
        };
        let why = match taken {
            Ok(Answered::Recorded(_)) => None,
            Ok(Answered::Late(approval)) => Some(late_answer(&approval)),
            Err(error) => Some(error.to_string()),
        };
        if let Some(why) = why {
            tracing::warn!(approval = %approval.id, why, "the reply of the webhook is not used");
        }
    }

    /// Takes a signed answer to an approval.
    ///
    /// # Errors
    ///
    /// A wrong signature, a body that is no reply, or an answer of somebody who may not answer.
    pub async fn take(
        &self,
        approvals: &Approvals,
        approval: &StoredApproval,
        signed: &Signed,
        body: &[u8],
    ) -> Result<Answered, ReplyError> {
        signed.verify(&self.secret, body)?;
        let reply: Reply = serde_json::from_slice(body)?;
        let allow = reply.decision == Decision::Allow;
        let tenant = &approval.asked.tenant;
        let answered = approvals
            .answer(tenant, &approval.id, allow, &reply.by)
            .await?;
        if let (Answered::Recorded(approval), true) = (&answered, allow && reply.all_calls) {
            approvals.allow_all(approval, &reply.by).await?;
        }
        Ok(answered)
    }
}

/// The message that tells approvers. Private values are placeholders.
fn message(approval: &StoredApproval) -> Vec<u8> {
    let asked = &approval.asked;
    let question = Question::from_bytes(&asked.shown);
    let message = json!({
        "type": "approval.requested",
        "timestamp": approval.created,
        "data": {
            "id": approval.id,
            "run": asked.run,
            "call": asked.number,
            "tool": asked.tool,
            "arguments": question.arguments,
            "claims": question.claims,
            "script": question.script,
            "principal": question.principal,
            "expires": asked.expires,
        },
    });
    message.to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_reached_without_encryption() {
        let secret: WebhookSecret = "a secret of 16 bytes or more".parse().unwrap();
        let new = |url| Webhook::new(url, secret.clone()).map(|_| ());
        for url in [
            "https://hooks.example/pml",
            "http://127.0.0.1:9/x",
            "http://[::1]:9/x",
            "http://localhost/x",
        ] {
            assert!(new(url).is_ok(), "{url}");
        }
        for url in ["http://hooks.example/pml", "ftp://127.0.0.1/x", "hooks"] {
            assert!(new(url).is_err(), "{url}");
        }
    }
}
