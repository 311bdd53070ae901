//! Makes one async function of a script, and finds what it gives back: its `return`, its default
//! export, its `run()` or `main()`, or its last expression.
//!
//! The function is all that there is: the value of a script that does nothing else, or the default
//! export of such a module. So whatever the author's script throws is thrown by a call that we make,
//! and reaches us untouched.

use swc_core::common::{DUMMY_SP, Span, Spanned};
use swc_core::ecma::ast::{
    ArrayLit, ArrowExpr, ArrowFunctionBody, BlockStmt, CallExpr, Callee, Class, ClassDecl,
    ComputedPropName, Decl, DefaultDecl, ExportDefaultExpr, ExportSpecifier, Expr, ExprOrSpread,
    ExprStmt, FnDecl, Function, FunctionBody, Ident, Lit, MemberExpr, MemberProp, Module,
    ModuleDecl, ModuleExportName, ModuleItem, NamedExport, Number, ObjectLit, Pat, Program, Prop,
    PropOrSpread, ReturnStmt, Script, Stmt, TsEntityName, TsModuleRef, VarDecl, VarDeclKind,
    VarDeclarator,
};
use swc_core::ecma::utils::private_ident;
use swc_core::ecma::visit::{Visit, VisitWith};

use super::goal::needs_module;
use super::imports::source_of;
use super::parse::Parsed;
use super::{Located, RejectionKind};

/// Functions that are meant to be called, in the order of preference.
const ENTRY_POINTS: [&str; 2] = ["run", "main"];

/// A script gives back one thing.
pub fn check(module: &Module) -> Result<(), Located> {
    let mut defaults = module.body.iter().filter(|item| exports_default(item));
    match defaults.nth(1) {
        None => Ok(()),
        Some(second) => Err(Located {
            kind: RejectionKind::Syntax,
            message: "a script has one default export; this is the second".to_owned(),
            at: second.span().lo,
        }),
    }
}

fn exports_default(item: &ModuleItem) -> bool {
    match item {
        ModuleItem::ModuleDecl(ModuleDecl::ExportDefaultExpr(_)) => true,
        // An overload's signature is no export of its own.
        ModuleItem::ModuleDecl(ModuleDecl::ExportDefaultDecl(export)) => match &export.decl {
            DefaultDecl::Fn(function) => function.function.body.is_some(),
            DefaultDecl::Class(_) => true,
            DefaultDecl::TsInterfaceDecl(_) => false,
        },
        ModuleItem::ModuleDecl(ModuleDecl::ExportNamed(export)) => {
            export.specifiers.iter().any(|specifier| {
                matches!(specifier, ExportSpecifier::Named(named)
                    if named.exported.as_ref().is_some_and(is_default))
            })
        }
        _ => false,
    }
}

/// V8 takes a script sooner than a module, so a module is made only of what has to be one.
pub fn into_program(parsed: Parsed) -> Program {
    let span = parsed.module.span;
    let body = Body::of(parsed);
    if !body.imports.is_empty() || needs_module(&body.stmts) {
        return Program::Module(body.into_module(span));
    }
    Program::Script(Script {
        span,
        // What every module is.
        body: vec![
            statement(Expr::Lit(Lit::Str("use strict".into()))),
            statement(function(body.stmts)),
        ],
        shebang: None,
    })
}

pub fn into_module(parsed: Parsed) -> Module {
    let span = parsed.module.span;
    Body::of(parsed).into_module(span)
}

fn statement(expr: Expr) -> Stmt {
    Stmt::Expr(ExprStmt {
        span: DUMMY_SP,
        expr: Box::new(expr),
    })
}

/// A script, taken apart.
#[derive(Default)]
struct Body {
    imports: Vec<ModuleItem>,
    stmts: Vec<Stmt>,
    default_export: Option<Ident>,
}

