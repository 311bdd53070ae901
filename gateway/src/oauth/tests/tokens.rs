//! Keeping, using and replacing tokens.

use std::fs;
use std::sync::Arc;

use super::authority::{Authority, Behaviour};
use super::{browse, logged_in, options};

#[cfg(unix)]
#[tokio::test]
async fn only_the_owner_can_read_stored_tokens() {
    use std::os::unix::fs::PermissionsExt;
    let (machine, _authority, _) = logged_in(Behaviour::default()).await;
    let folder = machine.folder.path().join("data/oauth");
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    let files: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert!(!files.is_empty());
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[tokio::test]
async fn an_expired_token_is_refreshed_and_the_rotated_one_kept() {
    let (machine, authority, oauth) = logged_in(Behaviour::default()).await;
    let server = authority.mcp();
    for (round, token) in ["access-2", "access-3", "access-4"].into_iter().enumerate() {
        machine.age(&server, 3600);
        let process = machine.process();
        assert_eq!(
            process.bearer_for(&server).await.unwrap().as_deref(),
            Some(token)
        );
        assert_eq!(authority.refreshes() as usize, round + 1);
    }
    // The first process still holds an old token, which the server rejects in the end.
    let replaced = oauth
        .bearer_after_rejection(&server, "access-1")
        .await
        .unwrap();
    assert_eq!(replaced.as_deref(), Some("access-4"));
    assert_eq!(authority.refreshes(), 3);
}

#[tokio::test]
async fn many_callers_in_several_processes_refresh_once() {
    let (machine, authority, _) = logged_in(Behaviour::default()).await;
    let server = authority.mcp();
    machine.age(&server, 3600);
    let processes: Vec<_> = (0..3).map(|_| Arc::new(machine.process())).collect();
    let callers: Vec<_> = (0..30)
        .map(|n| {
            let (oauth, server) = (processes[n % 3].clone(), server.clone());
            tokio::spawn(async move { oauth.bearer_for(&server).await.unwrap() })
        })
        .collect();
    for caller in callers {
        assert_eq!(caller.await.unwrap().as_deref(), Some("access-2"));
    }
    assert_eq!(authority.refreshes(), 1);
}

#[tokio::test]
async fn a_token_that_lives_for_seconds_is_not_refreshed_for_every_request() {
    let (_machine, authority, oauth) = logged_in(Behaviour {
        expires_in: 20,
        ..Behaviour::default()
    })
    .await;
    for _ in 0..3 {
        let token = oauth.bearer_for(&authority.mcp()).await.unwrap();
        assert_eq!(token.as_deref(), Some("access-1"));
    }
    assert_eq!(authority.refreshes(), 0);
}

#[tokio::test]
async fn a_server_cannot_fill_the_memory_or_the_disk_with_long_tokens() {
    for padding in [(16 * 1024, 0), (0, 16 * 1024), (1_000_000, 0)] {
        let (machine, authority, oauth) = logged_in(Behaviour::default()).await;
        let server = authority.mcp();
        authority.behave(|behaviour| behaviour.padding = padding);
        let error = oauth.login(&server, &options(), browse).await.unwrap_err();
        let source = std::error::Error::source(&error).unwrap().to_string();
        assert!(source.contains("takes 16 KiB at most"), "{source}");
        // The old login stays, until its token is refreshed.
        assert_eq!(oauth.secrets_of(&server), [""; 0]);
        let token = oauth.bearer_for(&server).await.unwrap();
        assert_eq!(token.as_deref(), Some("access-1"));
        machine.age(&server, 3600);
        let process = machine.process();
        assert!(process.bearer_for(&server).await.is_err());
        assert!(
            process
                .secrets_of(&server)
                .iter()
                .all(|secret| secret.len() < 20)
        );
    }
    // A long token that is a file already is not read.
    let (machine, authority, oauth) = logged_in(Behaviour::default()).await;
    let folder = machine.folder.path().join("data/oauth");
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace("access-1", &"y".repeat(20_000))).unwrap();
    }
    let error = oauth.bearer_for(&authority.mcp()).await.unwrap_err();
    assert!(
        error.to_string().contains("access token of 20000 bytes"),
        "{error}"
    );
}

#[tokio::test]
async fn a_token_of_sixteen_kibibytes_is_used() {
    let padding = (16 * 1024 - "access-1".len(), 1_000);
    let (_machine, authority, oauth) = logged_in(Behaviour {
        padding,
        ..Behaviour::default()
    })
    .await;
    let token = oauth.bearer_for(&authority.mcp()).await.unwrap().unwrap();
    assert_eq!(token.len(), 16 * 1024);
}

#[tokio::test]
async fn a_rejected_token_is_replaced() {
    let (_machine, authority, oauth) = logged_in(Behaviour::default()).await;
    let server = authority.mcp();
    let token = oauth.bearer_for(&server).await.unwrap().unwrap();
    let replaced = oauth.bearer_after_rejection(&server, &token).await.unwrap();
    assert_eq!(replaced.as_deref(), Some("access-2"));
    assert_eq!(oauth.bearer_for(&server).await.unwrap(), replaced);
}

