//! Every source, with real files and programs, and a double of Vault that speaks its HTTP API.

#[path = "sources/vault.rs"]
mod vault;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pml_credentials::{Credentials, Reference, SecretError, SecretSettings, Template};

type Announced = Arc<Mutex<Vec<(String, String)>>>;

fn client() -> reqwest::Result<reqwest::Client> {
    // Fails if another test was first, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().build()
}

fn opened(settings: &str, folder: &Path) -> (Credentials, Announced) {
    let mut settings: SecretSettings = serde_json::from_str(settings).unwrap();
    settings.folder = Some(folder.to_owned());
    let announced = Announced::default();
    let noted = announced.clone();
    let note = move |reference: &Reference, value: &str| {
        let pair = (reference.to_string(), value.to_owned());
        noted.lock().unwrap().push(pair);
    };
    (
        Credentials::new(settings, client, Box::new(note)),
        announced,
    )
}

fn reference(written: &str) -> Reference {
    written.parse().unwrap()
}

fn program(folder: &Path, name: &str, script: &str) -> String {
    let file = folder.join(name);
    std::fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o700)).unwrap();
    file.display().to_string()
}

async fn error(credentials: &Credentials, written: &str) -> SecretError {
    credentials.get(&reference(written)).await.unwrap_err()
}

#[tokio::test]
async fn a_file_is_read_once_per_ttl_and_every_value_is_announced_before_it_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    std::fs::write(&file, "first-value\r\n").unwrap();
    let (credentials, announced) = opened(r#"{ "ttl": "300ms" }"#, folder.path());
    let named = reference("secret:file/token");
    let first = credentials.get(&named).await.unwrap();
    assert_eq!(first.value(), "first-value");
    std::fs::write(&file, "second-value\n").unwrap();
    let kept = credentials.get(&named).await.unwrap();
    assert_eq!(
        (kept.value(), kept.version()),
        ("first-value", first.version())
    );
    tokio::time::sleep(Duration::from_millis(400)).await;
    let second = credentials.get(&named).await.unwrap();
    assert_eq!(second.value(), "second-value");
    assert_ne!(second.version(), first.version());
    // The same value keeps its version: nothing is restarted.
    tokio::time::sleep(Duration::from_millis(400)).await;
    assert_eq!(
        credentials.get(&named).await.unwrap().version(),
        second.version()
    );
    let announced = announced.lock().unwrap();
    assert_eq!(
        announced[0],
        ("secret:file/token".to_owned(), "first-value".to_owned())
    );
    assert!(announced.iter().any(|(_, value)| value == "second-value"));
}

#[tokio::test]
async fn a_secret_that_does_not_exist_is_one_sentence_with_its_reference() {
    let folder = tempfile::tempdir().unwrap();
    let (credentials, _) = opened("{}", folder.path());
    let fails = program(folder.path(), "fails", "echo 'no such entry' >&2; exit 3");
    let empty = program(folder.path(), "empty", "echo");
    for (written, expected) in [
        (
            "secret:env/PML_NOT_SET_ANYWHERE".to_owned(),
            "set the variable PML_NOT_SET_ANYWHERE",
        ),
        (
            "secret:file/none".to_owned(),
            "create it, or correct the path",
        ),
        (
            format!("secret:exec/{fails} a"),
            "“no such entry”; run the program by hand",
        ),
        (
            format!("secret:exec/{empty}"),
            "it is empty; give it a value",
        ),
        (
            "secret:exec/pml-no-such-program".to_owned(),
            "was not found; install it",
        ),
        ("secret:vault/secret/data/a#b".to_owned(), "VAULT_ADDR"),
    ] {
        let message = error(&credentials, &written).await.to_string();
        assert!(message.contains(&format!("`{written}`")), "{message}");
        assert!(message.contains(expected), "{message}");
        assert!(!message.contains('\n'), "{message}");
    }
}

#[tokio::test]
async fn a_file_that_everybody_can_write_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("open");
    std::fs::write(&file, "value").unwrap();
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o666)).unwrap();
    let (credentials, _) = opened("{}", folder.path());
    let message = error(&credentials, "secret:file/open").await.to_string();
    assert!(
        message.contains("everybody on this machine can write"),
        "{message}"
    );
}

