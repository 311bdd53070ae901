//! Getting a token for the first time.

use std::io;
use std::time::Duration;

use url::Url;

use super::authority::{Authority, Behaviour};
use super::{Machine, browse, logged_in, options};
use crate::oauth::{ClientIdentity, LoginOptions, OAuthError};

#[tokio::test]
async fn a_login_gives_a_token_that_other_processes_can_use() {
    let authority = Authority::start(Behaviour::default()).await;
    let machine = Machine::new();
    let server = authority.mcp();
    assert_eq!(machine.process().bearer_for(&server).await.unwrap(), None);
    let logged_in = machine
        .process()
        .login(&server, &options(), browse)
        .await
        .unwrap();
    assert_eq!(logged_in.scopes, ["files:read"]);
    let token = machine.process().bearer_for(&server).await.unwrap();
    assert_eq!(token.as_deref(), Some("access-1"));
    assert_eq!(machine.process().store().servers().unwrap(), [server]);
}

#[tokio::test]
async fn a_redirect_with_another_state_does_not_log_in() {
    let authority = Authority::start(Behaviour {
        callback_state: Some("forged"),
        ..Behaviour::default()
    })
    .await;
    let machine = Machine::new();
    let options = LoginOptions {
        timeout: Duration::from_millis(500),
        ..options()
    };
    let error = machine
        .process()
        .login(&authority.mcp(), &options, browse)
        .await
        .unwrap_err();
    assert!(
        matches!(error, OAuthError::NoAnswer { ignored: 1, .. }),
        "{error}"
    );
    assert_eq!(
        machine
            .process()
            .bearer_for(&authority.mcp())
            .await
            .unwrap(),
        None
    );
    assert_eq!(authority.token_requests(), 0);
}

#[tokio::test]
async fn a_user_who_refuses_ends_the_login() {
    let authority = Authority::start(Behaviour {
        refuse_login: true,
        ..Behaviour::default()
    })
    .await;
    let error = Machine::new()
        .process()
        .login(&authority.mcp(), &options(), browse)
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), "the login was refused: access_denied");
}

#[tokio::test]
async fn a_redirect_from_another_issuer_is_refused() {
    let authority = Authority::start(Behaviour {
        callback_issuer: Some("https://evil.test"),
        ..Behaviour::default()
    })
    .await;
    let error = Machine::new()
        .process()
        .login(&authority.mcp(), &options(), browse)
        .await
        .unwrap_err();
    assert!(matches!(error, OAuthError::WrongIssuer), "{error}");
    assert_eq!(authority.token_requests(), 0);
}

#[tokio::test]
async fn a_server_without_metadata_says_what_to_do_instead() {
    let authority = Authority::start(Behaviour {
        resource_metadata: false,
        server_metadata: false,
        registration: false,
        ..Behaviour::default()
    })
    .await;
    let error = Machine::new()
        .process()
        .login(&authority.mcp(), &options(), browse)
        .await
        .unwrap_err();
    assert!(matches!(error, OAuthError::NoMetadata { .. }), "{error}");
    assert!(error.to_string().contains("`headers`"), "{error}");
}

#[tokio::test]
async fn an_old_server_that_publishes_nothing_but_answers_still_works() {
    let (machine, authority, oauth) = logged_in(Behaviour {
        resource_metadata: false,
        server_metadata: false,
        ..Behaviour::default()
    })
    .await;
    machine.age(&authority.mcp(), 3600);
    let token = oauth.bearer_for(&authority.mcp()).await.unwrap();
    assert_eq!(token.as_deref(), Some("access-2"));
}

#[tokio::test]
async fn a_server_that_publishes_only_its_authorization_metadata_works() {
    let (_machine, authority, oauth) = logged_in(Behaviour {
        resource_metadata: false,
        ..Behaviour::default()
    })
    .await;
    assert!(oauth.bearer_for(&authority.mcp()).await.unwrap().is_some());
}

#[tokio::test]
async fn an_old_server_may_name_its_issuer_below_a_path_of_its_own() {
    let (machine, authority, oauth) = logged_in(Behaviour {
        resource_metadata: false,
        issuer_path: "/oauth",
        ..Behaviour::default()
    })
    .await;
    machine.age(&authority.mcp(), 3600);
    let token = oauth.bearer_for(&authority.mcp()).await.unwrap();
    assert_eq!(token.as_deref(), Some("access-2"));
}

