//! Discovery of the authorization server.

use rmcp::transport::auth::{AuthError, AuthorizationManager, AuthorizationMetadata};
use url::Url;

use crate::transport::{Body, ServerShare, read_body};

/// Bytes of a metadata document. rmcp bounds those that it reads.
const MAX_DOCUMENT_BYTES: usize = 1024 * 1024;

/// Metadata, and whether the server published it. Old servers publish none; some of them use default
/// paths.
pub(super) struct Metadata {
    pub(super) document: AuthorizationMetadata,
    pub(super) published: bool,
}

/// Finds the authorization server of `server`.
pub(super) async fn discover(
    manager: &AuthorizationManager,
    server: &Url,
    challenge: Option<&str>,
) -> Result<Metadata, AuthError> {
    match manager.resolve_metadata_from_challenge(challenge).await {
        Ok(found) => Ok(Metadata {
            published: found.source.is_discovered(),
            document: found.metadata,
        }),
        Err(AuthError::AuthorizationServerMismatch {
            expected_issuer,
            received_issuer,
        }) if within(server, &expected_issuer) && within(server, &received_issuer) => {
            let mismatch = AuthError::AuthorizationServerMismatch {
                expected_issuer,
                received_issuer,
            };
            match own_document(server).await {
                Some(document) => Ok(Metadata {
                    document,
                    published: true,
                }),
                None => Err(mismatch),
            }
        }
        Err(error) => Err(error),
    }
}

/// The document at the root of the server itself, if all of its URLs have the same origin.
///
/// Servers from before protected-resource metadata serve it at their root, with an issuer below a
/// path. The rule that the two agree keeps one origin from speaking for another; with only one origin,
/// it can be relaxed.
async fn own_document(server: &Url) -> Option<AuthorizationMetadata> {
    let address = server
        .join("/.well-known/oauth-authorization-server")
        .ok()?;
    let client = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .timeout(std::time::Duration::from_secs(30))
        .build()
        .ok()?;
    let response = client.get(address).send().await.ok()?;
    let response = response.error_for_status().ok()?;
    let mut memory = ServerShare::new(server.as_str()).text();
    let body = read_body(response, MAX_DOCUMENT_BYTES, &mut memory).await;
    let Ok(Body::Whole(body)) = body else {
        return None;
    };
    let document: AuthorizationMetadata = serde_json::from_slice(&body).ok()?;
    let named = [
        document.issuer.as_ref(),
        Some(&document.authorization_endpoint),
        Some(&document.token_endpoint),
        document.registration_endpoint.as_ref(),
    ];
    let own = named.into_iter().flatten().all(|url| within(server, url));
    own.then_some(document)
}

fn within(server: &Url, url: &str) -> bool {
    Url::parse(url).is_ok_and(|url| url.origin() == server.origin())
}
