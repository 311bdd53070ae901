//! The sources of secrets, one file each.

mod env;
mod file;
mod program;
pub mod vault;

use std::collections::BTreeMap;

use zeroize::Zeroizing;

use crate::cached::Read;
use crate::credentials::Credentials;
use crate::error::SecretError;
use crate::reference::Reference;

/// A larger value is refused: it is not a secret.
const MAX_BYTES: usize = 64 * 1024;

/// Asks the source of `reference`.
pub async fn read(credentials: &Credentials, reference: &Reference) -> Result<Read, SecretError> {
    let settings = credentials.settings();
    let value = match reference {
        Reference::Env(name) => env::read(reference, name)?,
        Reference::File(path) => file::read(reference, path, settings.folder.as_deref())?,
        Reference::Keyring { service, account } => {
            program::keyring(reference, service, account, settings.timeout()).await?
        }
        Reference::OnePassword(address) => {
            program::one_password(reference, address, settings.timeout()).await?
        }
        Reference::Exec(words) => program::exec(reference, words, settings.timeout()).await?,
        Reference::Vault { path, .. } => return vault::read(credentials, reference, path).await,
    };
    Ok(Read {
        fields: BTreeMap::from([(String::new(), value)]),
        lease: None,
    })
}

/// The text of `bytes` without the line break at its end.
fn text(
    reference: &Reference,
    mut bytes: Zeroizing<Vec<u8>>,
) -> Result<Zeroizing<String>, SecretError> {
    let unusable = |reason: &str| SecretError::Unusable {
        reference: reference.clone(),
        reason: reason.to_owned(),
    };
    if bytes.len() > MAX_BYTES {
        return Err(unusable("it has more than 64 KiB; name a smaller one"));
    }
    let line = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
    let length = line.strip_suffix(b"\r").unwrap_or(line).len();
    bytes.truncate(length);
    let text = std::str::from_utf8(&bytes);
    let text =
        text.map_err(|_| unusable("it is not UTF-8 text; encode it, for example in base64"))?;
    if text.contains('\0') {
        return Err(unusable(
            "it has a zero byte; encode it, for example in base64",
        ));
    }
    Ok(Zeroizing::new(text.to_owned()))
}