#[tokio::test]
async fn an_authority_that_names_another_issuer_is_not_trusted() {
    let authority = Authority::start(Behaviour::default()).await;
    let other = Authority::start(Behaviour {
        issuer_path: "/someone-else",
        ..Behaviour::default()
    })
    .await;
    authority.behave(|behaviour| behaviour.authorization_server = Some(other.issuer()));
    let error = Machine::new()
        .process()
        .login(&authority.mcp(), &options(), browse)
        .await
        .unwrap_err();
    assert!(matches!(error, OAuthError::Protocol { .. }), "{error}");
}

#[tokio::test]
async fn without_pkce_there_is_no_login() {
    let authority = Authority::start(Behaviour {
        challenge_methods: vec!["plain"],
        ..Behaviour::default()
    })
    .await;
    let error = Machine::new()
        .process()
        .login(&authority.mcp(), &options(), browse)
        .await
        .unwrap_err();
    assert!(error.to_string().contains("S256"), "{error}");
}

#[tokio::test]
async fn where_programs_cannot_register_a_client_made_by_hand_serves() {
    let authority = Authority::start(Behaviour {
        registration: false,
        ..Behaviour::default()
    })
    .await;
    let machine = Machine::new();
    let server = authority.mcp();
    let error = machine
        .process()
        .login(&server, &options(), browse)
        .await
        .unwrap_err();
    assert!(matches!(error, OAuthError::Registration { .. }), "{error}");
    let options = LoginOptions {
        identity: ClientIdentity::Registered {
            id: "by-hand".to_owned(),
            secret: None,
        },
        ..options()
    };
    machine
        .process()
        .login(&server, &options, browse)
        .await
        .unwrap();
    assert!(
        machine
            .process()
            .bearer_for(&server)
            .await
            .unwrap()
            .is_some()
    );
}

#[tokio::test]
async fn a_browser_that_cannot_be_opened_leaves_the_address_to_open_by_hand() {
    let authority = Authority::start(Behaviour::default()).await;
    let no_browser = |_: &Url| Err(io::Error::other("no display"));
    let error = Machine::new()
        .process()
        .login(&authority.mcp(), &options(), no_browser)
        .await
        .unwrap_err();
    assert!(error.to_string().contains("/authorize?"), "{error}");
}

#[tokio::test]
async fn a_server_cannot_make_a_login_open_a_file_or_a_program() {
    for (name, address) in [
        (
            "authorization_endpoint",
            "file:///usr/share/applications/evil.desktop",
        ),
        ("authorization_endpoint", "vscode://evil.ext/run?cmd=x"),
        ("authorization_endpoint", "javascript:alert(1)"),
        ("authorization_endpoint", "http://evil.example/authorize"),
        ("token_endpoint", "http://evil.example/token"),
        ("registration_endpoint", "http://evil.example/register"),
        ("revocation_endpoint", "smb://evil.example/share"),
    ] {
        let behaviour = Behaviour {
            endpoints: vec![(name, address)],
            ..Behaviour::default()
        };
        let authority = Authority::start(behaviour).await;
        let (login, server, options) = (Machine::new().process(), authority.mcp(), options());
        let opened = login.login(&server, &options, |url| panic!("{url} was opened"));
        let error = opened.await.unwrap_err();
        assert!(
            matches!(&error, OAuthError::UnsafeEndpoint { name: named, .. } if named == name),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_login_at_another_site_needs_a_confirmation() {
    let behaviour = Behaviour {
        endpoints: vec![("authorization_endpoint", "https://login.example/authorize")],
        ..Behaviour::default()
    };
    let authority = Authority::start(behaviour).await;
    let machine = Machine::new();
    let refused = |options: LoginOptions| {
        let (login, server) = (machine.process(), authority.mcp());
        async move {
            let open = |url: &Url| Err(io::Error::other(url.host_str().unwrap_or("").to_owned()));
            login.login(&server, &options, open).await.unwrap_err()
        }
    };
    let error = refused(options()).await;
    assert!(matches!(&error, OAuthError::ForeignHost { .. }), "{error}");
    assert!(
        error.to_string().contains("--auth-host login.example"),
        "{error}"
    );
    let asked = refused(LoginOptions {
        confirm_hosts: Some(|_, hosts| hosts != ["login.example"]),
        ..options()
    });
    assert!(matches!(asked.await, OAuthError::ForeignHost { .. }));
    for confirmed in [
        LoginOptions {
            confirm_hosts: Some(|_, hosts| hosts == ["login.example"]),
            ..options()
        },
        LoginOptions {
            allowed_hosts: vec!["login.example".to_owned()],
            ..options()
        },
    ] {
        let error = refused(confirmed).await;
        assert!(matches!(error, OAuthError::Browser { .. }), "{error}");
    }
}
