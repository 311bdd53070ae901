//! From a [`Type`](crate::model::Type) to text.

mod block;
mod brief;
mod comment;
mod name;

pub use block::{Block, gap_before};
pub use brief::{Brief, Detail};
pub use comment::{clean, comment, first_sentence};
pub use name::{key, member, method, pascal, quoted};

use crate::model::Type;

/// Whether `ty` needs parentheses before `[]` or in an intersection.
fn is_compound(ty: &Type) -> bool {
    matches!(ty, Type::Union(_) | Type::Intersection(_))
}
