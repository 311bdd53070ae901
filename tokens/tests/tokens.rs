//! Tokens from the outside: what they permit, and what is refused.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use biscuit_auth::builder::{BlockBuilder, Term};
use biscuit_auth::datalog::ExternFunc;
use biscuit_auth::{AuthorizerBuilder, Biscuit, PublicKey, UnverifiedBiscuit, builder::Algorithm};
use pml_policy::tool_glob::ToolGlob;
use pml_tokens::{
    Capability, CapabilityStore, Grant, Restriction, RootKey, RootPublicKey, SignedToken,
    TokenError,
};
use proptest::prelude::*;

fn globs(texts: &[&str]) -> Restriction {
    Restriction::to(texts.iter().map(|text| text.parse::<ToolGlob>().unwrap()))
}

fn mint(key: &RootKey, restriction: Restriction) -> SignedToken {
    SignedToken::mint(key, &Grant::new("local", "ci", restriction).unwrap()).unwrap()
}

#[test]
fn a_token_says_what_was_written_into_it() {
    let key = RootKey::generate();
    let restriction = Restriction {
        expires: Some(1_800_000_000),
        calls: Some(7),
        ..globs(&["fs:read_*", "*:ask me", "ü:?"])
    };
    let grant = Grant::new("acme", "ci.build-1", restriction).unwrap();
    let token = SignedToken::mint(&key, &grant).unwrap();
    let verified = token.verify(&[key.public()]).unwrap();
    assert_eq!(verified.grant(), &grant);
    assert_eq!(verified.expires(), Some(1_800_000_000));
    assert_eq!(verified.ids().len(), 1);
    assert!(!format!("{token:?}").contains(token.expose()));
}

#[test]
fn every_block_takes_away_and_none_gives_back() {
    let key = RootKey::generate();
    let token = mint(&key, globs(&["fs:*", "web:fetch"]));
    let child = Restriction {
        expires: Some(1_900_000_000),
        calls: Some(5),
        ..globs(&["fs:read_*", "mail:send"])
    };
    let child = token.attenuate(&child).unwrap();
    let grandchild = child.attenuate(&globs(&["*"])).unwrap();
    for token in [&child, &grandchild] {
        let verified = token.verify(&[key.public()]).unwrap();
        assert!(verified.permits("fs:read_file"));
        for denied in ["fs:write_file", "mail:send", "web:fetch", "", "fs"] {
            assert!(!verified.permits(denied), "{denied}");
        }
        assert_eq!(verified.expires(), Some(1_900_000_000));
        assert_eq!(
            verified
                .call_budgets()
                .map(|budget| budget.calls)
                .sum::<u32>(),
            5
        );
    }
    let later = Restriction {
        expires: Some(2_000_000_000),
        ..Restriction::default()
    };
    let later = child.attenuate(&later).unwrap();
    let verified = later.verify(&[key.public()]).unwrap();
    assert_eq!(
        verified.expires(),
        Some(1_900_000_000),
        "the earliest counts"
    );
}

#[test]
fn a_counter_is_needed_until_the_last_token_that_it_counts_for_expires() {
    let key = RootKey::generate();
    let limits = |expires, calls| Restriction {
        expires,
        calls: Some(calls),
        ..Restriction::default()
    };
    let parent = Restriction {
        tools: globs(&["*"]).tools,
        ..limits(Some(1_900_000_000), 9)
    };
    let child = mint(&key, parent)
        .attenuate(&limits(Some(1_800_000_000), 5))
        .unwrap();
    let grandchild = child.attenuate(&limits(None, 3)).unwrap();
    let verified = grandchild.verify(&[key.public()]).unwrap();
    let kept: Vec<_> = verified
        .call_budgets()
        .map(|budget| (budget.calls, budget.expires))
        .collect();
    assert_eq!(
        kept,
        [
            (9, Some(1_900_000_000)),
            (5, Some(1_800_000_000)),
            (3, Some(1_800_000_000))
        ]
    );
}

#[test]
fn a_token_of_another_key_is_forged() {
    let (key, other) = (RootKey::generate(), RootKey::generate());
    let token = mint(&key, globs(&["*"]));
    let error = token.verify(&[other.public()]).unwrap_err();
    assert!(matches!(error, TokenError::Forged), "{error}");
    assert!(matches!(token.verify(&[]), Err(TokenError::Forged)));
    // A key that is being replaced is accepted beside the new one.
    assert!(token.verify(&[other.public(), key.public()]).is_ok());
}

#[test]
fn a_truncated_token_is_damaged() {
    let key = RootKey::generate();
    let token = mint(&key, globs(&["fs:*"]));
    let text = token.expose();
    for end in 0..text.len() - 1 {
        let read = text[..end].parse::<SignedToken>();
        let verified = read.and_then(|token| token.verify(&[key.public()]));
        let error = verified.map(|_| end).unwrap_err();
        assert!(
            matches!(error, TokenError::Damaged | TokenError::Forged),
            "{end}: {error}"
        );
    }
    for text in ["", " ", "not a token", "ä", "Bearer x", &"A".repeat(40_000)] {
        assert!(text.parse::<SignedToken>().is_err());
    }
}

