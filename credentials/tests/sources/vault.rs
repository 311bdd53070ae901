//! A double of Vault: version 2 of the KV engine, and dynamic credentials with leases. Paths, headers and
//! bodies are those of its HTTP API.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Json;
use axum::Router;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{get, put};
use serde_json::{Value, json};

use super::{error, opened, reference};

#[derive(Default)]
struct Vault {
    token: String,
    stored: String,
    issued: u32,
    renewals: u32,
    /// Renewals that are granted before the longest time of a lease is reached.
    granted: u32,
    sealed: bool,
}

type Shared = Arc<Mutex<Vault>>;
type Answer = (StatusCode, Json<Value>);

fn refused(status: StatusCode, message: &str) -> Answer {
    (status, Json(json!({ "errors": [message] })))
}

fn checked(vault: &Vault, headers: &HeaderMap) -> Result<(), Answer> {
    if vault.sealed {
        return Err(refused(StatusCode::SERVICE_UNAVAILABLE, "Vault is sealed"));
    }
    let has = |name: &str, value: &str| headers.get(name).is_some_and(|given| given == value);
    match has("x-vault-token", &vault.token) && has("x-vault-request", "true") {
        true => Ok(()),
        false => Err(refused(StatusCode::FORBIDDEN, "permission denied")),
    }
}

async fn read(State(vault): State<Shared>, Path(path): Path<String>, headers: HeaderMap) -> Answer {
    let mut vault = vault.lock().unwrap();
    if let Err(answer) = checked(&vault, &headers) {
        return answer;
    }
    match path.as_str() {
        "secret/data/github" => (
            StatusCode::OK,
            Json(json!({
                "request_id": "r", "lease_id": "", "renewable": false, "lease_duration": 0,
                "data": {
                    "data": { "token": vault.stored, "port": 5432 },
                    "metadata": { "version": 3, "destroyed": false },
                },
                "warnings": null, "auth": null,
            })),
        ),
        "database/creds/app" => {
            vault.issued += 1;
            let number = vault.issued;
            (
                StatusCode::OK,
                Json(json!({
                    "lease_id": format!("database/creds/app/{number}"), "renewable": true, "lease_duration": 3,
                    "data": { "username": format!("v-app-{number}"), "password": format!("pw-number-{number}") },
                })),
            )
        }
        _ => refused(StatusCode::NOT_FOUND, "no handler for route"),
    }
}

async fn renew(State(vault): State<Shared>, headers: HeaderMap, Json(body): Json<Value>) -> Answer {
    let mut vault = vault.lock().unwrap();
    if let Err(answer) = checked(&vault, &headers) {
        return answer;
    }
    if body["lease_id"] != format!("database/creds/app/{}", vault.issued) || body["increment"] != 3
    {
        return refused(StatusCode::BAD_REQUEST, "lease not found");
    }
    vault.renewals += 1;
    let duration = if vault.renewals <= vault.granted {
        3
    } else {
        1
    };
    let answer =
        json!({ "lease_id": body["lease_id"], "renewable": true, "lease_duration": duration });
    (StatusCode::OK, Json(answer))
}

async fn started() -> (Shared, SocketAddr) {
    let vault = Shared::default();
    {
        let mut vault = vault.lock().unwrap();
        vault.token = "hvs.the-token-of-vault".to_owned();
        vault.stored = "ghp_stored-in-vault".to_owned();
        vault.granted = 1;
    }
    let app = Router::new()
        .route("/v1/sys/leases/renew", put(renew))
        .route("/v1/{*path}", get(read))
        .with_state(vault.clone());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await });
    (vault, address)
}

fn settings(address: SocketAddr) -> String {
    format!(
        r#"{{ "ttl": "100ms", "vault": {{ "address": "http://{address}/", "token": "${{secret:file/vault-token}}" }} }}"#
    )
}

