//! `contract` stops answers that do not fit the output schema of their tool.

use pml_guards::GuardName;
use serde_json::json;

use crate::support::Session;

/// The comparison with the schema is that of the gateway; its tests have the bypasses.
#[test]
fn an_answer_that_breaks_its_contract_is_withheld() {
    let mut session = Session::only(
        "contract",
        json!({ "verdict": "block", "tools": { "s:loose": "off" } }),
    );
    assert!(session.answer("s:t", &json!({}), json!(1)).notes.is_empty());
    session.contract = Err("look at `result.n`".to_owned());
    let judged = session.answer("s:t", &json!({}), json!(1));
    assert!(judged.is_blocked_by(GuardName::Contract) && judged.text().contains("`result.n`"));
    assert!(
        session
            .answer("s:loose", &json!({}), json!(1))
            .notes
            .is_empty()
    );
}
