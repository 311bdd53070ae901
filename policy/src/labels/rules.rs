//! What tools read and accept.

use std::cmp::Reverse;

use pml_protocol::Label;
use serde_json::Value;

use super::config::{LabelMode, LabelsConfig, SinkWord, SourceWord, Words};
use super::sink::Sink;
use crate::authorize::{Hints, ToolFacts};
use crate::tool_glob::{ToolGlob, server_of};

/// The rules of `pml.labels`, and the defaults.
///
/// Without a rule, a tool that its server marks as open-world returns what anybody may have written, and
/// a tool of class `read` that is marked as closed-world returns private data of its server. Untrusted
/// data must not reach a tool with effects or an open-world tool; private data of another server must
/// not reach an open-world tool with effects. A missing mark says nothing: neither kind of data.
#[derive(Debug, Clone, Default)]
pub struct LabelRules {
    mode: LabelMode,
    /// The most specific glob first.
    sources: Vec<(ToolGlob, Words<SourceWord>)>,
    sinks: Vec<(ToolGlob, Words<SinkWord>)>,
}

/// The name behind the colon that stands for the descriptions of a server's tools.
const DEFINITIONS: &str = "definitions";

/// A name without wildcards before any pattern, then the pattern with more characters that are none.
fn specificity(glob: &ToolGlob) -> impl Ord + use<> {
    let side = |side: &str| {
        let is_name = !side.contains(['*', '?']);
        (
            is_name,
            side.chars().filter(|c| !matches!(c, '*' | '?')).count(),
        )
    };
    Reverse((side(glob.server()), side(glob.tool())))
}

fn sorted<W>(rules: impl IntoIterator<Item = (ToolGlob, W)>) -> Vec<(ToolGlob, W)> {
    let mut rules: Vec<_> = rules.into_iter().collect();
    rules.sort_by_key(|(glob, _)| specificity(glob));
    rules
}

fn find<'a, W>(rules: &'a [(ToolGlob, W)], id: &str) -> Option<&'a W> {
    let found = rules.iter().find(|(glob, _)| glob.matches(id));
    found.map(|(_, words)| words)
}

/// What the server says about the world of its tool; `None` if it says nothing.
fn open_world(annotations: Option<&Value>) -> Option<bool> {
    annotations?.get("openWorldHint")?.as_bool()
}

fn reader(id: &str) -> ToolFacts {
    ToolFacts {
        id: id.to_owned(),
        effect: "read".to_owned(),
        hints: Hints::default(),
    }
}

impl LabelRules {
    /// The rules of a configuration.
    pub fn new(config: LabelsConfig) -> Self {
        Self {
            mode: config.mode,
            sources: sorted(config.sources),
            sinks: sorted(config.sinks),
        }
    }

    /// What happens to a call that does not fit.
    pub fn mode(&self) -> LabelMode {
        self.mode
    }

    /// What a result of the tool is; also what a failure of it is.
    pub fn source(&self, tool: &ToolFacts, annotations: Option<&Value>) -> Label {
        let world = open_world(annotations);
        let words = find(&self.sources, &tool.id);
        let says = |yes: SourceWord, no: SourceWord, default: bool| match words {
            Some(words) if words.contains(&yes) => true,
            Some(words) if words.contains(&no) => false,
            _ => default,
        };
        let is_private = tool.effect == "read" && world == Some(false);
        let mut label = Label::CLEAN;
        if says(
            SourceWord::Untrusted,
            SourceWord::Trusted,
            world == Some(true),
        ) {
            label = label.join(&Label::untrusted());
        }
        if says(SourceWord::Private, SourceWord::Public, is_private) {
            label = label.join(&Label::private(server_of(&tool.id)));
        }
        label
    }

    /// What an id returns of which no annotations are known: `server:resources`, `server:prompts`, or a tool of
    /// a server that does not run.
    pub fn source_of_id(&self, id: &str) -> Label {
        self.source(&reader(id), None)
    }