/// A block that a holder writes with the library itself, not with this crate.
fn with_block(token: &SignedToken, source: &str) -> SignedToken {
    let block = BlockBuilder::new().code(source).unwrap();
    let token = UnverifiedBiscuit::from_base64(token.expose()).unwrap();
    let made = token.append(block).unwrap();
    made.to_base64().unwrap().parse().unwrap()
}

#[test]
fn statements_that_are_not_ours_are_refused_and_never_evaluated() {
    let key = RootKey::generate();
    let token = mint(&key, globs(&["fs:*"]));
    // One join of 10^12 steps: the limits of the library do not stop it.
    let facts: String = (0..10).map(|n| format!("f({n});\n")).collect();
    let join = "f($a), f($b), f($c), f($d), f($e), f($g), f($h), f($i), f($j), f($k), f($l), f($m)";
    for source in [
        format!("{facts}check if {join}, $a > 100"),
        format!("{facts}g($a) <- {join}, $a > 100"),
        r#"tenant("other")"#.to_owned(),
        r#"allow("*:*")"#.to_owned(),
        r#"only("fs:read_file")"#.to_owned(),
        r#"check if true"#.to_owned(),
        r#"check if time($time), $time <= 2026-01-01T00:00:00Z or true"#.to_owned(),
        r#"reject if time($time), $time <= 2026-01-01T00:00:00Z"#.to_owned(),
        r#"calls(-1)"#.to_owned(),
        r#"calls(99999999999)"#.to_owned(),
        r#"calls(1); calls(2)"#.to_owned(),
    ] {
        let forged = with_block(&token, &source);
        let error = forged.verify(&[key.public()]).unwrap_err();
        assert!(
            matches!(error, TokenError::UnknownStatement { block: 1 }),
            "{source}: {error}"
        );
        // It can be looked at all the same.
        assert_eq!(forged.blocks().unwrap().len(), 2);
    }
}

#[test]
fn no_name_or_pattern_leaves_its_statement() {
    for name in ["", "a b", "x\");allow(\"*:*", "ü", &"a".repeat(65)] {
        assert!(Grant::new(name, "ci", globs(&["*"])).is_err(), "{name}");
        assert!(Grant::new("local", name, globs(&["*"])).is_err(), "{name}");
    }
    assert!(matches!(
        Grant::new("local", "ci", Restriction::default()),
        Err(TokenError::NothingAllowed)
    ));
    let key = RootKey::generate();
    let token = mint(&key, globs(&["fs:*"]));
    for pattern in [
        "a:\");\nonly(\"*:*",
        "a:\\",
        "a:\n",
        "a:\u{7f}",
        &format!("a:{}", "b".repeat(300)),
    ] {
        assert!(token.attenuate(&globs(&[pattern])).is_err(), "{pattern:?}");
    }
}

#[test]
fn a_token_with_too_many_blocks_is_refused() {
    let key = RootKey::generate();
    let mut token = mint(&key, globs(&["fs:*"]));
    let refused = loop {
        match token.attenuate(&globs(&["fs:read_*"])) {
            Ok(next) => token = next,
            Err(error) => break error,
        }
    };
    assert!(
        matches!(refused, TokenError::TooManyBlocks { limit: 32 }),
        "{refused}"
    );
}

#[test]
fn a_sealed_token_works_and_cannot_be_attenuated() {
    let key = RootKey::generate();
    let token = mint(&key, globs(&["fs:*"]));
    let sealed = UnverifiedBiscuit::from_base64(token.expose()).unwrap();
    let sealed = sealed.seal().unwrap().to_base64().unwrap();
    let sealed: SignedToken = sealed.parse().unwrap();
    assert!(sealed.verify(&[key.public()]).unwrap().permits("fs:x"));
    let error = sealed.attenuate(&globs(&["fs:y"])).unwrap_err();
    assert!(matches!(error, TokenError::Sealed), "{error}");
}

#[test]
fn a_capability_ends_when_it_expires_is_revoked_or_spent() {
    let folder = tempfile::tempdir().unwrap();
    let key = RootKey::generate();
    let store = CapabilityStore::new(folder.path(), vec![key.public()]);
    let soon = SystemTime::now() + Duration::from_secs(60);
    let expires = soon
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap()
        .as_secs();
    let limited = Restriction {
        expires: Some(expires),
        calls: Some(2),
        ..globs(&["fs:*"])
    };
    let token = mint(&key, limited);
    let child = token.attenuate(&globs(&["fs:read_*"])).unwrap();
    let (parent, child) = (store.open(&token).unwrap(), store.open(&child).unwrap());
    assert_ne!(parent.name(), child.name());
    assert!(parent.name().starts_with("ci@"));

    parent.check(soon).unwrap();
    let error = parent.check(soon + Duration::from_secs(1)).unwrap_err();
    assert!(matches!(error, TokenError::Expired { .. }), "{error}");

    child.has_calls(2).unwrap();
    Capability::spend_call(std::slice::from_ref(&child)).unwrap();
    Capability::spend_call(std::slice::from_ref(&parent)).unwrap();
    assert!(matches!(
        Capability::spend_call(std::slice::from_ref(&child)),
        Err(TokenError::Spent { limit: 2 })
    ));
    assert!(child.has_calls(1).is_err() && child.has_calls(0).is_ok());

    store.revocations().revoke(child.id()).unwrap();
    std::thread::sleep(Duration::from_millis(150));
    let error = child.check(SystemTime::now()).unwrap_err();
    assert!(
        matches!(error, TokenError::Revoked { id } if id == child.id()),
        "{error}"
    );
    parent.check(SystemTime::now()).unwrap();
    store.revocations().revoke(parent.id()).unwrap();
    std::thread::sleep(Duration::from_millis(150));
    let error = child.check(SystemTime::now()).unwrap_err();
    assert!(
        matches!(error, TokenError::Revoked { id } if id == parent.id()),
        "{error}"
    );
    assert!(matches!(
        store.open(&token),
        Err(TokenError::Revoked { .. })
    ));
}

