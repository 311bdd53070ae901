//! Logins against a real, small authorization server.

mod authority;
mod login;
mod tokens;

use std::io;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tempfile::TempDir;
use url::Url;

use super::{LoginOptions, OAuth, TokenStore};
use authority::{Authority, Behaviour};

/// A user's machine: what is stored there, and a browser that agrees to everything.
struct Machine {
    folder: TempDir,
}

impl Machine {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// A process of its own: it shares nothing with another but the files.
    fn process(&self) -> OAuth {
        OAuth::new(TokenStore::new(self.folder.path().join("data/oauth")))
    }

    /// Makes the stored token `seconds` older than it is.
    fn age(&self, server: &Url, seconds: u64) {
        let store = self.process().store().clone();
        let mut record = store.load(server).unwrap().unwrap();
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap()
            .as_secs();
        record.credentials.token_received_at = Some(now - seconds);
        store.save(&record).unwrap();
    }
}

fn browse(address: &Url) -> io::Result<()> {
    let address = address.clone();
    let _ = rustls::crypto::ring::default_provider().install_default();
    tokio::spawn(async move { reqwest::get(address).await });
    Ok(())
}

fn options() -> LoginOptions {
    LoginOptions {
        timeout: Duration::from_secs(10),
        ..LoginOptions::default()
    }
}

async fn logged_in(behaviour: Behaviour) -> (Machine, Authority, OAuth) {
    let authority = Authority::start(behaviour).await;
    let machine = Machine::new();
    let oauth = machine.process();
    oauth
        .login(&authority.mcp(), &options(), browse)
        .await
        .unwrap();
    (machine, authority, oauth)
}