#[tokio::test]
async fn a_refused_refresh_asks_for_a_login_and_is_not_repeated() {
    let (machine, authority, oauth) = logged_in(Behaviour::default()).await;
    let server = authority.mcp();
    authority.revoke();
    machine.age(&server, 3600);
    let process = machine.process();
    for _ in 0..3 {
        let error = process.bearer_for(&server).await.unwrap_err();
        assert!(error.to_string().contains("pml login"), "{error}");
        assert!(!error.retryable());
    }
    assert_eq!(
        authority.token_requests(),
        2,
        "one for the login, one for the refresh"
    );
    oauth.login(&server, &options(), browse).await.unwrap();
    assert!(process.bearer_for(&server).await.unwrap().is_some());
}

#[tokio::test]
async fn while_refreshing_fails_for_a_while_a_token_is_used_to_its_end() {
    let (machine, authority, _) = logged_in(Behaviour {
        expires_in: 100,
        ..Behaviour::default()
    })
    .await;
    let server = authority.mcp();
    authority.behave(|behaviour| behaviour.token_endpoint_down = true);
    machine.age(&server, 90);
    let token = machine.process().bearer_for(&server).await.unwrap();
    assert_eq!(token.as_deref(), Some("access-1"));
    machine.age(&server, 100);
    let error = machine.process().bearer_for(&server).await.unwrap_err();
    assert!(error.retryable(), "{error}");
    authority.behave(|behaviour| behaviour.token_endpoint_down = false);
    let token = machine.process().bearer_for(&server).await.unwrap();
    assert_eq!(token.as_deref(), Some("access-2"));
}

#[tokio::test]
async fn a_server_that_moved_to_another_authority_asks_for_a_login() {
    let (machine, authority, _) = logged_in(Behaviour::default()).await;
    let other = Authority::start(Behaviour::default()).await;
    let server = authority.mcp();
    machine.age(&server, 3600);
    authority.behave(|behaviour| behaviour.authorization_server = Some(other.issuer()));
    let error = machine.process().bearer_for(&server).await.unwrap_err();
    assert!(
        error.to_string().contains("another authorization server"),
        "{error}"
    );
    assert_eq!(authority.token_requests() + other.token_requests(), 1);
}

#[tokio::test]
async fn a_refresh_token_is_not_sent_to_a_server_without_an_issuer() {
    let (machine, authority, _) = logged_in(Behaviour::default()).await;
    let server = authority.mcp();
    machine.age(&server, 3600);
    authority.behave(|behaviour| {
        behaviour.resource_metadata = false;
        behaviour.server_metadata = false;
    });
    assert!(machine.process().bearer_for(&server).await.is_err());
    assert_eq!(authority.token_requests(), 1, "only the one of the login");
}

#[tokio::test]
async fn a_secret_from_registration_is_used_for_login_and_refresh() {
    let (machine, authority, _) = logged_in(Behaviour {
        client_secret: Some("s3cret"),
        ..Behaviour::default()
    })
    .await;
    let server = authority.mcp();
    machine.age(&server, 3600);
    let token = machine.process().bearer_for(&server).await.unwrap();
    assert_eq!(token.as_deref(), Some("access-2"));
}

#[tokio::test]
async fn a_logout_forgets_the_token() {
    let (_machine, authority, oauth) = logged_in(Behaviour::default()).await;
    let server = authority.mcp();
    assert!(oauth.bearer_for(&server).await.unwrap().is_some());
    assert!(oauth.logout(&server).await.unwrap());
    assert_eq!(oauth.bearer_for(&server).await.unwrap(), None);
    assert!(!oauth.logout(&server).await.unwrap());
}

#[tokio::test]
async fn two_servers_of_one_host_have_logins_of_their_own() {
    let (_machine, authority, oauth) = logged_in(Behaviour::default()).await;
    let other = authority.mcp().join("/other").unwrap();
    assert_eq!(oauth.bearer_for(&other).await.unwrap(), None);
}

#[tokio::test]
async fn a_damaged_file_is_named() {
    let (machine, authority, _) = logged_in(Behaviour::default()).await;
    let folder = machine.folder.path().join("data/oauth");
    for entry in fs::read_dir(&folder).unwrap() {
        fs::write(entry.unwrap().path(), "{").unwrap();
    }
    let error = machine
        .process()
        .bearer_for(&authority.mcp())
        .await
        .unwrap_err();
    assert!(error.to_string().contains(".json is damaged"), "{error}");
}

#[tokio::test]
async fn tokens_do_not_show_when_a_login_is_printed() {
    let (machine, authority, oauth) = logged_in(Behaviour {
        client_secret: Some("s3cret"),
        ..Behaviour::default()
    })
    .await;
    oauth.bearer_for(&authority.mcp()).await.unwrap();
    let record = machine.process().store().load(&authority.mcp()).unwrap();
    let printed = format!("{oauth:?} {record:?}");
    for secret in ["access-1", "refresh-1", "s3cret"] {
        assert!(!printed.contains(secret), "{printed}");
    }
}
