//! The names of blocks, by which tokens are revoked and their calls are counted.

use std::fmt;
use std::str::FromStr;

use crate::error::TokenError;

const BYTES: usize = 16;

/// A block of a token: the first 16 bytes of its revocation id, which is its signature. All tokens that
/// were made from it have the block, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TokenId([u8; BYTES]);

impl TokenId {
    /// The id of a block with this revocation id; `None` if that is too short for a signature.
    pub(crate) fn of_block(revocation_id: &[u8]) -> Option<Self> {
        let (first, _) = revocation_id.split_first_chunk()?;
        Some(Self(*first))
    }
}

impl fmt::Display for TokenId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for TokenId {
    type Err = TokenError;

    /// 32 hexadecimal digits, or more: other tools of Biscuit print whole revocation ids.
    fn from_str(text: &str) -> Result<Self, TokenError> {
        let is_hex = text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_hex || text.len() < 2 * BYTES {
            return Err(TokenError::Damaged);
        }
        let mut bytes = [0; BYTES];
        for (n, byte) in bytes.iter_mut().enumerate() {
            let digits = text.get(2 * n..2 * n + 2).unwrap_or_default();
            *byte = u8::from_str_radix(digits, 16).map_err(|_| TokenError::Damaged)?;
        }
        Ok(Self(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_as_it_is_written_and_whole_revocation_ids_are_cut() {
        let id = TokenId(std::array::from_fn(|n| n as u8 * 17));
        assert_eq!(id.to_string().parse::<TokenId>().unwrap(), id);
        let whole = format!("{id}{}", "ab".repeat(48));
        assert_eq!(whole.parse::<TokenId>().unwrap(), id);
        for wrong in [
            "",
            "00",
            "zz112233445566778899aabbccddeeff",
            "ü".repeat(20).as_str(),
        ] {
            assert!(wrong.parse::<TokenId>().is_err(), "{wrong}");
        }
    }
}
