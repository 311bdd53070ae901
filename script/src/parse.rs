//! Parses every form in which models write scripts, and explains the errors of the rest.

use swc_core::common::sync::Lrc;
use swc_core::common::util::take::Take;
use swc_core::common::{BytePos, SourceMap, Span, Spanned};
use swc_core::ecma::ast::{
    AutoAccessor, Decorator, Expr, ExprStmt, JSXElement, JSXFragment, Module, ModuleItem,
    PropOrSpread, Stmt,
};
use swc_core::ecma::parser::error::{Error, SyntaxError};
use swc_core::ecma::parser::{EsSyntax, Parser, StringInput, Syntax, TsSyntax};
use swc_core::ecma::visit::{Visit, VisitMut, VisitMutWith, VisitWith};

use crate::rejection::{Located, Rejection, RejectionKind};
use crate::transpile::file_name;
use crate::unfence::{split_prose, unfence};

pub(crate) struct Parsed {
    pub module: Module,
    /// The script has a `return` outside any function.
    pub returns: bool,
}

pub(crate) fn parse(map: &Lrc<SourceMap>, name: &str, source: &str) -> Result<Parsed, Rejection> {
    let source = unfence(source.strip_prefix('\u{feff}').unwrap_or(source));
    // To the parser, "Solution:" and a code block are a label and a template. Text is prose if it
    // does not parse on its own, or parses to identifiers only.
    if let Some((prose, script)) = split_prose(&source) {
        match parse_script(map, name, prose) {
            // Only a closing fence: the opening one was cut off.
            Ok(parsed) if script.trim().is_empty() => return Ok(parsed),
            Ok(parsed) if !is_identifiers(&parsed.module) => {}
            _ => return parse_script(map, name, &script).map_err(|error| error.locate(map)),
        }
    }
    parse_script(map, name, &source).map_err(|error| error.locate(map))
}

fn parse_script(map: &Lrc<SourceMap>, name: &str, source: &str) -> Result<Parsed, Located> {
    let error = match parse_module(map, name, source, typescript(TsSyntax::default())) {
        // As in a REPL, braces around the whole text are an object, not a block.
        Ok(parsed) if is_one_block(&parsed.module) => {
            let object = parse_expression(map, name, source);
            let object = object.filter(|object| !object.last_is_block_of_code());
            return object.map_or_else(|| refuse_unsupported(parsed), Ok);
        }
        Ok(parsed) if parsed.ends_with_labels() => {
            let object = trailing_object(map, name, source);
            return refuse_unsupported(object.unwrap_or(parsed));
        }
        Ok(parsed) => return refuse_unsupported(parsed),
        Err(error) => error,
    };
    if let Some(parsed) = trailing_object(map, name, source) {
        return refuse_unsupported(parsed);
    }
    // An anonymous function is not a statement, but models write scripts of this form.
    if let Some(parsed) = parse_expression(map, name, source) {
        return Ok(parsed);
    }
    // Some JavaScript is not valid TypeScript.
    if let Ok(parsed) = parse_module(map, name, source, Syntax::Es(EsSyntax::default())) {
        return Ok(parsed);
    }
    Err(unsupported(map, name, source).unwrap_or(error))
}

impl Parsed {
    fn last(&self) -> Option<&Stmt> {
        self.module.body.last()?.as_stmt()
    }

    /// Whether the last statement is a block such as `{ count: n }`, whose label its author means as a key.
    fn ends_with_labels(&self) -> bool {
        let Some(Stmt::Block(block)) = self.last() else {
            return false;
        };
        let is_key = |stmt: &Stmt| matches!(stmt, Stmt::Labeled(labeled) if labeled.body.is_expr() || labeled.body.is_block());
        !block.stmts.is_empty() && block.stmts.iter().all(is_key)
    }

    /// Whether the last statement is an object with a method such as `if (…) { … }`: a block of code.
    fn last_is_block_of_code(&self) -> bool {
        const STATEMENTS: [&str; 6] = ["if", "for", "while", "switch", "with", "catch"];
        let Some(Expr::Object(object)) = self.last().and_then(|last| Some(&*last.as_expr()?.expr))
        else {
            return false;
        };
        let is_statement = |property: &PropOrSpread| {
            let method = property.as_prop().and_then(|property| property.as_method());
            let key = method.and_then(|method| method.key.as_ident());
            key.is_some_and(|key| STATEMENTS.contains(&&*key.sym))
        };
        object.props.iter().any(is_statement)
    }
}

