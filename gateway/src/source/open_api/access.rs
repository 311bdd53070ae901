//! Which credentials a request carries.

use std::collections::BTreeMap;

use pml_openapi::{Location, Operation, Requirement, SecurityScheme};
use url::Url;

use super::place::is_named;
use super::tokens::{TokenRequest, Tokens};
use crate::config::{Credential, OpenApi, basic};
use crate::secrets::Secrets;
use crate::transport::Login;

/// The security schemes of a service for which there are credentials.
pub struct Access {
    schemes: BTreeMap<String, (SecurityScheme, Credential)>,
    token_urls: BTreeMap<String, Url>,
    login: Option<Login>,
    tokens: Tokens,
}

/// What is added to a request.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Added {
    pub headers: Vec<(String, String)>,
    pub cookies: Vec<String>,
    pub query: Vec<(String, String)>,
}

impl Access {
    /// Matches the credentials of the entry with the schemes of the document.
    ///
    /// # Errors
    /// A credential has no scheme, or one of another kind.
    pub fn new(
        config: &OpenApi,
        schemes: &BTreeMap<String, SecurityScheme>,
        base: &Url,
        login: Option<Login>,
    ) -> Result<Self, String> {
        let mut access = Self {
            schemes: BTreeMap::new(),
            token_urls: BTreeMap::new(),
            login,
            tokens: Tokens::default(),
        };
        for (name, credential) in &config.access.auth {
            let known = || schemes.keys().map(String::as_str);
            let Some(scheme) = schemes.get(name) else {
                let remedy = match pml_nearest::typo_of(name, known()) {
                    Some(nearest) => format!("did you mean `{nearest}`?"),
                    None => format!("it has: {}", known().collect::<Vec<_>>().join(", ")),
                };
                return Err(format!(
                    "the document has no security scheme `{name}`: {remedy}"
                ));
            };
            check_kind(name, scheme, credential)?;
            if let (Credential::Client(client), SecurityScheme::Bearer { token_url, .. }) =
                (credential, scheme)
            {
                let url = match (&client.token_url, token_url) {
                    (Some(url), _) => url.clone(),
                    (None, Some(named)) => token_url_of(config, base, name, named)?,
                    (None, None) => {
                        return Err(format!(
                            "the security scheme `{name}` has no address for tokens: write it as `tokenUrl` of `auth.{name}`"
                        ));
                    }
                };
                access.token_urls.insert(name.clone(), url);
            }
            let both = (scheme.clone(), credential.clone());
            access.schemes.insert(name.clone(), both);
        }
        Ok(access)
    }

    /// The schemes that a call of this operation uses: the first alternative that all is there for. If
    /// the document does not say what an operation needs, everything is used.
    fn chosen<'a>(&'a self, operation: &'a Operation) -> Vec<&'a str> {
        let Some(alternatives) = &operation.security else {
            return self.schemes.keys().map(String::as_str).collect();
        };
        let is_complete =
            |wanted: &&Requirement| wanted.keys().all(|name| self.schemes.contains_key(name));
        // An alternative without a scheme is only for those who have nothing.
        let chosen = alternatives
            .iter()
            .filter(|wanted| !wanted.is_empty())
            .find(is_complete);
        chosen
            .map(|wanted| wanted.keys().map(String::as_str).collect())
            .unwrap_or_default()
    }

    /// What the request of a call carries.
    ///
    /// # Errors
    /// There is no token.
    pub async fn added(
        &self,
        operation: &Operation,
        http: &reqwest::Client,
        secrets: &Secrets,
    ) -> Result<Added, String> {
        let mut added = Added::default();
        for name in self.chosen(operation) {
            let Some((scheme, credential)) = self.schemes.get(name) else {
                continue;
            };
            match (scheme, credential) {
                (SecurityScheme::ApiKey { name, location }, Credential::Text(key)) => {
                    match location {
                        Location::Query => added.query.push((name.clone(), key.clone())),
                        Location::Cookie => added.cookies.push(format!("{name}={key}")),
                        _ => added.headers.push((name.clone(), key.clone())),
                    }
                }
                (_, credential) => {
                    if let Some(value) = self
                        .authorization(name, scheme, credential, http, secrets)
                        .await?
                    {
                        added.headers.push(("authorization".to_owned(), value));
                    }
                }
            }
        }
        Ok(added)
    }

