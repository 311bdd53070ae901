//! From TypeScript, in whatever shape a model wrote it, to JavaScript.
//!
//! Everything happens on the syntax tree: no text is put around a script, so there is nothing to
//! break out of, and every position stays the one the author sees.

mod goal;
mod imports;
mod parse;
mod shape;
mod unfence;

pub use goal::Goal;
pub(crate) use imports::source_of;
pub(super) use imports::{API, TEST_API, is_relative, refusal as import_refusal};

use swc_core::common::source_map::DefaultSourceMapGenConfig;
use swc_core::common::sync::Lrc;
use swc_core::common::{BytePos, FileName, GLOBALS, Globals, LineCol, Mark, SourceMap};
use swc_core::ecma::ast::{EsVersion, Program};
use swc_core::ecma::codegen::text_writer::JsWriter;
use swc_core::ecma::codegen::{Config as CodegenConfig, Emitter, Node};
use swc_core::ecma::transforms::base::fixer::fixer;
use swc_core::ecma::transforms::base::hygiene::hygiene;
use swc_core::ecma::transforms::base::resolver;
use swc_core::ecma::transforms::typescript::typescript;

/// JavaScript ready for V8, with the way back to the lines of the script.
pub struct Translation {
    pub code: String,
    pub way_back: WayBack,
    pub goal: Goal,
}

/// The way from the code back to the lines of the script. Few runs ask for it.
pub struct WayBack {
    map: Lrc<SourceMap>,
    positions: Vec<(BytePos, LineCol)>,
}

impl WayBack {
    /// As a source map in JSON; empty if there is none, which a reader takes for no map.
    pub fn source_map(&self) -> Vec<u8> {
        let mut text = Vec::new();
        let map = self
            .map
            .build_source_map(&self.positions, None, DefaultSourceMapGenConfig);
        match map.to_writer(&mut text) {
            Ok(()) => text,
            Err(_) => Vec::new(),
        }
    }
}

/// Why a script cannot be translated. Lines and columns count from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    pub kind: RejectionKind,
    pub message: String,
    pub line: u32,
    pub column: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RejectionKind {
    /// The text is not TypeScript, or uses a part of it that is off.
    Syntax,
    /// The script asks for a module it may not have.
    Import,
}

/// What a text is to become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A script: one function that gives back its result.
    Script,
    /// The same, in a test or run by one: it may import what tests may.
    TestScript,
    /// A module that a test imports, with its exports as they are.
    TestModule,
}

/// Translates a script. `name` appears in stack traces.
pub fn transpile(name: &str, source: &str) -> Result<Translation, Rejection> {
    transpile_as(Form::Script, name, source)
}

pub fn transpile_as(form: Form, name: &str, source: &str) -> Result<Translation, Rejection> {
    let globals = Globals::new();
    GLOBALS.set(&globals, || {
        let map: Lrc<SourceMap> = Lrc::default();
        let parsed = parse::parse(&map, name, source)?;
        imports::check(&parsed.module, form)
            .and_then(|()| shape::check(&parsed.module))
            .map_err(|refused| refused.locate(&map))?;
        let program = match form {
            Form::Script => shape::into_program(parsed),
            Form::TestScript => Program::Module(shape::into_module(parsed)),
            Form::TestModule if parsed.returns => {
                return Err(Rejection::nowhere(RETURNS));
            }
            Form::TestModule => Program::Module(parsed.module),
        };
        emit(map, &strip_types(program))
    })
}

const RETURNS: &str = "a file with a `return` outside of functions is a script, not a module; \
     a test runs it with `runScript(\"./file.ts\")`";

/// The syntax tree of a script in any of its shapes, as its author wrote it.
pub fn read(
    map: &Lrc<SourceMap>,
    name: &str,
    source: &str,
) -> Result<swc_core::ecma::ast::Module, Rejection> {
    let parsed = parse::parse(map, name, source)?;
    shape::check(&parsed.module).map_err(|refused| refused.locate(map))?;
    Ok(parsed.module)
}

fn strip_types(program: Program) -> Program {
    let unresolved = Mark::new();
    let top_level = Mark::new();
    let config = typescript::Config {
        import_export_assign_config: typescript::TsImportExportAssignConfig::EsNext,
        ..Default::default()
    };
    program
        .apply(resolver(unresolved, top_level, true))
        .apply(typescript::typescript(config, unresolved, top_level))
        .apply(hygiene())
        .apply(fixer(None))
}

fn emit(map: Lrc<SourceMap>, program: &Program) -> Result<Translation, Rejection> {
    let mut code = Vec::new();
    let mut positions = Vec::new();
    let mut emitter = Emitter {
        cfg: CodegenConfig::default().with_target(EsVersion::EsNext),
        cm: map.clone(),
        // Comments are dropped: a `sourceMappingURL` of the script must not replace ours.
        comments: None,
        wr: JsWriter::new(map.clone(), "\n", &mut code, Some(&mut positions)),
    };
    program
        .emit_with(&mut emitter)
        .map_err(|error| Rejection::nowhere(format!("the script could not be printed: {error}")))?;
    let code = String::from_utf8(code)
        .map_err(|error| Rejection::nowhere(format!("the printed script is not text: {error}")))?;
    Ok(Translation {
        code,
        way_back: WayBack { map, positions },
        goal: match program {
            Program::Script(_) => Goal::Script,
            Program::Module(_) => Goal::Module,
        },
    })
}

impl Rejection {
    /// A failure of the translation as a whole.
    fn nowhere(message: impl Into<String>) -> Self {
        Self::at(RejectionKind::Syntax, message, 1, 1)
    }

    fn at(kind: RejectionKind, message: impl Into<String>, line: u32, column: u32) -> Self {
        Self {
            kind,
            message: message.into(),
            line,
            column,
        }
    }
}

/// A complaint about a place in the tree, before the place has a line.
struct Located {
    kind: RejectionKind,
    message: String,
    at: BytePos,
}

impl Located {
    fn locate(self, map: &SourceMap) -> Rejection {
        let place = map.lookup_char_pos(self.at);
        Rejection::at(
            self.kind,
            self.message,
            place.line as u32,
            place.col.0 as u32 + 1,
        )
    }
}

fn file_name(name: &str) -> Lrc<FileName> {
    Lrc::new(FileName::Custom(name.to_owned()))
}

#[cfg(test)]
mod tests;
