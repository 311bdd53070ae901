//! A script as a syntax tree with resolved identifiers.

use std::cell::OnceCell;

use pml_script::{RejectionKind, parse_script};
use swc_core::common::sync::Lrc;
use swc_core::common::{
    BytePos, GLOBALS, Globals, Mark, SourceMap, SourceMapper, Span, SyntaxContext,
};
use swc_core::ecma::ast::{Ident, Module, Program};
use swc_core::ecma::transforms::base::resolver;

use crate::api_bindings::ApiBindings;
use crate::finding::{Finding, Fix, Position, Rule};

pub struct ParsedScript<'a> {
    /// The file name.
    pub name: &'a str,
    pub module: Module,
    map: Lrc<SourceMap>,
    global: SyntaxContext,
    api: OnceCell<ApiBindings>,
}

/// Parses a script and calls `work` with it. swc's identifiers are valid only during the call.
pub fn with<T>(
    name: &str,
    source: &str,
    work: impl FnOnce(Result<&ParsedScript<'_>, Finding>) -> T,
) -> T {
    GLOBALS.set(&Globals::new(), || {
        let map: Lrc<SourceMap> = Lrc::default();
        let module = match parse_script(&map, name, source) {
            Ok(module) => module,
            Err(rejection) => {
                let start = Position {
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
                    end: Position {
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
            // The resolver works in place: a module stays a module.
            return work(Err(Finding::of_file("the script is not a module")));
        };
        work(Ok(&ParsedScript {
            name,
            module,
            map,
            global: SyntaxContext::empty().apply_mark(unresolved),
            api: OnceCell::new(),
        }))
    })
}

impl ParsedScript<'_> {
    /// Whether an identifier is not declared in the script.
    pub fn is_global(&self, ident: &Ident) -> bool {
        ident.ctxt == self.global
    }

    /// The script's names for the API.
    pub fn api(&self) -> &ApiBindings {
        self.api.get_or_init(|| ApiBindings::of(self))
    }

    fn position(&self, at: BytePos) -> Position {
        let found = self.map.lookup_char_pos(at);
        Position {
            line: u32::try_from(found.line).unwrap_or(u32::MAX),
            column: u32::try_from(found.col.0 + 1).unwrap_or(u32::MAX),
        }
    }

    pub fn finding(&self, rule: Rule, span: Span, message: impl Into<String>) -> Finding {
        Finding {
            rule,
            message: message.into(),
            start: self.position(span.lo),
            end: self.position(span.hi),
            fix: None,
        }
    }

    pub fn fix(&self, span: Span, replacement: impl Into<String>, about: impl Into<String>) -> Fix {
        Fix {
            about: about.into(),
            start: self.position(span.lo),
            end: self.position(span.hi),
            replacement: replacement.into(),
        }
    }

    /// The source text of a span.
    pub fn text(&self, span: Span) -> String {
        self.map.span_to_snippet(span).unwrap_or_default()
    }
}
