//! Prints a [`Type`](crate::type_graph::Type) as TypeScript.

mod comment;
mod multi_line;
mod name;
mod one_line;

pub use comment::{clean, comment, first_sentence};
pub use multi_line::{MultiLinePrinter, gap_before};
pub use name::{key, member, method, pascal, quoted};
pub use one_line::{DetailLimits, OneLinePrinter};

use crate::type_graph::Type;

/// Whether `ty` needs parentheses before `[]` or in an intersection.
fn is_compound(ty: &Type) -> bool {
    matches!(ty, Type::Union(_) | Type::Intersection(_))
}
