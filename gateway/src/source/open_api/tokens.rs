//! Tokens that a client gets for itself (OAuth 2 client credentials, RFC 6749 section 4.4).

use std::collections::HashMap;
use std::time::Duration;

use serde::Deserialize;
use tokio::sync::Mutex;
use tokio::time::Instant;
use url::Url;

use crate::config::ClientCredentials;
use crate::secrets::{Secrets, shown_origin};
use crate::transport::without_paths;

/// A token is not used in the last part of its life: it could expire on the way.
const MARGIN: Duration = Duration::from_secs(30);
/// The life of a token whose server does not say it.
const DEFAULT_LIFE: Duration = Duration::from_secs(300);
const MAX_ANSWER: usize = 64 * 1024;
const TIMEOUT: Duration = Duration::from_secs(15);

/// The tokens of one service, by security scheme.
#[derive(Default)]
pub struct Tokens(Mutex<HashMap<String, (String, Instant)>>);

/// A request for a token.
pub struct TokenRequest<'a> {
    pub scheme: &'a str,
    pub client: &'a ClientCredentials,
    pub url: &'a Url,
    pub scopes: &'a [String],
}

#[derive(Deserialize)]
struct Answer {
    access_token: String,
    expires_in: Option<f64>,
}

impl Tokens {
    /// The token of a scheme, a new one if there is none that is still good. Concurrent calls wait for
    /// one request.
    ///
    /// # Errors
    /// The server gives none; the sentence says why.
    pub async fn token(
        &self,
        http: &reqwest::Client,
        request: &TokenRequest<'_>,
        secrets: &Secrets,
    ) -> Result<String, String> {
        let mut tokens = self.0.lock().await;
        if let Some((token, until)) = tokens.get(request.scheme)
            && *until > Instant::now()
        {
            return Ok(token.clone());
        }
        let answer = fetch(http, request)
            .await
            .map_err(|reason| format!("no token from {}: {reason}", shown_origin(request.url)))?;
        let noted = (answer.access_token.clone(), "oauth.token".to_owned());
        secrets.add_login(request.url, [noted]);
        let life = answer.expires_in.filter(|seconds| *seconds >= 0.0);
        let life = life.map_or(DEFAULT_LIFE, |seconds| {
            Duration::from_secs_f64(seconds.min(86_400.0))
        });
        let until = Instant::now() + life.saturating_sub(MARGIN.min(life / 2));
        tokens.insert(
            request.scheme.to_owned(),
            (answer.access_token.clone(), until),
        );
        Ok(answer.access_token)
    }

    /// Forgets a token that was refused.
    pub async fn forget(&self, scheme: &str) {
        self.0.lock().await.remove(scheme);
    }
}

fn form(request: &TokenRequest<'_>) -> String {
    let mut form = url::form_urlencoded::Serializer::new(String::new());
    form.append_pair("grant_type", "client_credentials");
    if !request.scopes.is_empty() {
        form.append_pair("scope", &request.scopes.join(" "));
    }
    form.finish()
}

async fn fetch(http: &reqwest::Client, request: &TokenRequest<'_>) -> Result<Answer, String> {
    let failed = |error: reqwest::Error| without_paths(&error.to_string());
    let response = http
        .post(request.url.clone())
        .basic_auth(
            &request.client.client_id,
            Some(&request.client.client_secret),
        )
        .header("content-type", "application/x-www-form-urlencoded")
        .header("accept", "application/json")
        .body(form(request))
        .timeout(TIMEOUT)
        .send()
        .await
        .map_err(failed)?;
    let status = response.status();
    if !status.is_success() {
        return Err(format!("HTTP {status}"));
    }
    if response
        .content_length()
        .is_some_and(|bytes| bytes > MAX_ANSWER as u64)
    {
        return Err("its answer is too large".to_owned());
    }
    let bytes = response.bytes().await.map_err(failed)?;
    serde_json::from_slice(&bytes).map_err(|_| "its answer has no `access_token`".to_owned())
}