#[tokio::test]
async fn a_program_gets_its_words_without_a_shell_and_is_killed_after_its_time() {
    let folder = tempfile::tempdir().unwrap();
    let shows = program(folder.path(), "shows", "printf '%s|' \"$@\"");
    let (credentials, _) = opened(r#"{ "timeout": "500ms" }"#, folder.path());
    let named = reference(&format!("secret:exec/{shows} a; $(id) *"));
    assert_eq!(
        credentials.get(&named).await.unwrap().value(),
        "a;|$(id)|*|"
    );
    let mark = folder.path().join("done");
    let slow = program(
        folder.path(),
        "slow",
        &format!("sleep 1; touch {}", mark.display()),
    );
    let failed = error(&credentials, &format!("secret:exec/{slow}")).await;
    assert!(
        failed.is_transient() && failed.to_string().contains("took longer than 0.5 s"),
        "{failed}"
    );
    tokio::time::sleep(Duration::from_millis(900)).await;
    assert!(!mark.exists(), "the program was not killed");
}

#[tokio::test]
async fn op_and_the_keyring_are_asked_with_their_own_words() {
    let folder = tempfile::tempdir().unwrap();
    program(
        folder.path(),
        "op",
        "[ \"$*\" = 'read --no-newline op://Private/GitHub/token' ] && printf from-op",
    );
    let lookup = "[ \"$*\" = 'lookup service github.com username ada' ] && printf from-keyring";
    program(folder.path(), "secret-tool", lookup);
    let find = "[ \"$*\" = 'find-generic-password -s github.com -a ada -w' ] && echo from-keyring";
    program(folder.path(), "security", find);
    let path = std::env::var("PATH").unwrap();
    // Only this test reads programs by their names.
    // SAFETY: every reader of the environment in this test binary goes through std, which locks it.
    unsafe { std::env::set_var("PATH", format!("{}:{path}", folder.path().display())) };
    let (credentials, _) = opened("{}", folder.path());
    for (written, value) in [
        ("secret:op://Private/GitHub/token", "from-op"),
        ("secret:keyring/github.com/ada", "from-keyring"),
    ] {
        assert_eq!(
            credentials.get(&reference(written)).await.unwrap().value(),
            value
        );
    }
}

#[tokio::test]
async fn a_template_is_filled_with_several_secrets() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a"), "one").unwrap();
    std::fs::write(folder.path().join("b"), "two").unwrap();
    let (credentials, _) = opened("{}", folder.path());
    let template = Template::parse("x ${secret:file/a}:${secret:file/b} y").unwrap();
    let filled = template.fill(&credentials).await.unwrap();
    assert_eq!(*filled.text, "x one:two y");
    assert_eq!(filled.versions.len(), 2);
    let shown = format!(
        "{filled:?} {:?}",
        credentials.get(&reference("secret:file/a")).await
    );
    assert!(!shown.contains("one"), "{shown}");
}

#[tokio::test]
async fn a_rejected_value_is_read_anew_once_for_all_callers_and_not_again_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let count = folder.path().join("count");
    let script = format!("echo x >> {}; echo value-$(wc -l < {0})", count.display());
    let counts = program(folder.path(), "counts", &script);
    let reads = || std::fs::read_to_string(&count).unwrap().lines().count();
    let (credentials, _) = opened("{}", folder.path());
    let named = reference(&format!("secret:exec/{counts}"));
    let rejected = credentials.get(&named).await.unwrap().version();
    let renewals = (0..50).map(|_| {
        let (credentials, named) = (credentials.clone(), named.clone());
        tokio::spawn(async move { credentials.renew(&named, rejected).await.unwrap() })
    });
    for renewal in renewals.collect::<Vec<_>>() {
        assert_eq!(renewal.await.unwrap().value(), "value-2");
    }
    assert_eq!(reads(), 2);

    // A source that gives the rejected value again is not asked for every rejection.
    std::fs::write(folder.path().join("same"), "same-value").unwrap();
    let same = reference("secret:file/same");
    let version = credentials.get(&same).await.unwrap().version();
    assert_eq!(
        credentials.renew(&same, version).await.unwrap().version(),
        version
    );
    std::fs::write(folder.path().join("same"), "other-value").unwrap();
    assert_eq!(
        credentials.renew(&same, version).await.unwrap().value(),
        "same-value"
    );
}

#[tokio::test]
async fn a_secret_that_is_deleted_is_used_no_longer_than_its_ttl() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("gone"), "value").unwrap();
    let (credentials, _) = opened(r#"{ "ttl": "1ms" }"#, folder.path());
    credentials
        .get(&reference("secret:file/gone"))
        .await
        .unwrap();
    std::fs::remove_file(folder.path().join("gone")).unwrap();
    tokio::time::sleep(Duration::from_millis(5)).await;
    assert!(!error(&credentials, "secret:file/gone").await.is_transient());
}
