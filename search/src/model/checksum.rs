//! SHA-256 checks of model files.

use sha2::{Digest, Sha256};

use crate::error::ModelError;

/// Checks `bytes` against the entry for the file `name` in `sums`, which has the format of `sha256sum`.
///
/// # Errors
///
/// If the checksum differs, or `sums` has no entry for `name`.
pub fn check(sums: &str, name: &str, bytes: &[u8]) -> Result<(), ModelError> {
    let expected = sums.lines().find_map(|line| {
        let (sum, file) = line.split_once(char::is_whitespace)?;
        (file.trim_start_matches([' ', '*']) == name).then_some(sum)
    });
    match expected {
        Some(expected) if expected.eq_ignore_ascii_case(&sha256(bytes)) => Ok(()),
        _ => Err(ModelError::Checksum {
            what: format!("the file {name} of the model"),
        }),
    }
}

/// The SHA-256 of `bytes`, in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUMS: &str = "\
        ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  a.txt\n\
        BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD *b.txt\n";

    #[test]
    fn a_file_with_the_expected_checksum_passes() {
        assert!(check(SUMS, "a.txt", b"abc").is_ok());
        assert!(check(SUMS, "b.txt", b"abc").is_ok());
    }

    #[test]
    fn a_flipped_bit_and_an_unlisted_file_are_refused() {
        let error = check(SUMS, "a.txt", b"abb").unwrap_err().to_string();
        assert!(error.contains("a.txt of the model is damaged"), "{error}");
        assert!(check(SUMS, "c.txt", b"abc").is_err());
    }
}