/// How many braces are tried as the begin of an object at the end of a script.
const MAX_OBJECTS: usize = 32;

/// A script that ends with an object in braces, as a model writes its result. To the parser that is a
/// block, with labels at best.
fn trailing_object(map: &Lrc<SourceMap>, name: &str, source: &str) -> Option<Parsed> {
    let text = source.trim_end().trim_end_matches(';');
    if !text.ends_with('}') {
        return None;
    }
    let is_begin = |at: &usize| {
        let before = text[..*at].trim_end_matches([' ', '\t']);
        before.ends_with(['\n', ';', '}']) || before.is_empty()
    };
    let braces = text.rmatch_indices('{').map(|(at, _)| at).filter(is_begin);
    braces
        .take(MAX_OBJECTS)
        .find_map(|at| parse_with_object(map, name, source, text, at))
}

/// The text with an object in parentheses from `at` on, with all spans as in `source`.
fn parse_with_object(
    map: &Lrc<SourceMap>,
    name: &str,
    source: &str,
    text: &str,
    at: usize,
) -> Option<Parsed> {
    const OPENING: &str = "\n;(";
    let wrapped = format!("{}{OPENING}{}\n)", &text[..at], &text[at..]);
    let syntax = typescript(TsSyntax::default());
    let mut parsed = parse_module(map, name, &wrapped, syntax).ok()?;
    let ModuleItem::Stmt(Stmt::Expr(ExprStmt { expr, .. })) = parsed.module.body.last_mut()? else {
        return None;
    };
    let Expr::Paren(outer) = &mut **expr else {
        return None;
    };
    if !outer.expr.is_object() {
        return None;
    }
    let object = outer.span.lo + BytePos(1);
    *expr = outer.expr.take();
    let begin = object - BytePos((at + OPENING.len()) as u32);
    let file = map.new_source_file(file_name(name), source.to_owned());
    parsed.module.visit_mut_with(&mut MoveSpans {
        from: object,
        to: file.start_pos + BytePos(at as u32),
    });
    parsed.module.visit_mut_with(&mut MoveSpans {
        from: begin,
        to: file.start_pos,
    });
    (!parsed.last_is_block_of_code()).then_some(parsed)
}

/// Whether a text consists of identifiers, as "Sure!" does, or of comments.
fn is_identifiers(module: &Module) -> bool {
    module.body.iter().all(|item| match item {
        ModuleItem::Stmt(Stmt::Expr(stmt)) => match &*stmt.expr {
            Expr::TsNonNull(inner) => inner.expr.is_ident(),
            expr => expr.is_ident(),
        },
        _ => false,
    })
}

fn is_one_block(module: &Module) -> bool {
    let is_empty = |item: &&ModuleItem| matches!(item, ModuleItem::Stmt(Stmt::Empty(_)));
    let mut items = module.body.iter().filter(|item| !is_empty(item));
    matches!(
        (items.next(), items.next()),
        (Some(ModuleItem::Stmt(Stmt::Block(_))), None)
    )
}

fn typescript(syntax: TsSyntax) -> Syntax {
    Syntax::Typescript(syntax)
}

fn parse_module(
    map: &Lrc<SourceMap>,
    name: &str,
    source: &str,
    syntax: Syntax,
) -> Result<Parsed, Located> {
    let file = map.new_source_file(file_name(name), source.to_owned());
    let mut parser = Parser::new(syntax, StringInput::from(&*file), None);
    let parsed = parser.parse_module();
    let (returns, mut errors): (Vec<Error>, Vec<Error>) = parser
        .take_errors()
        .into_iter()
        .partition(|error| matches!(error.kind(), SyntaxError::ReturnNotAllowed));
    let module = match parsed {
        Ok(module) => Some(module),
        Err(fatal) => {
            errors.push(fatal);
            None
        }
    };
    // The first error explains the others.
    match (
        module,
        errors.into_iter().min_by_key(|error| error.span().lo),
    ) {
        (Some(module), None) => Ok(Parsed {
            module,
            returns: !returns.is_empty(),
        }),
        (_, Some(error)) => Err(located(error)),
        (None, None) => Err(Located {
            kind: RejectionKind::Syntax,
            message: "the script cannot be parsed".to_owned(),
            at: file.start_pos,
        }),
    }
}

