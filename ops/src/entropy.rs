//! Randomness for `crypto.*`: from the kernel, or in a durable run from a secret that the run keeps, so
//! that a resumed script draws the same bytes.

use deno_core::{OpState, op2};

/// The kernel returned no random bytes.
#[derive(Debug, thiserror::Error, deno_error::JsError)]
#[class(generic)]
#[error("the system returned no random bytes: {0}")]
pub struct EntropyError(#[from] getrandom::Error);

/// The randomness of a durable run: a keyed BLAKE3 stream, which cannot be predicted without its secret.
pub struct SeededEntropy {
    secret: [u8; 32],
    /// Begun when it is first used: most scripts draw nothing.
    stream: Option<blake3::OutputReader>,
}

impl SeededEntropy {
    /// The stream of a secret, from its beginning.
    pub fn new(secret: [u8; 32]) -> Self {
        Self {
            secret,
            stream: None,
        }
    }

    fn fill(&mut self, buffer: &mut [u8]) {
        let begin = || blake3::Hasher::new_keyed(&self.secret).finalize_xof();
        self.stream.get_or_insert_with(begin).fill(buffer);
    }

    fn continue_from(&mut self, seed: u32) {
        let mut hasher = blake3::Hasher::new_keyed(&self.secret);
        hasher.update(&seed.to_le_bytes());
        self.stream = Some(hasher.finalize_xof());
    }
}

/// Fills a buffer with random bytes.
#[op2(fast)]
pub fn op_random_fill(
    state: &mut OpState,
    #[buffer] buffer: &mut [u8],
) -> Result<(), EntropyError> {
    match state.try_borrow_mut::<SeededEntropy>() {
        Some(seeded) => seeded.fill(buffer),
        None => getrandom::fill(buffer)?,
    }
    Ok(())
}

/// Continues the randomness of a durable run as it is behind a checkpoint.
#[op2(fast)]
pub fn op_random_continue(state: &mut OpState, seed: u32) {
    if let Some(seeded) = state.try_borrow_mut::<SeededEntropy>() {
        seeded.continue_from(seed);
    }
}
