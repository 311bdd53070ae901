//! Wraps a script in one async function that returns its result ([`crate::result_of`]).
//!
//! The program consists of that function alone: it is the value of a classic script, or the default
//! export of a module. So everything the script throws is thrown by a call that the worker makes,
//! and arrives untouched.

use std::collections::HashSet;

use swc_core::atoms::Atom;
use swc_core::common::util::take::Take;
use swc_core::common::{DUMMY_SP, Span, Spanned};
use swc_core::ecma::ast::{
    ArrayLit, ArrowExpr, ArrowFunctionBody, BinExpr, BinaryOp, BlockStmt, CallExpr, Callee,
    ClassDecl, ComputedPropName, CondExpr, Decl, DefaultDecl, ExportDefaultExpr, ExportSpecifier,
    Expr, ExprOrSpread, ExprStmt, FnDecl, FunctionBody, Ident, Lit, MemberExpr, MemberProp, Module,
    ModuleDecl, ModuleExportName, ModuleItem, Number, ObjectLit, Pat, Program, Prop, PropOrSpread,
    ReturnStmt, Script, Stmt, TsEntityName, TsModuleRef, UnaryExpr, UnaryOp, VarDecl, VarDeclKind,
    VarDeclarator,
};
use swc_core::ecma::utils::private_ident;
use swc_core::ecma::visit::{VisitMut, VisitMutWith};

use crate::goal::needs_module;
use crate::imports::source_of;
use crate::parse::Parsed;
use crate::result::{ScriptResult, is_default, result_of};
use crate::values::names_of_values;

/// A classic script unless module syntax is used: V8 and deno_core take 1.5 times as long for a
/// module.
pub(crate) fn into_program(parsed: Parsed) -> Program {
    let span = parsed.module.span;
    let body = Body::of(parsed);
    if !body.imports.is_empty() || needs_module(&body.stmts) {
        return Program::Module(body.into_module(span));
    }
    Program::Script(Script {
        span,
        // Modules are strict; classic scripts are not by default.
        body: vec![
            statement(Expr::Lit(Lit::Str("use strict".into()))),
            statement(function(body.stmts)),
        ],
        shebang: None,
    })
}

pub(crate) fn into_module(parsed: Parsed) -> Module {
    let span = parsed.module.span;
    Body::of(parsed).into_module(span)
}

fn statement(expr: Expr) -> Stmt {
    Stmt::Expr(ExprStmt {
        span: DUMMY_SP,
        expr: Box::new(expr),
    })
}

/// The parts of a script.
#[derive(Default)]
struct Body {
    imports: Vec<ModuleItem>,
    stmts: Vec<Stmt>,
    default_export: Option<Ident>,
    /// The names that are used as values, not only as types.
    values: HashSet<Atom>,
}

impl Body {
    fn of(parsed: Parsed) -> Self {
        let result = result_of(&parsed.module);
        let mut body = Self {
            values: names_of_values(&parsed.module),
            ..Self::default()
        };
        for item in parsed.module.body {
            body.add(item);
        }
        body.return_result(result);
        body
    }

    fn into_module(self, span: Span) -> Module {
        let export = ModuleDecl::ExportDefaultExpr(ExportDefaultExpr {
            span: DUMMY_SP,
            expr: Box::new(function(self.stmts)),
        });
        let mut body = self.imports;
        body.push(ModuleItem::ModuleDecl(export));
        Module {
            span,
            body,
            shebang: None,
        }
    }

