//! The client that the MCP conformance suite drives: it is given a server's address, and does
//! with the gateway what the scenario named in the environment asks for.

use std::sync::Arc;
use std::time::Duration;

use pml_gateway::config::{Config, Endpoint, Remote, ServerConfig};
use pml_gateway::oauth::{ClientIdentity, LoginOptions, OAuth, TokenStore};
use pml_gateway::{CallError, Gateway, GatewayParts, RunLimits, StartError, Tool};
use serde_json::{Map, Value, json};
use url::Url;

const TIMEOUT: Duration = Duration::from_secs(20);
/// The most logins in one scenario.
const LOGINS: usize = 3;

type Failure = Box<dyn std::error::Error>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let address = std::env::args().nth(1).ok_or("give the server's address")?;
    let url = Url::parse(&address)?;
    let folder = tempfile::tempdir()?;
    let logins = Arc::new(OAuth::new(TokenStore::new(folder.path())));
    for logins_left in (0..=LOGINS).rev() {
        match converse(&url, &logins).await? {
            None => return Ok(()),
            Some(challenge) if logins_left > 0 => login(&url, &logins, challenge).await?,
            Some(_) => break,
        }
    }
    Err("the server is never content with a login".into())
}

/// Connects, lists and calls every tool. Returns the challenge if the server requires a login.
async fn converse(url: &Url, logins: &Arc<OAuth>) -> Result<Option<Option<String>>, Failure> {
    let remote = Remote {
        url: url.clone(),
        headers: Default::default(),
    };
    let server = ServerConfig::with_endpoint("under-test", Endpoint::Http(remote));
    let gateway = Gateway::open_with(
        Config::of([server]),
        GatewayParts {
            logins: Some(logins.clone()),
            ..GatewayParts::default()
        },
    )?;
    let listing = gateway.list(None, TIMEOUT).await;
    if let Some((_, problem)) = listing.problems.into_iter().next() {
        gateway.shutdown().await;
        return match problem {
            StartError::LoginNeeded { challenge, .. } => Ok(Some(challenge)),
            problem => Err(problem.into()),
        };
    }
    let scope = gateway.run(RunLimits::default());
    let mut wanted = None;
    for tool in listing.tools {
        let answer: Result<_, CallError> =
            gateway.call(&scope, tool.id.as_str(), sample(&tool)).await;
        if let Err(error) = answer {
            eprintln!("{}: {error}", tool.id);
            if let Some(challenge) = error.login_challenge() {
                wanted = Some(Some(challenge.to_owned()));
                break;
            }
        }
    }
    gateway.shutdown().await;
    Ok(wanted)
}

async fn login(url: &Url, logins: &OAuth, challenge: Option<String>) -> Result<(), Failure> {
    let context: Value = std::env::var("MCP_CONFORMANCE_CONTEXT")
        .ok()
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default();
    let text = |key: &str| context[key].as_str().map(str::to_owned);
    let identity = match text("client_id") {
        Some(id) => ClientIdentity::Registered {
            id,
            secret: text("client_secret"),
        },
        None => ClientIdentity::Document {
            url: Url::parse("https://conformance-test.local/client-metadata.json")?,
        },
    };
    let options = LoginOptions {
        identity,
        challenge,
        private_network: true,
        timeout: TIMEOUT,
        ..LoginOptions::default()
    };
    // The suite's authorization server answers the browser at once with a redirect.
    logins
        .login(url, &options, |page| {
            let page = page.clone();
            tokio::spawn(async move {
                let browser = reqwest::Client::new();
                browser.get(page).send().await
            });
            Ok(())
        })
        .await?;
    Ok(())
}

/// The simplest arguments that fit the schema.
fn sample(tool: &Tool) -> Value {
    let mut arguments = Map::new();
    for (name, schema) in tool.input_schema["properties"]
        .as_object()
        .into_iter()
        .flatten()
    {
        let value = match schema["type"].as_str() {
            Some("number" | "integer") => json!(5),
            Some("boolean") => json!(true),
            Some("array") => json!([]),
            Some("object") => json!({}),
            _ => json!("sample"),
        };
        arguments.insert(name.clone(), value);
    }
    Value::Object(arguments)
}
