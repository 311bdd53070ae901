//! The HTTP API of HashiCorp Vault and of OpenBao: secrets of the KV engines, and secrets with leases.

use std::collections::BTreeMap;
use std::time::Duration;

use reqwest::{Method, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};
use zeroize::{Zeroize, Zeroizing};

use super::MAX_BYTES;
use crate::cached::{Lease, Read};
use crate::credentials::Credentials;
use crate::error::SecretError;
use crate::reference::Reference;
use crate::template::Template;

/// Bytes of a response that are read.
const MAX_RESPONSE: usize = 16 * MAX_BYTES;

/// A response with a secret, or about a lease.
#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    lease_id: String,
    #[serde(default)]
    lease_duration: u64,
    #[serde(default)]
    renewable: bool,
    #[serde(default)]
    data: Value,
}

/// Reads the fields of the secret at `path`.
pub async fn read(
    credentials: &Credentials,
    reference: &Reference,
    path: &str,
) -> Result<Read, SecretError> {
    let asked = Asked {
        credentials,
        reference,
    };
    let answer = asked.send(Method::GET, path, None).await?;
    let lease = (!answer.lease_id.is_empty() && answer.lease_duration > 0).then(|| Lease {
        id: answer.lease_id,
        duration: Duration::from_secs(answer.lease_duration),
        is_renewable: answer.renewable,
    });
    Ok(Read {
        fields: fields(answer.data),
        lease,
    })
}

/// Renews a lease. Returns how long it lasts now.
pub async fn renew_lease(
    credentials: &Credentials,
    reference: &Reference,
    lease: &Lease,
) -> Result<Duration, SecretError> {
    let asked = Asked {
        credentials,
        reference,
    };
    let body = json!({ "lease_id": lease.id, "increment": lease.duration.as_secs() });
    let answer = asked
        .send(Method::PUT, "sys/leases/renew", Some(body))
        .await?;
    Ok(Duration::from_secs(answer.lease_duration))
}

/// The fields of a secret. Version 2 of the KV engine has them one level deeper, beside the metadata.
fn fields(mut data: Value) -> BTreeMap<String, Zeroizing<String>> {
    let is_version_2 = data["metadata"].is_object() && data["data"].is_object();
    let fields = match is_version_2 {
        true => data["data"].take(),
        false => data.take(),
    };
    let Value::Object(fields) = fields else {
        return BTreeMap::new();
    };
    let text = |value: Value| match value {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    };
    let fields = fields.into_iter().filter_map(|(name, value)| {
        let value = Zeroizing::new(text(value)?);
        (value.len() <= MAX_BYTES && !value.contains('\0')).then_some((name, value))
    });
    fields.collect()
}

/// A request about one secret.
struct Asked<'a> {
    credentials: &'a Credentials,
    reference: &'a Reference,
}