    fn add(&mut self, item: ModuleItem) {
        let declaration = match item {
            ModuleItem::Stmt(stmt) => return self.stmts.push(stmt),
            ModuleItem::ModuleDecl(declaration) => declaration,
        };
        match declaration {
            ModuleDecl::ExportDecl(export) => self.stmts.push(Stmt::Decl(export.decl)),
            ModuleDecl::ExportDefaultExpr(export) => self.add_default(export.expr),
            ModuleDecl::ExportDefaultDecl(export) => match export.decl {
                DefaultDecl::Fn(function) => match function.ident {
                    Some(ident) => {
                        self.default_export = Some(ident.clone());
                        self.stmts.push(Stmt::Decl(Decl::Fn(FnDecl {
                            ident,
                            declare: false,
                            function: function.function,
                        })));
                    }
                    None => self.add_default(Box::new(Expr::Fn(function))),
                },
                DefaultDecl::Class(class) => match class.ident {
                    Some(ident) => {
                        self.default_export = Some(ident.clone());
                        self.stmts.push(Stmt::Decl(Decl::Class(ClassDecl {
                            ident,
                            declare: false,
                            class: class.class,
                        })));
                    }
                    None => self.add_default(Box::new(Expr::Class(class))),
                },
                DefaultDecl::TsInterfaceDecl(_) => {}
            },
            ModuleDecl::ExportNamed(export) if export.src.is_none() => {
                for specifier in export.specifiers {
                    if let ExportSpecifier::Named(named) = specifier
                        && named.exported.as_ref().is_some_and(is_default)
                        && let ModuleExportName::Ident(ident) = named.orig
                    {
                        self.default_export = Some(ident);
                    }
                }
            }
            // A script is not imported, so its other exports have no effect.
            ModuleDecl::ExportNamed(_)
            | ModuleDecl::ExportAll(_)
            | ModuleDecl::TsExportAssignment(_)
            | ModuleDecl::TsNamespaceExport(_) => {}
            ModuleDecl::TsImportEquals(alias) => {
                if let TsModuleRef::TsEntityName(entity) = alias.module_ref
                    && !alias.is_type_only
                    && self.values.contains(&alias.id.sym)
                {
                    self.add_const(alias.id, Box::new(member(entity)));
                }
            }
            // An import of types alone is erased.
            import @ ModuleDecl::Import(_) if source_of(&import).is_some() => {
                self.imports.push(ModuleItem::ModuleDecl(import));
            }
            ModuleDecl::Import(_) => {}
        }
    }

    /// A default export is evaluated where it stands and returned at the end.
    fn add_default(&mut self, value: Box<Expr>) {
        let name = self.fresh_name("result");
        self.default_export = Some(name.clone());
        self.add_const(name, value);
    }

    /// A name that the script does not have.
    fn fresh_name(&self, name: &str) -> Ident {
        let mut name = name.to_owned();
        while self.values.contains(&Atom::from(name.as_str())) {
            name.push('_');
        }
        private_ident!(name)
    }

    fn add_const(&mut self, name: Ident, value: Box<Expr>) {
        self.stmts.push(Stmt::Decl(Decl::Var(Box::new(VarDecl {
            kind: VarDeclKind::Const,
            decls: vec![VarDeclarator {
                span: DUMMY_SP,
                name: Pat::Ident(name.into()),
                init: Some(value),
                definite: false,
            }],
            ..Default::default()
        }))));
    }

    /// Ends the function with a `return` of the script's result.
    fn return_result(&mut self, result: ScriptResult) {
        if let ScriptResult::Branches(ends) = result {
            self.stmts.visit_mut_with(&mut ReturnEnds(ends));
            return;
        }
        let result = match result {
            ScriptResult::DefaultExport => self.default_export.take().map(identifier),
            ScriptResult::EntryPoint(entry) => Some(identifier(entry)),
            ScriptResult::LastExpression(span) => self.take_expression(span),
            ScriptResult::Branches(_) | ScriptResult::Nothing => None,
        };
        if let Some(result) = result {
            self.stmts.push(Stmt::Return(ReturnStmt {
                // V8 blames the statement for a name that is not defined.
                span: result.span(),
                arg: Some(result),
            }));
        }
    }

    fn take_expression(&mut self, span: Span) -> Option<Box<Expr>> {
        let has_span = |stmt: &Stmt| match stmt {
            Stmt::Expr(expression) => expression.span == span,
            Stmt::Block(block) => block.span == span,
            _ => false,
        };
        let at = self.stmts.iter().rposition(has_span)?;
        match self.stmts.remove(at) {
            Stmt::Expr(last) => Some(not_called(last.expr)),
            Stmt::Block(block) => names_in_braces(&block),
            _ => None,
        }
    }
}

/// Makes `return` statements of the expression statements at these spans.
struct ReturnEnds(Vec<Span>);

