//! `POST /approvals/ID`: the signed reply to a webhook that told of an approval.

use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::http::{Method, Request, StatusCode};
use axum::response::{IntoResponse, Response};
use pml_approvals::{AnswerError, Answered, Approvals, ReplyError, Signed, late_answer};
use pml_hosts::AuditTrail;
use pml_protocol::TenantId;
use pml_store::StoreError;

/// The path of a reply, before the id of its approval.
pub const PATH: &str = "/approvals/";

/// The bytes of a reply.
const MAX_BYTES: usize = 16 * 1024;
/// How long the body of a reply may take to arrive.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// Takes a reply. It needs no token: it is signed with the secret of the webhook.
pub async fn handle(
    approvals: &Approvals,
    audit: Option<&AuditTrail>,
    request: Request<Body>,
) -> Response {
    match take(approvals, request).await {
        Ok(Answered::Recorded(approval)) => {
            if let Some(audit) = audit {
                audit.approval_answered(&approval);
            }
            let message = format!("approval {} is {}", approval.id, approval.state.as_str());
            (StatusCode::OK, message).into_response()
        }
        Ok(Answered::Late(approval)) => {
            (StatusCode::CONFLICT, late_answer(&approval)).into_response()
        }
        Err(refusal) => refusal.into_response(),
    }
}

async fn take(
    approvals: &Approvals,
    request: Request<Body>,
) -> Result<Answered, (StatusCode, String)> {
    let refused = |status: StatusCode, message: &str| (status, message.to_owned());
    let Some(webhook) = approvals.webhook() else {
        let message = "replies need the secret of `pml.approvals.notify`";
        return Err(refused(StatusCode::NOT_FOUND, message));
    };
    if request.method() != Method::POST {
        let message = "a reply to an approval is a POST";
        return Err(refused(StatusCode::METHOD_NOT_ALLOWED, message));
    }
    let (parts, body) = request.into_parts();
    let id = parts.uri.path().strip_prefix(PATH).unwrap_or_default();
    let header = |name: &str| parts.headers.get(name)?.to_str().ok();
    let unsigned = |error| {
        (
            StatusCode::UNAUTHORIZED,
            format!("the reply is refused: {error}"),
        )
    };
    let signed = Signed::from_headers(header).map_err(unsigned)?;
    let body = tokio::time::timeout(BODY_TIMEOUT, to_bytes(body, MAX_BYTES));
    let Ok(Ok(body)) = body.await else {
        let message = "a reply has at most 16 KiB, and 10 s to arrive";
        return Err(refused(StatusCode::PAYLOAD_TOO_LARGE, message));
    };
    signed.verify(webhook.secret(), &body).map_err(unsigned)?;
    if signed.id != id {
        let message = "the `webhook-id` of a reply is the id of its approval";
        return Err(refused(StatusCode::BAD_REQUEST, message));
    }
    let approval = match approvals.store().approval(&TenantId::local(), id).await {
        Ok(Some(approval)) => approval,
        Ok(None) => {
            let message = format!("there is no approval {id}");
            return Err((StatusCode::NOT_FOUND, message));
        }
        Err(error) => return Err(unavailable(&error)),
    };
    let taken = webhook.take(approvals, &approval, &signed, &body).await;
    taken.map_err(|error| match error {
        ReplyError::Answer(AnswerError::Store(error)) => unavailable(&error),
        ReplyError::Answer(_) => (StatusCode::FORBIDDEN, error.to_string()),
        ReplyError::Body(_) => (StatusCode::BAD_REQUEST, error.to_string()),
        ReplyError::Signature(_) => (StatusCode::UNAUTHORIZED, error.to_string()),
    })
}

/// The store cannot be used now. Its error names a place of this machine, so it is only logged.
fn unavailable(error: &StoreError) -> (StatusCode, String) {
    tracing::warn!(%error, "the reply to an approval is not stored");
    let message = "the answer cannot be stored now; send it again later";
    (StatusCode::SERVICE_UNAVAILABLE, message.to_owned())
}