/// What the library itself decides about a tool, with the function for patterns.
fn library_permits(token: &SignedToken, key: RootPublicKey, tool: &str) -> bool {
    let hex = key.to_string().replace("ed25519/", "");
    let key = PublicKey::from_bytes_hex(&hex, Algorithm::Ed25519).unwrap();
    let token = Biscuit::from_base64(token.expose(), key).unwrap();
    let glob = ExternFunc::new(Arc::new(|tool, glob| match (tool, glob) {
        (Term::Str(tool), Some(Term::Str(glob))) => {
            let glob: ToolGlob = glob.parse().map_err(|_| "no pattern".to_owned())?;
            Ok(Term::Bool(glob.matches(&tool)))
        }
        _ => Err("two strings".to_owned()),
    }));
    let limits = biscuit_auth::AuthorizerLimits {
        max_time: Duration::from_secs(10),
        ..Default::default()
    };
    let builder = AuthorizerBuilder::new()
        .set_extern_funcs(HashMap::from([("glob".to_owned(), glob)]))
        .set_limits(limits)
        .code_with_params(
            "tool({tool}); time(2026-01-01T00:00:00Z); allow if true;",
            HashMap::from([("tool".to_owned(), Term::Str(tool.to_owned()))]),
            HashMap::new(),
        )
        .unwrap();
    builder.build(&token).unwrap().authorize().is_ok()
}

fn any_globs() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec("[ab*?]{1,2}:[xy*?]{1,2}", 1..4)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn we_decide_as_any_verifier_of_biscuits_does(
        blocks in prop::collection::vec(any_globs(), 1..4),
        tools in prop::collection::vec("[ab]{1,2}:[xy]{1,2}", 1..6),
    ) {
        let key = RootKey::generate();
        let of = |globs: &Vec<String>| {
            let globs: Vec<&str> = globs.iter().map(String::as_str).collect();
            self::globs(&globs)
        };
        let mut token = mint(&key, of(&blocks[0]));
        for block in &blocks[1..] {
            token = token.attenuate(&of(block)).unwrap();
        }
        let verified = token.verify(&[key.public()]).unwrap();
        for tool in &tools {
            prop_assert_eq!(verified.permits(tool), library_permits(&token, key.public(), tool), "{}", tool);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn hostile_bytes_are_refused_without_a_panic(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(),
        cuts in any::<bool>(),
    ) {
        let key = RootKey::generate();
        let token = mint(&key, globs(&["fs:read_*", "web:*"]));
        let token = token.attenuate(&globs(&["fs:*"])).unwrap();
        let biscuit = UnverifiedBiscuit::from_base64(token.expose()).unwrap();
        let mut bytes = biscuit.to_vec().unwrap();
        for (at, byte) in &edits {
            *at.get_mut(&mut bytes) = *byte;
        }
        if cuts {
            bytes.truncate(cut.index(bytes.len()));
        }
        let text = base64_url(&bytes);
        if let Ok(hostile) = text.parse::<SignedToken>() {
            let _ = hostile.blocks();
            let _ = hostile.id();
            let _ = hostile.attenuate(&globs(&["x:y"]));
            let verified = hostile.verify(&[key.public()]);
            // A byte that no signature covers, such as the hint for the root key, may differ.
            let same = token.verify(&[key.public()]).unwrap();
            prop_assert!(verified.is_err() || verified.is_ok_and(|verified| verified == same));
        }
    }

    #[test]
    fn any_text_is_refused_without_a_panic(text in ".{0,200}") {
        prop_assert!(text.parse::<SignedToken>().is_err());
    }
}

fn base64_url(bytes: &[u8]) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let mut word = [0; 3];
        word[..chunk.len()].copy_from_slice(chunk);
        let word = u32::from_be_bytes([0, word[0], word[1], word[2]]);
        for n in 0..4 {
            let letter = LETTERS[(word >> (18 - 6 * n)) as usize & 63];
            text.push(if n <= chunk.len() {
                letter as char
            } else {
                '='
            });
        }
    }
    text
}