/// Syntax that the parser knows and V8 does not.
fn refuse_unsupported(parsed: Parsed) -> Result<Parsed, Located> {
    match first_unsupported(&parsed.module) {
        Some(refused) => Err(refused),
        None => Ok(parsed),
    }
}

fn first_unsupported(module: &Module) -> Option<Located> {
    let mut finder = FirstUnsupported(None);
    module.visit_with(&mut finder);
    finder.0
}

/// The whole text as one expression, `None` if it is anything else. The text is parsed in
/// parentheses, which must be the only statement of the result; then all spans are moved back to
/// their positions in the text without parentheses.
fn parse_expression(map: &Lrc<SourceMap>, name: &str, source: &str) -> Option<Parsed> {
    let text = source.trim_end().trim_end_matches(';');
    // The line end keeps a comment at the end of the text from hiding the parenthesis.
    let wrapped = format!("({text}\n)");
    let mut parsed = parse_module(map, name, &wrapped, typescript(TsSyntax::default())).ok()?;
    let [ModuleItem::Stmt(Stmt::Expr(ExprStmt { expr, .. }))] = parsed.module.body.as_mut_slice()
    else {
        return None;
    };
    let Expr::Paren(outer) = &mut **expr else {
        return None;
    };
    let inside = outer.span.lo + BytePos(1);
    *expr = std::mem::replace(&mut outer.expr, Box::new(Expr::Invalid(Default::default())));
    let file = map.new_source_file(file_name(name), source.to_owned());
    parsed.module.visit_mut_with(&mut MoveSpans {
        from: inside,
        to: file.start_pos,
    });
    Some(parsed)
}

/// Moves every span from one copy of a text to another, which was added to the map after it.
struct MoveSpans {
    from: BytePos,
    to: BytePos,
}

impl VisitMut for MoveSpans {
    fn visit_mut_span(&mut self, span: &mut Span) {
        if (self.from..self.to).contains(&span.lo) {
            *span = Span::new(
                self.to + (span.lo - self.from),
                self.to + (span.hi - self.from),
            );
        }
    }
}

/// A better error for a text that would parse with JSX and decorators.
fn unsupported(map: &Lrc<SourceMap>, name: &str, source: &str) -> Option<Located> {
    let everything = typescript(TsSyntax {
        tsx: true,
        decorators: true,
        ..Default::default()
    });
    let parsed = parse_module(map, name, source, everything).ok()?;
    first_unsupported(&parsed.module)
}

struct FirstUnsupported(Option<Located>);

impl FirstUnsupported {
    fn note(&mut self, span: Span, message: &str) {
        self.0.get_or_insert_with(|| Located {
            kind: RejectionKind::Syntax,
            message: message.to_owned(),
            at: span.lo,
        });
    }
}

impl Visit for FirstUnsupported {
    fn visit_jsx_element(&mut self, element: &JSXElement) {
        self.note(element.span, JSX);
    }

    fn visit_jsx_fragment(&mut self, fragment: &JSXFragment) {
        self.note(fragment.span, JSX);
    }

    fn visit_auto_accessor(&mut self, accessor: &AutoAccessor) {
        self.note(
            accessor.span,
            "the `accessor` keyword is not supported; write a getter and a setter",
        );
    }

    fn visit_decorator(&mut self, decorator: &Decorator) {
        self.note(
            decorator.span,
            "decorators are not supported; call the function on the class instead",
        );
    }
}

const JSX: &str = "JSX is not supported; return plain data or a string instead";

fn located(error: Error) -> Located {
    Located {
        kind: RejectionKind::Syntax,
        message: error.kind().msg().into_owned(),
        at: error.span().lo,
    }
}