    /// What reading `server:resources` or `server:prompts` accepts, in a URI or an argument.
    pub fn sink_of_id(&self, id: &str) -> Sink {
        self.sink(&reader(id), None)
    }

    /// What the descriptions and schemas of a server's tools are: clean, unless a rule names
    /// `server:definitions`. Rules for all tools of a server do not mean them.
    pub fn definitions(&self, server: &str) -> Label {
        let id = format!("{server}:{DEFINITIONS}");
        let mut rules = self.sources.iter();
        let rule = rules.find(|(glob, _)| glob.tool() == DEFINITIONS && glob.matches(&id));
        let says = |word| rule.is_some_and(|(_, words)| words.contains(&word));
        let untrusted = says(SourceWord::Untrusted).then(Label::untrusted);
        let private = says(SourceWord::Private).then(|| Label::private(server));
        let labels = untrusted.into_iter().chain(private);
        labels.fold(Label::CLEAN, |label, next| label.join(&next))
    }

    /// Whether a rule names definitions.
    pub fn has_definitions(&self) -> bool {
        let mut rules = self.sources.iter();
        rules.any(|(glob, _)| glob.tool() == DEFINITIONS)
    }

    /// What a tool accepts.
    pub fn sink(&self, tool: &ToolFacts, annotations: Option<&Value>) -> Sink {
        let own = || Some(server_of(&tool.id).to_owned());
        if let Some(words) = find(&self.sinks, &tool.id) {
            return Sink {
                needs_trusted: words.contains(&SinkWord::Trusted),
                needs_public_except: words.contains(&SinkWord::Public).then(own).flatten(),
            };
        }
        let has_effect = tool.effect != "read";
        let is_open = open_world(annotations) == Some(true);
        Sink {
            needs_trusted: has_effect || is_open,
            needs_public_except: (has_effect && is_open).then(own).flatten(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(id: &str, effect: &str) -> ToolFacts {
        ToolFacts {
            id: id.to_owned(),
            effect: effect.to_owned(),
            hints: Hints::default(),
        }
    }

    fn rules(config: serde_json::Value) -> LabelRules {
        LabelRules::new(serde_json::from_value(config).unwrap())
    }

    #[test]
    fn the_most_specific_rule_decides_and_leaves_the_rest_to_the_default() {
        let rules = rules(
            json!({ "sources": { "*": "untrusted", "fs:*": "trusted", "fs:mail": ["untrusted", "private"] } }),
        );
        let source = |id, open: bool| {
            rules.source(&tool(id, "read"), Some(&json!({ "openWorldHint": open })))
        };
        assert_eq!(
            source("web:get", false),
            Label::untrusted().join(&Label::private("web"))
        );
        assert_eq!(source("fs:read", true), Label::CLEAN);
        assert_eq!(
            source("fs:mail", true),
            Label::untrusted().join(&Label::private("fs"))
        );
    }

    #[test]
    fn without_marks_nothing_is_untrusted_or_private() {
        let rules = LabelRules::default();
        assert!(rules.source(&tool("a:b", "guarded"), None).is_clean());
        assert_eq!(rules.sink(&tool("a:b", "read"), None), Sink::default());
        assert!(rules.sink(&tool("a:b", "guarded"), None).needs_trusted);
    }

    #[test]
    fn definitions_are_meant_by_their_name_alone() {
        let rules = rules(json!({ "sources": {
            "web:*": ["untrusted", "private"], "*:definitions": "untrusted", "fs:definitions": "trusted",
        } }));
        assert_eq!(rules.definitions("web"), Label::untrusted());
        assert_eq!(rules.definitions("fs"), Label::CLEAN);
        assert!(!LabelRules::default().has_definitions());
    }

    #[test]
    fn a_wrong_word_is_refused() {
        for wrong in [
            json!({ "mode": "on" }),
            json!({ "sources": { "fs": "untrusted" } }),
            json!({ "sinks": { "a:b": "untrusted" } }),
        ] {
            assert!(
                serde_json::from_value::<LabelsConfig>(wrong.clone()).is_err(),
                "{wrong}"
            );
        }
    }
}
