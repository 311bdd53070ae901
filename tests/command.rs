//! `pml run` as a person uses it.

use crate::support::result_of;

#[test]
fn a_script_gives_its_last_expression() {
    assert_eq!(result_of("6 * 7"), 42);
}
