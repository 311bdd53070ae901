//! Randomness for `crypto.*`, from the kernel.

use deno_core::op2;

/// The kernel returned no random bytes.
#[derive(Debug, thiserror::Error, deno_error::JsError)]
#[class(generic)]
#[error("the system returned no random bytes: {0}")]
pub struct EntropyError(#[from] getrandom::Error);

/// Fills a buffer with random bytes.
#[op2(fast)]
pub fn op_random_fill(#[buffer] buffer: &mut [u8]) -> Result<(), EntropyError> {
    Ok(getrandom::fill(buffer)?)
}
