//! The functions that a file exports.

use std::collections::HashMap;

use serde_json::Value;
use swc_core::atoms::Atom;
use swc_core::common::comments::SingleThreadedComments;
use swc_core::common::sync::Lrc;
use swc_core::common::{BytePos, SourceMap, Spanned};
use swc_core::ecma::ast::{
    Decl, DefaultDecl, ExportSpecifier, Expr, Function, Module, ModuleDecl, ModuleExportName,
    ModuleItem, Pat, Stmt, TsEntityName, TsType, TsTypeAnn, TsTypeParamDecl,
};
use swc_core::ecma::parser::{Parser, StringInput, Syntax, TsSyntax};

use super::constraints::described;
use super::declarations::Declarations;
use super::doc::{Doc, DocComments};
use super::parameters::{Passing, read_parameters};
use super::typed::Unsupported;
use super::types::{TypeArguments, TypeReader};
use crate::rejection::Rejection;
use crate::transpile::{file_name, transpile};

/// The exported functions of a file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FunctionFile {
    /// Those that are tools, in their order.
    pub functions: Vec<FunctionTool>,
    /// Those that cannot be.
    pub skipped: Vec<SkippedFunction>,
}

/// A function that is a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct FunctionTool {
    /// The name that it is exported by.
    pub name: String,
    /// Its line in the file, from 1.
    pub line: u32,
    /// What it does, from its comment.
    pub description: String,
    /// The JSON Schema of its arguments, an object.
    pub input_schema: Value,
    /// The JSON Schema of its result; `None` if its type says nothing.
    pub output_schema: Option<Value>,
    /// Why its result has no schema although it has a type.
    pub output_problem: Option<String>,
    /// What its comment says after `@effect`.
    pub effect: Option<String>,
    /// Its name inside of the file.
    local: String,
    passing: Passing,
}

impl FunctionTool {
    /// A script that calls the function: the text of the file, and the call. The arguments of the tool are
    /// the first argument of the script, as JSON. The lines of the file keep their numbers.
    pub fn script(&self, file: &str) -> String {
        let Self { local, passing, .. } = self;
        let given = format!("__given_{local}");
        let passed = passing.in_script(&given);
        // Without a prototype: a parameter may be called `toString`.
        format!(
            "{file}\n;return await (({given}) => {local}({passed}))(Object.assign(Object.create(null), JSON.parse(globalThis.args[0])));\n"
        )
    }
}

/// An exported function that is no tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedFunction {
    /// The name that it is exported by.
    pub name: String,
    /// The line of what is wrong, from 1.
    pub line: u32,
    /// What is wrong and what to do.
    pub reason: String,
}

/// Reads the exported async functions of a file. `name` is the name of the file.
///
/// # Errors
/// The text is no TypeScript, or imports what a script cannot have.
///
/// ```
/// let source = "/** Adds. */ export async function add(a: number, b = 1): Promise<number> { return a + b }";
/// let file = pml_script::functions::read_functions("sum.ts", source).unwrap();
/// let add = &file.functions[0];
/// assert_eq!(add.description, "Adds.");
/// assert_eq!(add.input_schema["required"], serde_json::json!(["a"]));
/// ```
pub fn read_functions(name: &str, source: &str) -> Result<FunctionFile, Rejection> {
    let source = source.strip_prefix('\u{feff}').unwrap_or(source);
    // The errors of a script: syntax, imports.
    transpile(name, source)?;
    let map: Lrc<SourceMap> = Lrc::default();
    let file = map.new_source_file(file_name(name), source.to_owned());
    let comments = SingleThreadedComments::default();
    let syntax = Syntax::Typescript(TsSyntax::default());
    let mut parser = Parser::new(syntax, StringInput::from(&*file), Some(&comments));
    let module = parser.parse_module().map_err(|error| {
        let place = map.lookup_char_pos(error.span().lo);
        let message = error.kind().msg().into_owned();
        Rejection::at(
            crate::RejectionKind::Syntax,
            message,
            place.line as u32,
            place.col.0 as u32 + 1,
        )
    })?;
    let declarations = Declarations::of(&module);
    let comments = DocComments::new(&comments, &file);
    let line = |at: BytePos| map.lookup_char_pos(at).line as u32;
    let mut read = FunctionFile::default();
    for exported in exported_functions(&module) {
        let function = exported.function;
        if !function.is_async() && !function.returns_promise() {
            continue;
        }
        let doc = Doc::before(&comments, function.comment_at);
        let tool = match function.refusal() {
            Some(refusal) => Err(refusal),
            None => tool_of(&exported.name, &function, &doc, &declarations, &comments),
        };
        match tool {
            Ok(tool) => read.functions.push(FunctionTool {
                line: line(function.at),
                ..tool
            }),
            Err(problem) => read.skipped.push(SkippedFunction {
                name: exported.name,
                line: line(problem.at),
                reason: problem.message,
            }),
        }
    }
    Ok(read)
}

