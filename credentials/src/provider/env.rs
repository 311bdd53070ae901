//! Variables of the environment.

use zeroize::Zeroizing;

use crate::error::SecretError;
use crate::reference::Reference;

pub fn read(reference: &Reference, name: &str) -> Result<Zeroizing<String>, SecretError> {
    match std::env::var(name) {
        Ok(value) => Ok(Zeroizing::new(value)),
        Err(std::env::VarError::NotPresent) => Err(SecretError::Missing {
            reference: reference.clone(),
            remedy: format!("set the variable {name} where pml is started"),
        }),
        Err(std::env::VarError::NotUnicode(_)) => Err(SecretError::Unusable {
            reference: reference.clone(),
            reason: "it is not UTF-8 text; encode it, for example in base64".to_owned(),
        }),
    }
}
