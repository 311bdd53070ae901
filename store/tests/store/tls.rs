//! Encrypted connections to a real server that refuses others.

use pml_store::{Store, StoreError, StoreOptions};

use crate::{fixture, postgres_server};

fn authority(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/store/tls");
    format!("{folder}/{name}.pem").replace(' ', "%20")
}

async fn open(url: &str) -> Result<Store, StoreError> {
    let folder = tempfile::tempdir().unwrap();
    let options = StoreOptions {
        key: Some("ab".repeat(32).parse()?),
        ..StoreOptions::new(url.parse()?, folder.path())
    };
    Store::open(options).await
}

#[test]
fn a_server_with_a_certificate_of_the_named_authority_is_used() {
    let Some(url) = postgres_server::encrypted_url() else {
        return;
    };
    let authority = authority("authority");
    fixture::block_on(async {
        for mode in ["require", "verify-full"] {
            let url = format!("{url}?sslmode={mode}&sslrootcert={authority}");
            let store = open(&url).await.unwrap();
            store.close().await;
        }
    });
}

#[test]
fn a_server_that_cannot_be_verified_is_refused_with_the_reason() {
    let Some(url) = postgres_server::encrypted_url() else {
        return;
    };
    let known = authority("authority");
    let other = authority("other-authority");
    let by_address = url.replace("localhost", "127.0.0.1");
    fixture::block_on(async {
        for (url, reason) in [
            (
                format!("{url}?sslmode=verify-full&sslrootcert={other}"),
                "UnknownIssuer",
            ),
            (
                format!("{by_address}?sslmode=verify-full&sslrootcert={known}"),
                "not valid for name",
            ),
            (
                format!("{url}?sslmode=verify-full&sslrootcert=/none.pem"),
                "cannot be read",
            ),
            (
                format!("{url}?sslmode=verify-full&sslrootcert={known}.rs"),
                "cannot be read",
            ),
            (url.clone(), "no encryption"),
        ] {
            let Err(error) = open(&url).await else {
                panic!("{url} is accepted")
            };
            let error = error.to_string();
            assert!(error.contains(reason), "{url}: {error}");
        }
    });
}
