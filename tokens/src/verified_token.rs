//! What a token says, after its signatures were checked.

use std::collections::BTreeSet;

use crate::error::TokenError;
use crate::grant::{Grant, Restriction};
use crate::token_id::TokenId;

/// A token whose signatures are those of its blocks and of a root key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedToken {
    grant: Grant,
    /// What the further blocks take away, in their order.
    further: Vec<Restriction>,
    /// Of all blocks.
    ids: Vec<TokenId>,
    last: TokenId,
}

/// How many calls may be made with a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallBudget {
    /// The block.
    pub id: TokenId,
    /// How many.
    pub calls: u32,
    /// When every token with the block has expired, in seconds since 1970.
    pub expires: Option<u64>,
}

impl VerifiedToken {
    pub(crate) fn new(
        grant: Grant,
        further: Vec<Restriction>,
        ids: Vec<TokenId>,
    ) -> Result<Self, TokenError> {
        let last = *ids.last().ok_or(TokenError::Damaged)?;
        // A holder signs the blocks that it appends, and can make two that are equal. Each has a counter.
        let distinct: BTreeSet<_> = ids.iter().collect();
        if distinct.len() < ids.len() {
            return Err(TokenError::Damaged);
        }
        Ok(Self {
            grant,
            further,
            ids,
            last,
        })
    }

    /// What the first block says.
    pub fn grant(&self) -> &Grant {
        &self.grant
    }

    /// The ids of all blocks: the token is revoked with any of them.
    pub fn ids(&self) -> &[TokenId] {
        &self.ids
    }

    /// The id of the last block, which no other token has except those made from this one.
    pub fn id(&self) -> TokenId {
        self.last
    }

    /// Whether every block permits to call a tool.
    pub fn permits(&self, id: &str) -> bool {
        self.restrictions().all(|block| block.permits(id))
    }

    /// When it expires, in seconds since 1970: the earliest time of all blocks.
    pub fn expires(&self) -> Option<u64> {
        self.restrictions().filter_map(|block| block.expires).min()
    }

    /// The numbers of calls that blocks have.
    pub fn call_budgets(&self) -> impl Iterator<Item = CallBudget> + '_ {
        let mut expires = None;
        let blocks = self.restrictions().zip(&self.ids);
        blocks.filter_map(move |(block, id)| {
            expires = expires.into_iter().chain(block.expires).min();
            Some(CallBudget {
                id: *id,
                calls: block.calls?,
                expires,
            })
        })
    }

    /// What each block says, the first one first.
    pub fn restrictions(&self) -> impl Iterator<Item = &Restriction> {
        std::iter::once(&self.grant.restriction).chain(&self.further)
    }
}
