//! A script as a syntax tree in which every name knows what it stands for.

use std::cell::OnceCell;

use pml_script::{RejectionKind, parse_script};
use swc_core::common::sync::Lrc;
use swc_core::common::{
    BytePos, GLOBALS, Globals, Mark, SourceMap, SourceMapper, Span, SyntaxContext,
};
use swc_core::ecma::ast::{Ident, Module, Program};
use swc_core::ecma::transforms::base::resolver;

use crate::api::Api;
use crate::finding::{Finding, Fix, Place, Rule};

pub struct Script<'a> {
    /// What the script is called.
    pub name: &'a str,
    pub module: Module,
    map: Lrc<SourceMap>,
    global: SyntaxContext,
    api: OnceCell<Api>,
}

/// Parses a script and lets `work` look at it.
pub fn with<T>(
    name: &str,
    source: &str,
    work: impl FnOnce(Result<&Script<'_>, Finding>) -> T,
) -> T {
    GLOBALS.set(&Globals::new(), || {
        let map: Lrc<SourceMap> = Lrc::default();
        let module = match parse_script(&map, name, source) {
            Ok(module) => module,
            Err(rejection) => {
                let start = Place {
                    line: rejection.line,
                    column: rejection.column,
                };
                let rule = match rejection.kind {
                    RejectionKind::Syntax => Rule::Syntax,
                    RejectionKind::Import => Rule::UnreachableImport,
                };
                return work(Err(Finding {
                    rule,
                    message: rejection.message,
                    start,
                    end: Place {
                        column: start.column + 1,
                        ..start
                    },
                    fix: None,
                }));
            }
        };
        let unresolved = Mark::new();
        let program = Program::Module(module).apply(resolver(unresolved, Mark::new(), true));
        let Program::Module(module) = program else {
            // Names are resolved in place: a module stays one.
            return work(Err(Finding::of_file("the script is no module")));
        };
        work(Ok(&Script {
            name,
            module,
            map,
            global: SyntaxContext::empty().apply_mark(unresolved),
            api: OnceCell::new(),
        }))
    })
}

impl Script<'_> {
    /// Whether a name is declared nowhere in the script.
    pub fn is_global(&self, ident: &Ident) -> bool {
        ident.ctxt == self.global
    }

    /// What the script's names mean of what pml gives it.
    pub fn api(&self) -> &Api {
        self.api.get_or_init(|| Api::of(self))
    }

    pub fn place(&self, at: BytePos) -> Place {
        let place = self.map.lookup_char_pos(at);
        Place {
            line: u32::try_from(place.line).unwrap_or(u32::MAX),
            column: u32::try_from(place.col.0 + 1).unwrap_or(u32::MAX),
        }
    }

    pub fn finding(&self, rule: Rule, span: Span, message: impl Into<String>) -> Finding {
        Finding {
            rule,
            message: message.into(),
            start: self.place(span.lo),
            end: self.place(span.hi),
            fix: None,
        }
    }

    pub fn fix(&self, span: Span, replacement: impl Into<String>, about: impl Into<String>) -> Fix {
        Fix {
            about: about.into(),
            start: self.place(span.lo),
            end: self.place(span.hi),
            replacement: replacement.into(),
        }
    }

    /// The text of a place in the script.
    pub fn text(&self, span: Span) -> String {
        self.map.span_to_snippet(span).unwrap_or_default()
    }
}