fn tool_of(
    name: &str,
    function: &FunctionNode<'_>,
    doc: &Doc,
    declarations: &Declarations<'_>,
    comments: &DocComments<'_>,
) -> Result<FunctionTool, Unsupported> {
    let mut reader = TypeReader::new(declarations, comments);
    let (schema, passing) = read_parameters(&mut reader, &function.parameters, doc)?;
    // Default values are part of it.
    reader.made(&schema, 1, function.at)?;
    let input_schema = reader.finish(schema);
    let (output_schema, output_problem) = match function.returns {
        None => (None, None),
        Some(returns) => match read_result(returns, doc, declarations, comments) {
            Ok(schema) => (schema, None),
            Err(problem) => (None, Some(problem.message)),
        },
    };
    let mut description = doc.text.clone();
    if output_schema.is_none()
        && let Some(returns) = doc.tag(&["returns", "return"])
        && !returns.is_empty()
    {
        if !description.is_empty() {
            description.push_str("\n\n");
        }
        description.push_str("Returns ");
        description.push_str(returns);
    }
    Ok(FunctionTool {
        name: name.to_owned(),
        line: 0,
        description,
        input_schema,
        output_schema,
        output_problem,
        effect: doc.tag(&["effect"]).map(str::to_owned),
        local: function.local.to_string(),
        passing,
    })
}

fn read_result(
    returns: &TsTypeAnn,
    doc: &Doc,
    declarations: &Declarations<'_>,
    comments: &DocComments<'_>,
) -> Result<Option<Value>, Unsupported> {
    let mut reader = TypeReader::new(declarations, comments);
    let typed = reader.read(&returns.type_ann, &TypeArguments::new())?;
    let says_nothing = typed
        .schema
        .as_object()
        .is_none_or(serde_json::Map::is_empty);
    if typed.is_undefined_only() || says_nothing {
        return Ok(None);
    }
    let schema = match typed.is_optional {
        // `undefined` becomes `null` where a result is JSON.
        true => serde_json::json!({ "anyOf": [typed.schema, { "type": "null" }] }),
        false => typed.schema,
    };
    let text = doc.tag(&["returns", "return"]);
    let schema = match schema.get("description") {
        Some(_) => schema,
        None => described(schema, &Doc::default(), text),
    };
    Ok(Some(reader.finish(schema)))
}

/// A function as it is written: a declaration, or an arrow function or a function in a constant.
#[derive(Clone)]
struct FunctionNode<'a> {
    local: Atom,
    at: BytePos,
    /// Where its comment ends.
    comment_at: BytePos,
    parameters: Vec<&'a Pat>,
    returns: Option<&'a TsTypeAnn>,
    type_parameters: Option<&'a TsTypeParamDecl>,
    is_async: bool,
    is_generator: bool,
    has_this: bool,
    /// Declarations with this name.
    overloads: usize,
}

impl<'a> FunctionNode<'a> {
    fn of_function(local: &Atom, function: &'a Function, comment_at: BytePos) -> Self {
        Self {
            local: local.clone(),
            at: function.span.lo,
            comment_at,
            parameters: function.params.iter().map(|param| &param.pat).collect(),
            returns: function.return_type.as_deref(),
            type_parameters: function.type_params.as_deref(),
            is_async: function.is_async,
            is_generator: function.is_generator,
            has_this: function.this_param.is_some(),
            overloads: 1,
        }
    }

    fn of_value(local: &Atom, value: &'a Expr, comment_at: BytePos) -> Option<Self> {
        match value {
            Expr::Paren(inner) => Self::of_value(local, &inner.expr, comment_at),
            Expr::Fn(function) => Some(Self::of_function(local, &function.function, comment_at)),
            Expr::Arrow(arrow) => Some(Self {
                local: local.clone(),
                at: arrow.span.lo,
                comment_at,
                parameters: arrow.params.iter().collect(),
                returns: arrow.return_type.as_deref(),
                type_parameters: arrow.type_params.as_deref(),
                is_async: arrow.is_async,
                is_generator: arrow.is_generator,
                has_this: false,
                overloads: 1,
            }),
            _ => None,
        }
    }