impl Body {
    fn of(parsed: Parsed) -> Self {
        let module = parsed.module;
        let entry = entry_point(&module);
        let is_called = default_function(&module).is_some_and(|name| is_called(&module, name));
        let mut body = Self::default();
        for item in module.body {
            body.add(item);
        }
        // What the script calls itself is not called once more.
        body.default_export.take_if(|_| is_called);
        body.give_back(entry);
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
            // Nobody imports a script, so what it passes on reaches nobody.
            ModuleDecl::ExportNamed(_)
            | ModuleDecl::ExportAll(_)
            | ModuleDecl::TsExportAssignment(_)
            | ModuleDecl::TsNamespaceExport(_) => {}
            ModuleDecl::TsImportEquals(alias) => {
                if let TsModuleRef::TsEntityName(entity) = alias.module_ref
                    && !alias.is_type_only
                {
                    self.add_const(alias.id, Box::new(member(entity)));
                }
            }
            // One of types alone is gone by the time that the script runs.
            import @ ModuleDecl::Import(_) if source_of(&import).is_some() => {
                self.imports.push(ModuleItem::ModuleDecl(import));
            }
            ModuleDecl::Import(_) => {}
        }
    }

    /// A default export is evaluated where it stands, and given back at the end.
    fn add_default(&mut self, value: Box<Expr>) {
        let name = private_ident!("result");
        self.default_export = Some(name.clone());
        self.add_const(name, value);
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

    /// Nobody wants the number of a timer as the result; they want what it does.
    fn starts_timer(&self, expr: &Expr) -> bool {
        let Expr::Call(call) = expr else { return false };
        let Callee::Expr(callee) = &call.callee else {
            return false;
        };
        let Expr::Ident(name) = &**callee else {
            return false;
        };
        let own =
            |stmt: &Stmt| matches!(stmt, Stmt::Decl(Decl::Fn(own)) if own.ident.sym == name.sym);
        matches!(&*name.sym, "setTimeout" | "setInterval") && !self.stmts.iter().any(own)
    }

    fn give_back(&mut self, entry: Option<Ident>) {
        let result = match self.default_export.take().or(entry) {
            Some(name) => Some(Box::new(Expr::Ident(name))),
            None => self.take_last_expression(),
        };
        if let Some(result) = result {
            self.stmts.push(Stmt::Return(ReturnStmt {
                // V8 blames the statement for a name that is not defined.
                span: result.span(),
                arg: Some(result),
            }));
        }
    }
}

impl Body {
    /// The last thing that the script does, if it is an expression. Functions and types may stand
    /// behind it.
    fn take_last_expression(&mut self) -> Option<Box<Expr>> {
        let at = self.stmts.iter().rposition(|stmt| !only_declares(stmt))?;
        match &self.stmts[at] {
            Stmt::Expr(last) if !self.starts_timer(&last.expr) => {}
            Stmt::Block(block) if names_in_braces(block).is_some() => {}
            _ => return None,
        }
        match self.stmts.remove(at) {
            Stmt::Expr(last) => Some(last.expr),
            Stmt::Block(block) => names_in_braces(&block),
            _ => None,
        }
    }
}

fn only_declares(stmt: &Stmt) -> bool {
    matches!(
        stmt,
        Stmt::Empty(_) | Stmt::Decl(Decl::Fn(_) | Decl::TsInterface(_) | Decl::TsTypeAlias(_))
    )
}

/// `{ total, count }` is a block to the parser, which does nothing; whoever writes it means the
/// object.
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

/// `[async () => { … }][0]`: taken out of a list, the function has no name that stack traces would
/// show.
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

fn is_default(name: &ModuleExportName) -> bool {
    *name.atom() == "default"
}

/// A function that the script declares and does not use: `run`, `main`, or the only thing there is.
fn entry_point(module: &Module) -> Option<Ident> {
    let functions: Vec<&Ident> = module.body.iter().filter_map(declared_function).collect();
    let things = module.body.iter().filter(|item| !vanishes(item)).count();
    let entry = match (functions.as_slice(), things) {
        ([only], 1) => *only,
        _ => ENTRY_POINTS.iter().find_map(|name| {
            functions
                .iter()
                .copied()
                .find(|function| function.sym == **name)
        })?,
    };
    let mut mentions = Mentions {
        of: entry,
        found: false,
    };
    module.visit_with(&mut mentions);
    (!mentions.found).then(|| entry.clone())
}

