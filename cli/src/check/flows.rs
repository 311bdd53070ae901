//! The calls that `pml.labels` refuses for certain.

use std::sync::Arc;

use pml_catalog::Catalog;
use pml_check::FlowRules;
use pml_policy::authorize::{Hints, ToolFacts};
use pml_policy::labels::{Flow, LabelMode, LabelRules};
use serde_json::{Value, json};

/// The rules of a configuration that enforces labels; else nothing is refused.
pub fn rules(rules: LabelRules, catalog: Option<Arc<Catalog>>) -> Option<Arc<dyn FlowRules>> {
    (rules.mode() == LabelMode::Enforce).then(|| Arc::new(CheckedFlows { rules, catalog }) as _)
}

struct CheckedFlows {
    rules: LabelRules,
    catalog: Option<Arc<Catalog>>,
}

impl CheckedFlows {
    /// What the server says about the world of its tool.
    fn annotations(&self, id: &str) -> Option<Value> {
        let open_world = self.catalog.as_ref()?.tool(id)?.open_world?;
        Some(json!({ "openWorldHint": open_world }))
    }
}

fn facts(id: &str, effect: &str) -> ToolFacts {
    ToolFacts {
        id: id.to_owned(),
        effect: effect.to_owned(),
        hints: Hints::default(),
    }
}

impl FlowRules for CheckedFlows {
    // The effect classes are not known here. Those are taken that return and accept what any class does.
    fn refusal(&self, earlier: &[String], tool: &str) -> Option<String> {
        let mut read = Flow::default();
        for id in earlier {
            let annotations = self.annotations(id);
            let label = self
                .rules
                .source(&facts(id, "guarded"), annotations.as_ref());
            read.join(&Flow::of(id, &label));
        }
        let annotations = self.annotations(tool);
        let sink = self.rules.sink(&facts(tool, "read"), annotations.as_ref());
        sink.accepts(tool, &read)
            .err()
            .map(|refused| refused.reason)
    }
}
