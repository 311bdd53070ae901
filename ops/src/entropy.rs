//! Randomness for `crypto.*`, from the kernel.

use deno_core::op2;

#[derive(Debug, thiserror::Error, deno_error::JsError)]
#[class(generic)]
#[error("the system gave no randomness: {0}")]
pub struct EntropyError(#[from] getrandom::Error);

#[op2(fast)]
pub fn op_random_fill(#[buffer] buffer: &mut [u8]) -> Result<(), EntropyError> {
    Ok(getrandom::fill(buffer)?)
}