impl Asked<'_> {
    async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> Result<Answer, SecretError> {
        let settings = self.credentials.settings();
        let address = self.address()?;
        let token = self.token().await?;
        let client = self.credentials.client();
        let client = client.map_err(|error| self.unreachable(&error))?;
        let mut request = client
            .request(method, format!("{address}/v1/{path}"))
            .header("X-Vault-Request", "true")
            .header(
                "X-Vault-Token",
                sensitive(&token).ok_or_else(|| self.bad_token())?,
            )
            .timeout(settings.timeout());
        let namespace = settings.vault.namespace.clone();
        if let Some(namespace) = namespace.or_else(|| variable("VAULT_NAMESPACE")) {
            request = request.header("X-Vault-Namespace", namespace);
        }
        if let Some(body) = body {
            request = request.json(&body);
        }
        let mut response = request
            .send()
            .await
            .map_err(|error| self.unreachable(&error))?;
        let status = response.status();
        let mut text = Zeroizing::new(Vec::with_capacity(MAX_BYTES));
        while let Some(chunk) = response
            .chunk()
            .await
            .map_err(|error| self.unreachable(&error))?
        {
            if text.len() + chunk.len() > MAX_RESPONSE {
                return Err(self.unusable("Vault sent more than 1 MiB"));
            }
            text.extend_from_slice(&chunk);
        }
        if !status.is_success() {
            return Err(self.refused(status, &text));
        }
        serde_json::from_slice(&text)
            .map_err(|_| self.unusable("Vault did not answer with a secret; check `VAULT_ADDR`"))
    }

    fn address(&self) -> Result<String, SecretError> {
        let address = self.credentials.settings().vault.address.clone();
        let address = address.or_else(|| variable("VAULT_ADDR"));
        let address = address.ok_or_else(|| SecretError::Unusable {
            reference: self.reference.clone(),
            reason:
                "the address of Vault is not known; set `VAULT_ADDR` or `pml.secrets.vault.address`"
                    .to_owned(),
        })?;
        Ok(address.trim_end_matches('/').to_owned())
    }

    /// The token, which is hidden like every secret.
    async fn token(&self) -> Result<Zeroizing<String>, SecretError> {
        if let Some(written) = &self.credentials.settings().vault.token {
            let template =
                Template::parse(written).map_err(|error| self.unusable(&error.to_string()))?;
            if template
                .references()
                .any(|part| matches!(part, Reference::Vault { .. }))
            {
                return Err(self.unusable("the token of Vault cannot be in Vault itself"));
            }
            if template.references().next().is_none() {
                return Err(self.unusable(
                    "`pml.secrets.vault.token` must be a reference, for example `${secret:env/VAULT_TOKEN}`",
                ));
            }
            // A template of a token has no reference to Vault, so this does not come back here.
            return Ok(Box::pin(template.fill(self.credentials)).await?.text);
        }
        let stored = || {
            let file = std::env::home_dir()?.join(".vault-token");
            std::fs::read_to_string(file).ok()
        };
        let token = variable("VAULT_TOKEN").or_else(stored);
        let mut token = token.ok_or_else(|| SecretError::Denied {
            reference: self.reference.clone(),
            reason: "there is no token of Vault".to_owned(),
            remedy: "set `VAULT_TOKEN` or `pml.secrets.vault.token`, or run `vault login`"
                .to_owned(),
        })?;
        let trimmed = Zeroizing::new(token.trim().to_owned());
        token.zeroize();
        let named = Reference::Env("VAULT_TOKEN".to_owned());
        self.credentials.announce(&named, &trimmed);
        Ok(trimmed)
    }

    fn refused(&self, status: StatusCode, body: &[u8]) -> SecretError {
        let reference = self.reference.clone();
        match status {
            StatusCode::NOT_FOUND | StatusCode::BAD_REQUEST => SecretError::Missing {
                reference,
                remedy: format!(
                    "Vault answered HTTP {}{}; with version 2 of the KV engine, the path has `data` after the mount, as in `secret/data/NAME`",
                    status.as_u16(),
                    said(body)
                ),
            },
            StatusCode::FORBIDDEN | StatusCode::UNAUTHORIZED => SecretError::Denied {
                reference,
                reason: format!("Vault answered HTTP {}{}", status.as_u16(), said(body)),
                remedy: "check the token and its policies".to_owned(),
            },
            status => SecretError::Unreachable {
                reference,
                reason: format!("Vault answered HTTP {}{}", status.as_u16(), said(body)),
                remedy: "check that Vault is unsealed and well".to_owned(),
            },
        }
    }

    fn unreachable(&self, error: &reqwest::Error) -> SecretError {
        let mut innermost: &dyn std::error::Error = error;
        while let Some(source) = innermost.source() {
            innermost = source;
        }
        SecretError::Unreachable {
            reference: self.reference.clone(),
            reason: innermost.to_string(),
            remedy: "check `VAULT_ADDR` and that Vault runs".to_owned(),
        }
    }

    fn bad_token(&self) -> SecretError {
        self.unusable("the token of Vault has a character that no header may have")
    }

    fn unusable(&self, reason: &str) -> SecretError {
        SecretError::Unusable {
            reference: self.reference.clone(),
            reason: reason.to_owned(),
        }
    }
}

/// The first message of an error of Vault.
fn said(body: &[u8]) -> String {
    #[derive(Deserialize)]
    struct Errors {
        #[serde(default)]
        errors: Vec<String>,
        #[serde(default)]
        warnings: Vec<String>,
    }
    let parsed = serde_json::from_slice::<Errors>(body).ok();
    let messages = parsed.map(|parsed| [parsed.errors, parsed.warnings].concat());
    match messages.and_then(|messages| messages.into_iter().next()) {
        Some(message) => {
            let line: String = message
                .chars()
                .filter(|c| !c.is_control())
                .take(200)
                .collect();
            format!(" “{line}”")
        }
        None => String::new(),
    }
}

fn sensitive(token: &str) -> Option<reqwest::header::HeaderValue> {
    let mut value = reqwest::header::HeaderValue::try_from(token).ok()?;
    value.set_sensitive(true);
    Some(value)
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