/// Whether nothing is left of it when the script runs.
fn vanishes(item: &ModuleItem) -> bool {
    match item {
        ModuleItem::ModuleDecl(ModuleDecl::Import(_) | ModuleDecl::ExportNamed(_)) => true,
        ModuleItem::ModuleDecl(ModuleDecl::ExportDecl(export)) => {
            matches!(export.decl, Decl::TsInterface(_) | Decl::TsTypeAlias(_))
        }
        // An overload's signature is one of these.
        ModuleItem::Stmt(Stmt::Decl(Decl::Fn(function))) => function.function.body.is_none(),
        ModuleItem::Stmt(stmt) => only_declares(stmt),
        ModuleItem::ModuleDecl(_) => false,
    }
}

/// The name of what is exported as default, if it can be a function of the script.
fn default_function(module: &Module) -> Option<&Ident> {
    module.body.iter().find_map(|item| match item {
        ModuleItem::ModuleDecl(ModuleDecl::ExportDefaultDecl(export)) => match &export.decl {
            DefaultDecl::Fn(function) => function.ident.as_ref(),
            _ => None,
        },
        ModuleItem::ModuleDecl(ModuleDecl::ExportDefaultExpr(export)) => export.expr.as_ident(),
        _ => None,
    })
}

/// Whether the script calls this function, outside of any other.
fn is_called(module: &Module, name: &Ident) -> bool {
    let mut calls = OwnCalls {
        of: name,
        found: false,
    };
    module.visit_with(&mut calls);
    calls.found
}

struct OwnCalls<'a> {
    of: &'a Ident,
    found: bool,
}

impl Visit for OwnCalls<'_> {
    fn visit_function(&mut self, _: &Function) {}

    fn visit_arrow_expr(&mut self, _: &ArrowExpr) {}

    fn visit_class(&mut self, _: &Class) {}

    fn visit_call_expr(&mut self, call: &CallExpr) {
        if let Callee::Expr(callee) = &call.callee
            && callee
                .as_ident()
                .is_some_and(|name| name.sym == self.of.sym)
        {
            self.found = true;
        }
        call.visit_children_with(self);
    }
}

fn declared_function(item: &ModuleItem) -> Option<&Ident> {
    let declaration = match item {
        ModuleItem::Stmt(Stmt::Decl(declaration)) => declaration,
        ModuleItem::ModuleDecl(ModuleDecl::ExportDecl(export)) => &export.decl,
        _ => return None,
    };
    match declaration {
        Decl::Fn(function) if function.function.body.is_some() => Some(&function.ident),
        Decl::Var(variables) => match variables.decls.as_slice() {
            [declarator] => match (&declarator.name, declarator.init.as_deref()) {
                (Pat::Ident(name), Some(Expr::Arrow(_) | Expr::Fn(_))) => Some(&name.id),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

/// Uses of a name. What a function says of itself is none, nor is an export, which nobody imports.
struct Mentions<'a> {
    of: &'a Ident,
    found: bool,
}

impl Visit for Mentions<'_> {
    fn visit_fn_decl(&mut self, declaration: &FnDecl) {
        if declaration.ident.sym != self.of.sym {
            declaration.visit_children_with(self);
        }
    }

    fn visit_var_declarator(&mut self, declarator: &VarDeclarator) {
        let name = declarator.name.as_ident();
        if name.is_none_or(|name| name.sym != self.of.sym) {
            declarator.visit_children_with(self);
        }
    }

    fn visit_named_export(&mut self, _: &NamedExport) {}

    fn visit_ident(&mut self, ident: &Ident) {
        self.found |= ident.sym == self.of.sym;
    }
}
