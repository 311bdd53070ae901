//! Translates TypeScript, in any form that models write, to JavaScript.
//!
//! Everything works on the syntax tree: no text is added around a script, so the script cannot break
//! out of it, and positions stay those of the author's text.

use swc_core::common::source_map::DefaultSourceMapGenConfig;
use swc_core::common::sync::Lrc;
use swc_core::common::{BytePos, FileName, GLOBALS, Globals, LineCol, Mark, SourceMap};
use swc_core::ecma::ast::{EsVersion, Module, Program};
use swc_core::ecma::codegen::text_writer::JsWriter;
use swc_core::ecma::codegen::{Config as CodegenConfig, Emitter, Node};
use swc_core::ecma::transforms::base::fixer::fixer;
use swc_core::ecma::transforms::base::hygiene::hygiene;
use swc_core::ecma::transforms::base::resolver;
use swc_core::ecma::transforms::typescript::typescript;
use swc_core::ecma::visit::visit_mut_pass;

use pml_protocol::PrefetchPlan;

use crate::goal::Goal;
use crate::names::{self, Superclasses};
use crate::prefetch::prefetch_plan;
use crate::rejection::Rejection;
use crate::{imports, parse, result, wrap};

/// JavaScript ready for V8.
pub struct Translation {
    /// The JavaScript.
    pub code: String,
    /// Maps it back to the lines of the script.
    pub mapping: SourceMapping,
    /// What V8 is to compile it as.
    pub goal: Goal,
}

/// Maps positions of the code to lines of the script. The source map is generated on demand: few
/// runs need it.
pub struct SourceMapping {
    map: Lrc<SourceMap>,
    positions: Vec<(BytePos, LineCol)>,
}

impl SourceMapping {
    /// The source map in JSON; empty if it cannot be generated, which readers treat as no map.
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

/// What a source text is translated to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A script: one function that returns its result.
    Script,
    /// A script of a test, or run by one: it may import what tests may.
    TestScript,
    /// A module that a test imports, with its exports as they are.
    TestModule,
}

/// Translates a script. `name` appears in stack traces.
///
/// # Errors
///
/// A text that is not TypeScript, or imports what a script may not have.
///
/// ```
/// let translation = pml_script::transpile("a.ts", "const n: number = 6; n * 7").unwrap();
/// assert!(translation.code.contains("return n * 7"));
/// ```
pub fn transpile(name: &str, source: &str) -> Result<Translation, Rejection> {
    transpile_as(Form::Script, name, source)
}

/// Translates a script, or a part of a test.
///
/// # Errors
///
/// As [`transpile`].
pub fn transpile_as(form: Form, name: &str, source: &str) -> Result<Translation, Rejection> {
    translate(form, name, source, None).map(|(translation, _)| translation)
}

/// Translates a script, and finds the calls that it will make with these `args`.
///
/// # Errors
///
/// As [`transpile`].
///
/// ```
/// let source = "const a = await tools.fs.read_file({ path: args[0] }); a.length";
/// let (_, plan) = pml_script::transpile_and_prefetch("a.ts", source, &["x.txt".into()]).unwrap();
/// assert_eq!(plan.steps.len(), 1);
/// ```
pub fn transpile_and_prefetch(
    name: &str,
    source: &str,
    args: &[String],
) -> Result<(Translation, PrefetchPlan), Rejection> {
    translate(Form::Script, name, source, Some(args))
}

fn translate(
    form: Form,
    name: &str,
    source: &str,
    args: Option<&[String]>,
) -> Result<(Translation, PrefetchPlan), Rejection> {
    let globals = Globals::new();
    GLOBALS.set(&globals, || {
        let map: Lrc<SourceMap> = Lrc::default();
        let parsed = parse::parse(&map, name, source)?;
        imports::check(&parsed.module, form)
            .and_then(|()| result::check(&parsed.module))
            .map_err(|refused| refused.locate(&map))?;
        let plan = args.map_or_else(PrefetchPlan::default, |args| {
            prefetch_plan(&parsed.module, args)
        });
        let program = match form {
            Form::Script => wrap::into_program(parsed),
            Form::TestScript => Program::Module(wrap::into_module(parsed)),
            Form::TestModule if parsed.returns => {
                return Err(Rejection::nowhere(RETURNS));
            }
            Form::TestModule => Program::Module(parsed.module),
        };
        Ok((emit(map, &strip_types(program))?, plan))
    })
}

const RETURNS: &str = "a file with a `return` outside of functions is a script, not a module; \
     a test runs it with `runScript(\"./file.ts\")`";

/// Parses a script in any form that a run accepts. Its spans point into `map`, at the lines the
/// author wrote.
///
/// # Errors
///
/// A text that is not TypeScript. Imports are not checked.
pub fn parse_script(map: &Lrc<SourceMap>, name: &str, source: &str) -> Result<Module, Rejection> {
    let parsed = parse::parse(map, name, source)?;
    result::check(&parsed.module).map_err(|refused| refused.locate(map))?;
    Ok(parsed.module)
}

fn strip_types(program: Program) -> Program {
    let needs_hygiene = names::needs_hygiene(&program);
    let unresolved = Mark::new();
    let top_level = Mark::new();
    let config = typescript::Config {
        import_export_assign_config: typescript::TsImportExportAssignConfig::EsNext,
        ..Default::default()
    };
    let program = program
        .apply(resolver(unresolved, top_level, true))
        .apply(typescript::typescript(config, unresolved, top_level));
    // It renames what shadows a global, which the author then reads in messages, logs and stacks; and V8
    // no longer sees a name that is declared twice.
    let program = match needs_hygiene {
        true => program.apply(hygiene()),
        false => program,
    };
    program
        .apply(fixer(None))
        .apply(visit_mut_pass(Superclasses))
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
        mapping: SourceMapping { map, positions },
        goal: match program {
            Program::Script(_) => Goal::Script,
            Program::Module(_) => Goal::Module,
        },
    })
}

pub(crate) fn file_name(name: &str) -> Lrc<FileName> {
    Lrc::new(FileName::Custom(name.to_owned()))
}