    fn is_async(&self) -> bool {
        self.is_async
    }

    fn returns_promise(&self) -> bool {
        let returns = self.returns.map(|returns| &*returns.type_ann);
        matches!(
            returns,
            Some(TsType::TsTypeRef(named))
                if matches!(&named.type_name, TsEntityName::Ident(name) if name.sym == "Promise")
        )
    }

    /// Why it cannot be a tool, whatever its types.
    fn refusal(&self) -> Option<Unsupported> {
        let no = |message: &str| Some(Unsupported::new(self.at, message));
        if self.overloads > 1 {
            return no("it is overloaded: write one signature with a union");
        }
        if self.is_generator {
            return no("it is a generator: return an array");
        }
        if self.has_this {
            return no("it has a parameter `this`: a tool is called without an object");
        }
        if let Some(parameters) = self.type_parameters {
            let message = "it has type parameters: a tool needs the types of its arguments";
            return Some(Unsupported::new(parameters.span.lo, message));
        }
        None
    }
}

struct Exported<'a> {
    name: String,
    function: FunctionNode<'a>,
}

/// The functions that a module exports by a name, in the order of their exports.
fn exported_functions(module: &Module) -> Vec<Exported<'_>> {
    let mut declared: HashMap<Atom, FunctionNode<'_>> = HashMap::new();
    let mut names: Vec<(String, Atom)> = Vec::new();
    for item in &module.body {
        let at = item.span().lo;
        match item {
            ModuleItem::Stmt(Stmt::Decl(decl)) => {
                declare(decl, at, &mut declared);
            }
            ModuleItem::ModuleDecl(ModuleDecl::ExportDecl(export)) => {
                for name in declare(&export.decl, at, &mut declared) {
                    add_name(&mut names, name.to_string(), name);
                }
            }
            ModuleItem::ModuleDecl(ModuleDecl::ExportDefaultDecl(export)) => {
                // A default export has no name of its own; its function has one if it is exported again.
                if let DefaultDecl::Fn(function) = &export.decl
                    && let Some(name) = &function.ident
                {
                    let node = FunctionNode::of_function(&name.sym, &function.function, at);
                    declared.insert(name.sym.clone(), node);
                    add_name(&mut names, name.sym.to_string(), name.sym.clone());
                }
            }
            ModuleItem::ModuleDecl(ModuleDecl::ExportNamed(export))
                if export.src.is_none() && !export.type_only =>
            {
                for specifier in &export.specifiers {
                    if let ExportSpecifier::Named(named) = specifier
                        && let ModuleExportName::Ident(local) = &named.orig
                    {
                        let name = match &named.exported {
                            None => local.sym.to_string(),
                            Some(ModuleExportName::Ident(name)) => name.sym.to_string(),
                            Some(ModuleExportName::Str(name)) => {
                                name.value.to_string_lossy().into_owned()
                            }
                        };
                        add_name(&mut names, name, local.sym.clone());
                    }
                }
            }
            _ => {}
        }
    }
    let found = names.into_iter().filter_map(|(name, local)| {
        let function = declared.get(&local)?.clone();
        Some(Exported { name, function })
    });
    found.collect()
}

fn add_name(names: &mut Vec<(String, Atom)>, name: String, local: Atom) {
    if !names.iter().any(|(known, _)| *known == name) {
        names.push((name, local));
    }
}

/// Notes the functions of a declaration. Returns their names.
fn declare<'a>(
    decl: &'a Decl,
    at: BytePos,
    declared: &mut HashMap<Atom, FunctionNode<'a>>,
) -> Vec<Atom> {
    match decl {
        Decl::Fn(function) => {
            let name = function.ident.sym.clone();
            let mut node = FunctionNode::of_function(&name, &function.function, at);
            if let Some(earlier) = declared.get(&name) {
                node.overloads += earlier.overloads;
                node.comment_at = earlier.comment_at;
            }
            declared.insert(name.clone(), node);
            vec![name]
        }
        Decl::Var(var) => {
            let mut names = Vec::new();
            for declarator in &var.decls {
                if let (Pat::Ident(name), Some(value)) = (&declarator.name, &declarator.init)
                    && let Some(node) = FunctionNode::of_value(&name.id.sym, value, at)
                {
                    declared.insert(name.id.sym.clone(), node);
                    names.push(name.id.sym.clone());
                }
            }
            names
        }
        _ => Vec::new(),
    }
}
