//! A small authorization server and the MCP endpoint it protects, on one loopback port.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use axum::extract::{Form, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use url::Url;

/// How the server behaves; changed while it runs.
#[derive(Debug, Clone)]
pub struct Behaviour {
    pub resource_metadata: bool,
    pub server_metadata: bool,
    pub registration: bool,
    pub client_secret: Option<&'static str>,
    pub challenge_methods: Vec<&'static str>,
    /// Another one than this, for a server that moved.
    pub authorization_server: Option<Url>,
    /// Below a path of this server, as old ones have it.
    pub issuer_path: &'static str,
    pub callback_issuer: Option<&'static str>,
    pub callback_state: Option<&'static str>,
    pub refuse_login: bool,
    pub expires_in: u64,
    pub token_endpoint_down: bool,
    /// Bytes by which an access token and a refresh token are longer than usual.
    pub padding: (usize, usize),
    /// Fields of the metadata that are replaced.
    pub endpoints: Vec<(&'static str, &'static str)>,
}

impl Default for Behaviour {
    fn default() -> Self {
        Self {
            resource_metadata: true,
            server_metadata: true,
            registration: true,
            client_secret: None,
            challenge_methods: vec!["S256"],
            authorization_server: None,
            issuer_path: "",
            callback_issuer: None,
            callback_state: None,
            refuse_login: false,
            expires_in: 3600,
            token_endpoint_down: false,
            padding: (0, 0),
            endpoints: Vec::new(),
        }
    }
}

/// What happened, for tests to look at.
#[derive(Debug, Default)]
struct Seen {
    codes: HashMap<String, HashMap<String, String>>,
    refresh_token: Option<String>,
    tokens: u32,
    token_requests: u32,
    refreshes: u32,
}

#[derive(Debug, Clone)]
pub struct Authority {
    origin: String,
    behaviour: Arc<Mutex<Behaviour>>,
    seen: Arc<Mutex<Seen>>,
}

type Fields = HashMap<String, String>;

impl Authority {
    pub async fn start(behaviour: Behaviour) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let authority = Self {
            origin: format!("http://{}", listener.local_addr().unwrap()),
            behaviour: Arc::new(Mutex::new(behaviour)),
            seen: Arc::default(),
        };
        let router = Router::new()
            .route("/mcp", get(Self::endpoint).post(Self::endpoint))
            .route(
                "/.well-known/oauth-protected-resource",
                get(Self::resource_metadata),
            )
            .route(
                "/.well-known/oauth-protected-resource/mcp",
                get(Self::resource_metadata),
            )
            .route(
                "/.well-known/oauth-authorization-server",
                get(Self::server_metadata),
            )
            .route("/register", post(Self::register))
            .route("/authorize", get(Self::authorize))
            .route("/token", post(Self::token))
            .with_state(authority.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        authority
    }

    pub fn mcp(&self) -> Url {
        Url::parse(&format!("{}/mcp", self.origin)).unwrap()
    }

    pub fn issuer(&self) -> Url {
        Url::parse(&self.origin).unwrap()
    }

    pub fn behave(&self, change: impl FnOnce(&mut Behaviour)) {
        change(&mut self.behaviour.lock().unwrap());
    }

    pub fn refreshes(&self) -> u32 {
        self.seen.lock().unwrap().refreshes
    }

    pub fn token_requests(&self) -> u32 {
        self.seen.lock().unwrap().token_requests
    }

    /// Makes the refresh token that is out there worthless.
    pub fn revoke(&self) {
        self.seen.lock().unwrap().refresh_token = None;
    }

    fn behaviour(&self) -> Behaviour {
        self.behaviour.lock().unwrap().clone()
    }

    async fn endpoint(State(this): State<Self>) -> Response {
        let metadata = format!("{}/.well-known/oauth-protected-resource/mcp", this.origin);
        let challenge = if this.behaviour().resource_metadata {
            format!("Bearer resource_metadata=\"{metadata}\"")
        } else {
            "Bearer".to_owned()
        };
        (
            StatusCode::UNAUTHORIZED,
            [(header::WWW_AUTHENTICATE, challenge)],
        )
            .into_response()
    }

    async fn resource_metadata(State(this): State<Self>) -> Response {
        let behaviour = this.behaviour();
        if !behaviour.resource_metadata {
            return StatusCode::NOT_FOUND.into_response();
        }
        let authorization_server = behaviour.authorization_server.map(String::from);
        Json(json!({
            "resource": format!("{}/mcp", this.origin),
            "authorization_servers": [authorization_server.as_ref().unwrap_or(&this.origin)],
            "scopes_supported": ["files:read"],
        }))
        .into_response()
    }