impl VisitMut for ReturnEnds {
    fn visit_mut_stmt(&mut self, stmt: &mut Stmt) {
        match stmt {
            Stmt::Expr(end) if self.0.contains(&end.span) => {
                *stmt = Stmt::Return(ReturnStmt {
                    span: end.span,
                    arg: Some(not_called(end.expr.take())),
                });
            }
            _ => stmt.visit_mut_children_with(self),
        }
    }

    // The ends are statements of the script itself.
    fn visit_mut_expr(&mut self, _: &mut Expr) {}

    fn visit_mut_decl(&mut self, _: &mut Decl) {}
}

/// A function that is the result of a script is called, but not one that an assignment stores: then there
/// is no result.
fn not_called(expr: Box<Expr>) -> Box<Expr> {
    if !expr.is_assign() {
        return expr;
    }
    let value = private_ident!("value");
    let is_function = Expr::Bin(BinExpr {
        span: DUMMY_SP,
        op: BinaryOp::EqEqEq,
        left: Box::new(Expr::Unary(UnaryExpr {
            span: DUMMY_SP,
            op: UnaryOp::TypeOf,
            arg: identifier(value.clone()),
        })),
        right: Box::new(Expr::Lit(Lit::Str("function".into()))),
    });
    let choice = Expr::Cond(CondExpr {
        span: DUMMY_SP,
        test: Box::new(is_function),
        cons: Expr::undefined(DUMMY_SP),
        alt: identifier(value.clone()),
    });
    let choose = Expr::Arrow(ArrowExpr {
        span: DUMMY_SP,
        params: vec![Pat::Ident(value.into())],
        body: Box::new(ArrowFunctionBody::Expr(Box::new(choice))),
        ..Default::default()
    });
    Box::new(Expr::Call(CallExpr {
        span: expr.span(),
        callee: Callee::Expr(Box::new(choose)),
        args: vec![ExprOrSpread { spread: None, expr }],
        ..Default::default()
    }))
}

fn identifier(name: Ident) -> Box<Expr> {
    Box::new(Expr::Ident(name))
}

/// The block `{ total, count }` as the object that its author means.
fn names_in_braces(block: &BlockStmt) -> Option<Box<Expr>> {
    let [Stmt::Expr(inside)] = block.stmts.as_slice() else {
        return None;
    };
    let names = match &*inside.expr {
        Expr::Seq(list) => list.exprs.iter().map(|name| &**name).collect(),
        one => vec![one],
    };
    let props = names.into_iter().map(|name| {
        let name = name.as_ident()?.clone();
        Some(PropOrSpread::Prop(Box::new(Prop::Shorthand(name))))
    });
    Some(Box::new(Expr::Object(ObjectLit {
        span: block.span,
        props: props.collect::<Option<_>>()?,
    })))
}

/// `A.B.c` as an expression.
fn member(entity: TsEntityName) -> Expr {
    match entity {
        TsEntityName::Ident(ident) => Expr::Ident(ident),
        TsEntityName::TsQualifiedName(name) => Expr::Member(MemberExpr {
            span: name.span,
            obj: Box::new(member(name.left)),
            prop: MemberProp::Ident(name.right),
        }),
    }
}

/// `[async () => { … }][0]`: an array element has no name that stack traces would show.
fn function(stmts: Vec<Stmt>) -> Expr {
    let function = Expr::Arrow(ArrowExpr {
        span: DUMMY_SP,
        is_async: true,
        body: Box::new(ArrowFunctionBody::FunctionBody(FunctionBody {
            span: DUMMY_SP,
            stmts,
        })),
        ..Default::default()
    });
    let list = Expr::Array(ArrayLit {
        span: DUMMY_SP,
        elems: vec![Some(ExprOrSpread {
            spread: None,
            expr: Box::new(function),
        })],
    });
    let first = Expr::Lit(Lit::Num(Number::from(0.0)));
    Expr::Member(MemberExpr {
        span: DUMMY_SP,
        obj: Box::new(list),
        prop: MemberProp::Computed(ComputedPropName {
            span: DUMMY_SP,
            expr: Box::new(first),
        }),
    })
}