#[tokio::test]
async fn a_field_of_the_kv_engine_is_read_with_the_token() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("vault-token"),
        "hvs.the-token-of-vault\n",
    )
    .unwrap();
    let (vault, address) = started().await;
    let (credentials, announced) = opened(&settings(address), folder.path());
    let token = credentials
        .get(&reference("secret:vault/secret/data/github#token"))
        .await;
    assert_eq!(token.unwrap().value(), "ghp_stored-in-vault");
    let port = credentials
        .get(&reference("secret:vault/secret/data/github#port"))
        .await;
    assert_eq!(port.unwrap().value(), "5432");
    let announced: Vec<String> = announced
        .lock()
        .unwrap()
        .iter()
        .map(|(_, value)| value.clone())
        .collect();
    assert!(
        announced.contains(&"hvs.the-token-of-vault".to_owned()),
        "{announced:?}"
    );

    for (written, expected) in [
        (
            "secret:vault/secret/data/github#nope",
            "its path has the fields port, token",
        ),
        (
            "secret:vault/secret/github#token",
            "the path has `data` after the mount",
        ),
    ] {
        let message = error(&credentials, written).await.to_string();
        assert!(message.contains(expected), "{message}");
    }
    vault.lock().unwrap().token = "hvs.another".to_owned();
    tokio::time::sleep(Duration::from_millis(150)).await;
    let message = error(&credentials, "secret:vault/secret/data/github#token")
        .await
        .to_string();
    assert!(
        message.contains("may not be read") && message.contains("permission denied"),
        "{message}"
    );
    assert!(!message.contains("hvs."), "{message}");
}

#[tokio::test]
async fn a_source_that_does_not_answer_does_not_end_the_use_of_its_last_value() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("vault-token"), "hvs.the-token-of-vault").unwrap();
    let (vault, address) = started().await;
    let (credentials, _) = opened(&settings(address), folder.path());
    let named = reference("secret:vault/secret/data/github#token");
    let first = credentials.get(&named).await.unwrap();
    vault.lock().unwrap().sealed = true;
    tokio::time::sleep(Duration::from_millis(150)).await;
    assert_eq!(
        credentials.get(&named).await.unwrap().version(),
        first.version()
    );
    let (fresh, _) = opened(&settings(address), folder.path());
    let message = error(&fresh, "secret:vault/secret/data/github#token").await;
    assert!(
        message.is_transient() && message.to_string().contains("Vault is sealed"),
        "{message}"
    );
}

#[tokio::test]
async fn a_lease_is_renewed_and_its_secret_replaced_as_a_whole_before_it_ends() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("vault-token"), "hvs.the-token-of-vault").unwrap();
    let (vault, address) = started().await;
    let (credentials, _) = opened(&settings(address), folder.path());
    let user = reference("secret:vault/database/creds/app#username");
    let password = reference("secret:vault/database/creds/app#password");
    let pair = async || {
        let user = credentials.get(&user).await.unwrap().value().to_owned();
        (
            user,
            credentials.get(&password).await.unwrap().value().to_owned(),
        )
    };
    let first = ("v-app-1".to_owned(), "pw-number-1".to_owned());
    assert_eq!(pair().await, first);
    // Its lease of 3 s outlives the ttl of 100 ms.
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(pair().await, first);
    assert_eq!(vault.lock().unwrap().issued, 1);
    // After two thirds it is renewed, which Vault grants once in full.
    tokio::time::sleep(Duration::from_millis(1_900)).await;
    assert_eq!(pair().await, first);
    assert_eq!(vault.lock().unwrap().renewals, 1);
    // The second renewal is short: the lease is near its longest time.
    let due = credentials.lease_due(&user).await.unwrap();
    tokio::time::sleep_until(due + Duration::from_millis(20)).await;
    assert_eq!(
        pair().await,
        ("v-app-2".to_owned(), "pw-number-2".to_owned())
    );
    assert_eq!(vault.lock().unwrap().issued, 2);
}
