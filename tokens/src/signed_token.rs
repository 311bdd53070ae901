//! A token as text: minted, attenuated, verified.

use std::fmt;
use std::str::FromStr;

use biscuit_auth::builder::{BiscuitBuilder, BlockBuilder};
use biscuit_auth::error::{Format, Token as LibraryError};
use biscuit_auth::{Biscuit, UnverifiedBiscuit};

use crate::datalog;
use crate::error::TokenError;
use crate::grant::{Grant, Restriction};
use crate::root_key::{RootKey, RootPublicKey};
use crate::token_id::TokenId;
use crate::verified_token::VerifiedToken;

/// The longest token that is read, as text. One with 100 patterns has about 6 kB.
const MAX_BYTES: usize = 32 * 1024;
/// Each block is a signature that has to be verified.
const MAX_BLOCKS: usize = 32;

/// A token as text: a secret of its holder. Its signatures are not checked yet.
#[derive(Clone, PartialEq, Eq)]
pub struct SignedToken(String);

/// A block of a token, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockText {
    /// What the block is revoked by.
    pub id: TokenId,
    /// Its statements, as Datalog.
    pub source: String,
}

impl SignedToken {
    /// A new token.
    ///
    /// # Errors
    /// The library that signs fails.
    pub fn mint(key: &RootKey, grant: &Grant) -> Result<Self, TokenError> {
        let source = datalog::of_grant(grant);
        let builder = BiscuitBuilder::new().code(&source).map_err(library)?;
        let made = builder.build(key.pair()).map_err(library)?;
        made.to_base64().map_err(library)?.parse()
    }

    /// A token that may do less: this one with one more block. No key is needed.
    ///
    /// # Errors
    /// A pattern that cannot be in a token; a sealed token, or one with too many blocks.
    pub fn attenuate(&self, restriction: &Restriction) -> Result<Self, TokenError> {
        restriction.check()?;
        let source = datalog::of_restriction(restriction);
        let block = BlockBuilder::new().code(&source).map_err(library)?;
        let made = self.unverified()?.append(block).map_err(library)?;
        made.to_base64().map_err(library)?.parse()
    }

    /// What the token says, if all its blocks are signed, the first with one of `keys`. Whether it has
    /// expired or was revoked is [`Capability::check`](crate::Capability::check).
    ///
    /// # Errors
    /// [`TokenError::Forged`], [`TokenError::Damaged`], or [`TokenError::UnknownStatement`] for a block
    /// that was not made with this crate.
    pub fn verify(&self, keys: &[RootPublicKey]) -> Result<VerifiedToken, TokenError> {
        let mut refusal = TokenError::Forged;
        for key in keys {
            match Biscuit::from_base64(&self.0, key.0) {
                Ok(token) => return read(&token),
                Err(error) => refusal = library(error),
            }
        }
        Err(refusal)
    }

    /// The blocks as they are, whether the token is valid or not.
    ///
    /// # Errors
    /// [`TokenError::Damaged`]
    pub fn blocks(&self) -> Result<Vec<BlockText>, TokenError> {
        let token = self.unverified()?;
        let ids = token.revocation_identifiers();
        let blocks = ids.iter().enumerate().map(|(n, id)| {
            let source = token.print_block_source(n).map_err(library)?;
            let id = TokenId::of_block(id).ok_or(TokenError::Damaged)?;
            Ok(BlockText { id, source })
        });
        blocks.collect()
    }

    /// What the token is revoked by: the id of its last block.
    ///
    /// # Errors
    /// [`TokenError::Damaged`]
    pub fn id(&self) -> Result<TokenId, TokenError> {
        let ids = self.unverified()?.revocation_identifiers();
        let last = ids.last().and_then(|id| TokenId::of_block(id));
        last.ok_or(TokenError::Damaged)
    }

    /// The text. It is the token: keep it secret.
    pub fn expose(&self) -> &str {
        &self.0
    }

    fn unverified(&self) -> Result<UnverifiedBiscuit, TokenError> {
        UnverifiedBiscuit::from_base64(&self.0).map_err(library)
    }
}

impl FromStr for SignedToken {
    type Err = TokenError;

    /// Reads a token as text. Its signatures are not checked.
    fn from_str(text: &str) -> Result<Self, TokenError> {
        let text = text.trim();
        if text.len() > MAX_BYTES {
            return Err(TokenError::TooLarge { limit: MAX_BYTES });
        }
        let token = Self(text.to_owned());
        match token.unverified()?.block_count() > MAX_BLOCKS {
            true => Err(TokenError::TooManyBlocks { limit: MAX_BLOCKS }),
            false => Ok(token),
        }
    }
}

impl fmt::Debug for SignedToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SignedToken").finish_non_exhaustive()
    }
}

fn read(token: &Biscuit) -> Result<VerifiedToken, TokenError> {
    let ids = token.revocation_identifiers();
    let ids: Option<Vec<TokenId>> = ids.iter().map(|id| TokenId::of_block(id)).collect();
    let ids = ids.ok_or(TokenError::Damaged)?;
    let foreign = |block| TokenError::UnknownStatement { block };
    // The statements of a third party are in no block of ours.
    if let Some(block) = token
        .external_public_keys()
        .iter()
        .position(Option::is_some)
    {
        return Err(foreign(block));
    }
    let source = |block| token.print_block_source(block).map_err(|_| foreign(block));
    let grant = datalog::read_grant(&source(0)?).ok_or_else(|| foreign(0))?;
    let further = (1..ids.len())
        .map(|block| datalog::read_restriction(&source(block)?).ok_or_else(|| foreign(block)));
    let further = further.collect::<Result<Vec<Restriction>, _>>()?;
    VerifiedToken::new(grant, further, ids)
}

fn library(error: LibraryError) -> TokenError {
    match error {
        LibraryError::Format(
            Format::Signature(_) | Format::SealedSignature | Format::UnknownPublicKey,
        ) => TokenError::Forged,
        LibraryError::AppendOnSealed | LibraryError::AlreadySealed => TokenError::Sealed,
        LibraryError::Format(_) | LibraryError::Base64(_) => TokenError::Damaged,
        error => TokenError::Library(error.to_string()),
    }
}
