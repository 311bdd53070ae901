//! The error of both grammars.

/// A duration or a size that cannot be used. Each message names the value and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// A duration that does not follow the grammar.
    #[error(
        "invalid duration `{0}`: expected a number and a unit (ms, s, m, h or d), for example `30s`"
    )]
    Duration(String),
    /// A duration without a unit.
    #[error("invalid duration `{0}`: add a unit, for example `{0}s`")]
    DurationWithoutUnit(String),
    /// A duration that is shorter than a millisecond.
    #[error("invalid duration `{0}`: it must be at least 1ms")]
    DurationTooShort(String),
    /// A duration above [`HumanDuration::MAX`](crate::HumanDuration::MAX).
    #[error("invalid duration `{0}`: it must be at most 366 days")]
    DurationTooLong(String),
    /// A size that does not follow the grammar.
    #[error("invalid size `{0}`: expected a number and a unit (k, m or g), for example `64m`")]
    Size(String),
    /// A size without a unit.
    #[error("invalid size `{0}`: add a unit, for example `{0}m`")]
    SizeWithoutUnit(String),
    /// A size of nothing where something is needed.
    #[error("invalid size `{0}`: it must be at least one byte")]
    SizeZero(String),
    /// A size of more bytes than an address space has.
    #[error("invalid size `{0}`: it is too large")]
    SizeTooLarge(String),
}