    async fn server_metadata(State(this): State<Self>) -> Response {
        let behaviour = this.behaviour();
        if !behaviour.server_metadata {
            return StatusCode::NOT_FOUND.into_response();
        }
        let origin = &this.origin;
        let mut metadata = json!({
            "issuer": format!("{origin}{}", behaviour.issuer_path),
            "authorization_endpoint": format!("{origin}/authorize"),
            "token_endpoint": format!("{origin}/token"),
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": behaviour.challenge_methods,
        });
        if behaviour.registration {
            metadata["registration_endpoint"] = format!("{origin}/register").into();
        }
        for (name, address) in behaviour.endpoints {
            metadata[name] = address.into();
        }
        Json(metadata).into_response()
    }

    async fn register(State(this): State<Self>, Json(request): Json<Value>) -> Response {
        let behaviour = this.behaviour();
        if !behaviour.registration {
            return StatusCode::NOT_FOUND.into_response();
        }
        let mut client =
            json!({"client_id": "registered", "redirect_uris": request["redirect_uris"]});
        if let Some(secret) = behaviour.client_secret {
            client["client_secret"] = secret.into();
        }
        (StatusCode::CREATED, Json(client)).into_response()
    }

    async fn authorize(State(this): State<Self>, Query(asked): Query<Fields>) -> Response {
        let behaviour = this.behaviour();
        let mut back = Url::parse(&asked["redirect_uri"]).unwrap();
        let state = behaviour.callback_state.unwrap_or(&asked["state"]);
        back.query_pairs_mut().append_pair("state", state);
        if behaviour.refuse_login {
            back.query_pairs_mut().append_pair("error", "access_denied");
            return Redirect::to(back.as_str()).into_response();
        }
        let code = format!("code-{}", fastrand::u64(..));
        back.query_pairs_mut().append_pair("code", &code);
        if let Some(issuer) = behaviour.callback_issuer {
            back.query_pairs_mut().append_pair("iss", issuer);
        }
        this.seen.lock().unwrap().codes.insert(code, asked);
        Redirect::to(back.as_str()).into_response()
    }

    async fn token(
        State(this): State<Self>,
        headers: HeaderMap,
        Form(request): Form<Fields>,
    ) -> Response {
        let behaviour = this.behaviour();
        let mut seen = this.seen.lock().unwrap();
        seen.token_requests += 1;
        if behaviour.token_endpoint_down {
            return StatusCode::SERVICE_UNAVAILABLE.into_response();
        }
        if let Some(secret) = behaviour.client_secret
            && basic_password(&headers).as_deref() != Some(secret)
        {
            return refused("invalid_client");
        }
        if request.get("resource").map(String::as_str) != Some(this.mcp().as_str()) {
            return refused("invalid_target");
        }
        match request["grant_type"].as_str() {
            "authorization_code" => {
                let Some(asked) = seen.codes.remove(&request["code"]) else {
                    return refused("invalid_grant");
                };
                let challenge =
                    BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(&request["code_verifier"]));
                let honest = asked["code_challenge_method"] == "S256"
                    && asked["code_challenge"] == challenge
                    && asked["redirect_uri"] == request["redirect_uri"]
                    && asked["resource"] == request["resource"];
                if !honest {
                    return refused("invalid_grant");
                }
            }
            "refresh_token" => {
                // Rotation: each refresh token serves once, and using it again ends them all.
                if seen.refresh_token.as_ref() != request.get("refresh_token") {
                    seen.refresh_token = None;
                    return refused("invalid_grant");
                }
                seen.refreshes += 1;
            }
            _ => return refused("unsupported_grant_type"),
        }
        seen.tokens += 1;
        let (access_padding, refresh_padding) = behaviour.padding;
        let refresh = format!("refresh-{}{}", seen.tokens, "x".repeat(refresh_padding));
        seen.refresh_token = Some(refresh.clone());
        Json(json!({
            "access_token": format!("access-{}{}", seen.tokens, "x".repeat(access_padding)),
            "refresh_token": refresh,
            "token_type": "Bearer",
            "expires_in": behaviour.expires_in,
        }))
        .into_response()
    }
}

fn refused(error: &str) -> Response {
    (StatusCode::BAD_REQUEST, Json(json!({ "error": error }))).into_response()
}

fn basic_password(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let decoded = BASE64_STANDARD.decode(value.strip_prefix("Basic ")?).ok()?;
    let text = String::from_utf8(decoded).ok()?;
    text.split_once(':')
        .map(|(_, password)| password.to_owned())
}