    async fn authorization(
        &self,
        name: &str,
        scheme: &SecurityScheme,
        credential: &Credential,
        http: &reqwest::Client,
        secrets: &Secrets,
    ) -> Result<Option<String>, String> {
        Ok(match (scheme, credential) {
            (SecurityScheme::Other { scheme }, Credential::Text(text)) => {
                Some(format!("{scheme} {text}"))
            }
            (_, Credential::Text(token)) => Some(format!("Bearer {token}")),
            (_, Credential::Basic { username, password }) => {
                let pair = basic(username, password);
                Some(format!("Basic {pair}"))
            }
            (SecurityScheme::Bearer { scopes, .. }, Credential::Client(client)) => {
                let Some(url) = self.token_urls.get(name) else {
                    return Ok(None);
                };
                let request = TokenRequest {
                    scheme: name,
                    client,
                    url,
                    scopes: client.scopes.as_deref().unwrap_or(scopes),
                };
                let token = self.tokens.token(http, &request, secrets).await?;
                Some(format!("Bearer {token}"))
            }
            (_, Credential::Login) => match &self.login {
                Some(login) => login.token().await.map(|token| format!("Bearer {token}")),
                None => None,
            },
            (_, Credential::Client(_)) => None,
        })
    }

    /// After an answer with 401: whether another token can be had, which is worth another attempt.
    pub async fn renew(&self, operation: &Operation) -> bool {
        let mut is_renewed = false;
        for name in self.chosen(operation) {
            if self.token_urls.contains_key(name) {
                self.tokens.forget(name).await;
                is_renewed = true;
            }
        }
        is_renewed
    }

    /// Whether the operation uses the login of the user.
    pub fn uses_login(&self, operation: &Operation) -> bool {
        self.chosen(operation)
            .iter()
            .any(|name| matches!(self.schemes.get(*name), Some((_, Credential::Login))))
    }
}

/// Refuses a credential that the scheme has no use for.
fn check_kind(name: &str, scheme: &SecurityScheme, credential: &Credential) -> Result<(), String> {
    let wanted = match (scheme, credential) {
        (SecurityScheme::ApiKey { .. } | SecurityScheme::Other { .. }, Credential::Text(_))
        | (SecurityScheme::Basic, Credential::Basic { .. })
        | (
            SecurityScheme::Bearer { .. },
            Credential::Text(_) | Credential::Client(_) | Credential::Login,
        ) => return Ok(()),
        (SecurityScheme::ApiKey { .. } | SecurityScheme::Other { .. }, _) => "the key as a text",
        (SecurityScheme::Basic, _) => "`username` and `password`",
        (SecurityScheme::Bearer { .. }, _) => {
            "a token as a text, `clientId` and `clientSecret`, or `\"login\": true`"
        }
    };
    Err(format!(
        "the security scheme `{name}` needs {wanted}: correct `auth.{name}`"
    ))
}

/// Where the document says that tokens are had. The client's secret goes there, so it must be the
/// origin of the service or one that the entry names.
fn token_url_of(config: &OpenApi, base: &Url, name: &str, named: &str) -> Result<Url, String> {
    let url = base
        .join(named)
        .map_err(|_| format!("the address for tokens of `{name}` is invalid: {named}"))?;
    if url.origin() == base.origin() || is_named(config, &url) {
        return Ok(url);
    }
    Err(format!(
        "the document wants the secret of `auth.{name}` sent to {}: if that is right, write `\"tokenUrl\": \"{url}\"`",
        url.origin().ascii_serialization()
    ))
}
