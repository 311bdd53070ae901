//! Statements, declarations and the script itself.

use std::rc::Rc;

use swc_core::ecma::ast::{
    BlockStmt, Class, ClassMember, Decl, DefaultDecl, Expr, Function, IfStmt, ImportDecl,
    ImportSpecifier, Module, ModuleDecl, ModuleExportName, ModuleItem, ObjectPatProp, Pat, Stmt,
    TryStmt, VarDecl, VarDeclKind,
};

use super::analyzer::{Analyzer, Eval, Stop};
use super::quiet::{exits, is_quiet};
use super::scope::Scope;
use super::value::{Body, Closure, Global, Value};
use crate::imports::API_SPECIFIER;
use crate::result::{ScriptResult, result_of};

/// How a statement ends.
pub(super) enum Flow<'a> {
    Next,
    Return(Value<'a>),
    Break,
    Continue,
}

impl Analyzer {
    /// Evaluates a script, and the function that is its result.
    pub fn run<'a>(&mut self, module: &'a Module, scope: &Rc<Scope<'a>>) -> Eval<()> {
        for item in &module.body {
            match item {
                ModuleItem::Stmt(stmt) => self.hoist_stmt(stmt, scope)?,
                ModuleItem::ModuleDecl(declaration) => hoist_module_decl(declaration, scope)?,
            }
        }
        let result = result_of(module);
        let mut value = Value::Undefined;
        let last = module.body.len().saturating_sub(1);
        for (at, item) in module.body.iter().enumerate() {
            let flow = match item {
                ModuleItem::Stmt(Stmt::Expr(stmt)) if at == last => {
                    value = self.last_expression(&stmt.expr, scope)?;
                    Flow::Next
                }
                ModuleItem::Stmt(stmt) => match (&result, stmt) {
                    (ScriptResult::LastExpression(span), Stmt::Expr(last))
                        if last.span == *span =>
                    {
                        value = self.eval_awaited(&last.expr, scope)?;
                        Flow::Next
                    }
                    _ => self.stmt(stmt, scope)?,
                },
                ModuleItem::ModuleDecl(declaration) => {
                    if let Some(exported) = self.module_decl(declaration, scope)? {
                        value = exported;
                    }
                    Flow::Next
                }
            };
            if let Flow::Return(returned) = flow {
                return self.finish_with(returned);
            }
        }
        match &result {
            ScriptResult::EntryPoint(entry) => {
                self.finish_with(scope.get(&entry.sym).unwrap_or(Value::Unset))
            }
            ScriptResult::Nothing | ScriptResult::Branches(_) => Ok(()),
            ScriptResult::DefaultExport | ScriptResult::LastExpression(_) => {
                self.finish_with(value)
            }
        }
    }

    /// A result that is a function is called.
    fn finish_with(&mut self, result: Value<'_>) -> Eval<()> {
        let result = match &result {
            Value::Function(function) => self.call_outermost(function)?,
            _ => result,
        };
        self.finish(&result)
    }

    /// The last statement of a script. What handlers behind its promise do comes after all calls.
    fn last_expression<'a>(&mut self, expr: &'a Expr, scope: &Rc<Scope<'a>>) -> Eval<Value<'a>> {
        if let Some((inner, handlers)) = with_handlers(expr)
            && is_call_of_function(inner, scope)
            && is_quiet(handlers)
        {
            self.last_expression(inner, scope)?;
            return Ok(Value::Undefined);
        }
        match called_function(expr, scope) {
            // The return of the script's main function ends the script.
            Some(function) if function.is_async => self.call_outermost(&function),
            _ => self.eval_awaited(expr, scope),
        }
    }

    fn call_outermost<'a>(&mut self, function: &Rc<Closure<'a>>) -> Eval<Value<'a>> {
        let inner = std::mem::replace(&mut self.inner_calls, 0);
        let value = self.apply(function, Vec::new());
        self.inner_calls = inner;
        value.and_then(|value| self.awaited(value))
    }

    fn module_decl<'a>(
        &mut self,
        declaration: &'a ModuleDecl,
        scope: &Rc<Scope<'a>>,
    ) -> Eval<Option<Value<'a>>> {
        match declaration {
            ModuleDecl::ExportDecl(export) => self.decl(&export.decl, scope).map(|()| None),
            ModuleDecl::ExportDefaultExpr(export) => {
                self.eval_awaited(&export.expr, scope).map(Some)
            }
            ModuleDecl::ExportDefaultDecl(export) => match &export.decl {
                DefaultDecl::Fn(function) => Ok(Some(closure_of(&function.function, scope)?)),
                DefaultDecl::Class(_) => Err(Stop),
                DefaultDecl::TsInterfaceDecl(_) => Ok(None),
            },
            ModuleDecl::Import(_) => Ok(None),
            _ => Err(Stop),
        }
    }

    /// Declares the names of a block before it runs.
    fn hoist<'a>(&mut self, stmts: &'a [Stmt], scope: &Rc<Scope<'a>>) -> Eval<()> {
        stmts
            .iter()
            .try_for_each(|stmt| self.hoist_stmt(stmt, scope))
    }

    fn hoist_stmt<'a>(&mut self, stmt: &'a Stmt, scope: &Rc<Scope<'a>>) -> Eval<()> {
        match stmt {
            Stmt::Decl(declaration) => hoist_decl(declaration, scope),
            _ => Ok(()),
        }
    }

    pub fn block<'a>(&mut self, stmts: &'a [Stmt], scope: &Rc<Scope<'a>>) -> Eval<Flow<'a>> {
        self.hoist(stmts, scope)?;
        for stmt in stmts {
            match self.stmt(stmt, scope)? {
                Flow::Next => {}
                flow => return Ok(flow),
            }
        }
        Ok(Flow::Next)
    }

    pub fn stmt<'a>(&mut self, stmt: &'a Stmt, scope: &Rc<Scope<'a>>) -> Eval<Flow<'a>> {
        self.deeper(|this| this.stmt_inside(stmt, scope))
    }

    fn stmt_inside<'a>(&mut self, stmt: &'a Stmt, scope: &Rc<Scope<'a>>) -> Eval<Flow<'a>> {
        match stmt {
            Stmt::Empty(_) => Ok(Flow::Next),
            Stmt::Expr(stmt) => self.eval(&stmt.expr, scope).map(|_| Flow::Next),
            Stmt::Block(block) => self.block(&block.stmts, &Scope::inside(scope)),
            Stmt::Decl(declaration) => self.decl(declaration, scope).map(|()| Flow::Next),
            Stmt::If(stmt) => self.if_stmt(stmt, scope),
            Stmt::For(stmt) => self.for_stmt(stmt, scope),
            Stmt::ForOf(stmt) => self.for_of(stmt, scope),
            Stmt::Try(stmt) => self.try_stmt(stmt, scope),
            Stmt::Return(stmt) => match &stmt.arg {
                // Nothing comes between the return and the one who awaits the function.
                Some(value) if self.concurrent == 0 => {
                    self.eval_awaited(value, scope).map(Flow::Return)
                }
                Some(value) => self.eval(value, scope).map(Flow::Return),
                None => Ok(Flow::Return(Value::Undefined)),
            },
            Stmt::Break(stmt) if stmt.label.is_none() => Ok(Flow::Break),
            Stmt::Continue(stmt) if stmt.label.is_none() => Ok(Flow::Continue),
            _ => Err(Stop),
        }
    }

    fn if_stmt<'a>(&mut self, stmt: &'a IfStmt, scope: &Rc<Scope<'a>>) -> Eval<Flow<'a>> {
        let test = self.eval(&stmt.test, scope)?;
        match self.truth(&test) {
            Some(true) => self.stmt(&stmt.cons, &Scope::inside(scope)),
            Some(false) => match &stmt.alt {
                Some(other) => self.stmt(other, &Scope::inside(scope)),
                None => Ok(Flow::Next),
            },
            None => {
                for branch in [Some(&stmt.cons), stmt.alt.as_ref()].into_iter().flatten() {
                    self.uncertain_stmt(branch, scope)?;
                }
                Ok(Flow::Next)
            }
        }
    }

    /// A statement that may not run. What comes behind it would be uncertain if it could leave.
    pub fn uncertain_stmt<'a>(&mut self, stmt: &'a Stmt, scope: &Rc<Scope<'a>>) -> Eval<()> {
        let inner = Scope::inside(scope);
        match self.uncertainly(|this| this.stmt(stmt, &inner))? {
            Flow::Next => Ok(()),
            _ => Err(Stop),
        }
    }

    /// A `try` whose handler could wait, and then make a call that the plan has for the part that was
    /// skipped, is left out.
    fn try_stmt<'a>(&mut self, stmt: &'a TryStmt, scope: &Rc<Scope<'a>>) -> Eval<Flow<'a>> {
        let handler = stmt.handler.as_ref().map(|handler| &handler.body);
        let is_quiet_after =
            handler.is_none_or(is_quiet) && stmt.finalizer.as_ref().is_none_or(is_quiet);
        // The handler ends the script, or an outer `try` that follows the same rule.
        let leaves = handler.is_none_or(|handler| {
            exits(handler) && (self.inner_calls == 0 || ends_with_throw(handler))
        });
        if !is_quiet_after || stmt.finalizer.as_ref().is_some_and(exits) {
            return Err(Stop);
        }
        let before = self.next_id();
        let flow = match leaves {
            true => self.block(&stmt.block.stmts, &Scope::inside(scope))?,
            false => {
                // Only the first statement calls anything: what throws behind it has its answer.
                let flow = self.block_with_first_call(&stmt.block, scope);
                if flow.is_err() || self.next_id() > before + 1 {
                    self.forget_since(before);
                    return Err(Stop);
                }
                flow?
            }
        };
        match (flow, leaves) {
            (Flow::Return(_), false) => Ok(Flow::Return(Value::Unknown)),
            (Flow::Next, _) => match &stmt.finalizer {
                Some(finalizer) => self.block(&finalizer.stmts, &Scope::inside(scope)),
                None => Ok(Flow::Next),
            },
            (flow, _) => Ok(flow),
        }
    }

    /// A block of which the first statement alone may call a tool.
    fn block_with_first_call<'a>(
        &mut self,
        block: &'a BlockStmt,
        scope: &Rc<Scope<'a>>,
    ) -> Eval<Flow<'a>> {
        let inner = Scope::inside(scope);
        self.hoist(&block.stmts, &inner)?;
        let mut first = None;
        for stmt in &block.stmts {
            let flow = self.stmt(stmt, &inner)?;
            let calls = self.next_id();
            if *first.get_or_insert(calls) != calls {
                return Err(Stop);
            }
            if !matches!(flow, Flow::Next) {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    fn decl<'a>(&mut self, declaration: &'a Decl, scope: &Rc<Scope<'a>>) -> Eval<()> {
        match declaration {
            Decl::Var(variables) => self.variables(variables, scope),
            Decl::Class(class) if is_plain_class(&class.class) => Ok(()),
            Decl::Fn(_) | Decl::TsInterface(_) | Decl::TsTypeAlias(_) => Ok(()),
            Decl::TsEnum(declared) if declared.declare => Ok(()),
            Decl::TsModule(declared) if declared.declare => Ok(()),
            _ => Err(Stop),
        }
    }

    pub fn variables<'a>(&mut self, variables: &'a VarDecl, scope: &Rc<Scope<'a>>) -> Eval<()> {
        if variables.declare {
            return Ok(());
        }
        for variable in &variables.decls {
            let value = match &variable.init {
                Some(value) => self.eval(value, scope)?,
                // A second declaration with `var` leaves the value.
                None if variables.kind == VarDeclKind::Var => Value::Unknown,
                None => Value::Undefined,
            };
            self.bind(&variable.name, value, scope)?;
        }
        Ok(())
    }

    /// Declares the names of a pattern.
    pub fn bind<'a>(
        &mut self,
        pattern: &'a Pat,
        value: Value<'a>,
        scope: &Rc<Scope<'a>>,
    ) -> Eval<()> {
        match pattern {
            Pat::Ident(name) => {
                scope.declare(&name.id.sym, value);
                Ok(())
            }
            Pat::Array(pattern) => {
                for (at, item) in pattern.elems.iter().enumerate() {
                    let Some(item) = item else { continue };
                    let part = match item {
                        Pat::Rest(_) => Value::Unknown,
                        _ => self.element(&value, at)?,
                    };
                    self.bind(item, part, scope)?;
                }
                Ok(())
            }
            Pat::Object(pattern) => {
                for property in &pattern.props {
                    self.bind_property(property, &value, scope)?;
                }
                Ok(())
            }
            Pat::Assign(pattern) => {
                let value = match value {
                    Value::Undefined => self.eval(&pattern.right, scope)?,
                    value => value,
                };
                self.bind(&pattern.left, value, scope)
            }
            Pat::Rest(pattern) => self.bind(&pattern.arg, Value::Unknown, scope),
            Pat::Expr(_) | Pat::Invalid(_) => Err(Stop),
        }
    }

    fn bind_property<'a>(
        &mut self,
        property: &'a ObjectPatProp,
        value: &Value<'a>,
        scope: &Rc<Scope<'a>>,
    ) -> Eval<()> {
        match property {
            ObjectPatProp::KeyValue(property) => {
                let key = self.property_name(&property.key, scope)?.ok_or(Stop)?;
                let part = self.member(value, &key, false)?;
                self.bind(&property.value, part, scope)
            }
            ObjectPatProp::Assign(property) => {
                let name = &property.key.id.sym;
                let part = match (self.member(value, name, false)?, &property.value) {
                    (Value::Undefined, Some(default)) => self.eval(default, scope)?,
                    (part, _) => part,
                };
                scope.declare(name, part);
                Ok(())
            }
            ObjectPatProp::Rest(rest) => self.bind(&rest.arg, Value::Unknown, scope),
        }
    }
}

fn ends_with_throw(block: &BlockStmt) -> bool {
    matches!(block.stmts.last(), Some(Stmt::Throw(_)))
}

/// A class whose declaration runs no code of the script.
fn is_plain_class(class: &Class) -> bool {
    let is_plain = |member: &ClassMember| match member {
        ClassMember::Constructor(_) | ClassMember::Empty(_) => true,
        ClassMember::Method(method) => !method.key.is_computed(),
        ClassMember::ClassProp(property) => !property.is_static && !property.key.is_computed(),
        _ => false,
    };
    class
        .super_class
        .as_ref()
        .is_none_or(|class| class.is_ident())
        && class.decorators.is_empty()
        && class.body.iter().all(is_plain)
}

fn hoist_module_decl<'a>(declaration: &'a ModuleDecl, scope: &Rc<Scope<'a>>) -> Eval<()> {
    match declaration {
        ModuleDecl::ExportDecl(export) => hoist_decl(&export.decl, scope),
        ModuleDecl::ExportDefaultDecl(export) => {
            if let DefaultDecl::Fn(function) = &export.decl
                && let Some(name) = &function.ident
            {
                scope.declare(&name.sym, closure_of(&function.function, scope)?);
            }
            Ok(())
        }
        ModuleDecl::Import(import) => hoist_import(import, scope),
        _ => Ok(()),
    }
}

fn hoist_import(import: &ImportDecl, scope: &Rc<Scope<'_>>) -> Eval<()> {
    if import.type_only {
        return Ok(());
    }
    for specifier in &import.specifiers {
        let (local, value) = match specifier {
            ImportSpecifier::Named(named) if named.is_type_only => continue,
            ImportSpecifier::Named(named) => {
                let imported = match &named.imported {
                    Some(ModuleExportName::Ident(name)) => name.sym.clone(),
                    Some(ModuleExportName::Str(_)) => return Err(Stop),
                    None => named.local.sym.clone(),
                };
                (&named.local, api_value(&imported))
            }
            ImportSpecifier::Namespace(namespace) => (&namespace.local, Value::Global(Global::Api)),
            ImportSpecifier::Default(default) => (&default.local, Value::Unset),
        };
        let is_api = import.src.value.to_string_lossy() == API_SPECIFIER;
        scope.declare(&local.sym, if is_api { value } else { Value::Unset });
    }
    Ok(())
}

/// A function of the script API; one that is not foreseen cannot be used.
pub(super) fn api_value<'a>(name: &str) -> Value<'a> {
    match name {
        "tools" => Value::Tools(Rc::default()),
        _ => Global::of_api(name).map_or(Value::Unset, Value::Global),
    }
}

fn hoist_decl<'a>(declaration: &'a Decl, scope: &Rc<Scope<'a>>) -> Eval<()> {
    match declaration {
        Decl::Fn(function) => {
            scope.declare(&function.ident.sym, closure_of(&function.function, scope)?);
        }
        Decl::Class(class) => scope.declare(&class.ident.sym, Value::Unset),
        Decl::Var(variables) if !variables.declare => {
            for variable in &variables.decls {
                hoist_pattern(&variable.name, scope);
            }
        }
        Decl::TsEnum(declared) => scope.declare(&declared.id.sym, Value::Unset),
        _ => {}
    }
    Ok(())
}

/// A name has no value until its declaration is evaluated.
fn hoist_pattern(pattern: &Pat, scope: &Rc<Scope<'_>>) {
    match pattern {
        Pat::Ident(name) => scope.declare(&name.id.sym, Value::Unset),
        Pat::Array(pattern) => {
            let items = pattern.elems.iter().flatten();
            items.for_each(|item| hoist_pattern(item, scope));
        }
        Pat::Object(pattern) => {
            for property in &pattern.props {
                match property {
                    ObjectPatProp::KeyValue(property) => hoist_pattern(&property.value, scope),
                    ObjectPatProp::Assign(property) => {
                        scope.declare(&property.key.id.sym, Value::Unset);
                    }
                    ObjectPatProp::Rest(rest) => hoist_pattern(&rest.arg, scope),
                }
            }
        }
        Pat::Assign(pattern) => hoist_pattern(&pattern.left, scope),
        Pat::Rest(rest) => hoist_pattern(&rest.arg, scope),
        Pat::Expr(_) | Pat::Invalid(_) => {}
    }
}

pub(super) fn closure_of<'a>(function: &'a Function, scope: &Rc<Scope<'a>>) -> Eval<Value<'a>> {
    match &function.body {
        Some(body) if !function.is_generator => Ok(Value::Function(Rc::new(Closure {
            params: function.params.iter().map(|param| &param.pat).collect(),
            body: Body::Stmts(&body.stmts),
            is_async: function.is_async,
            scope: scope.clone(),
        }))),
        _ => Ok(Value::Unset),
    }
}

/// `call.catch(…)`, `call.then(…)` or `call.finally(…)`: the call, and the whole expression without it.
fn with_handlers(expr: &Expr) -> Option<(&Expr, &Vec<swc_core::ecma::ast::ExprOrSpread>)> {
    let call = expr.as_call()?;
    let member = call.callee.as_expr()?.as_member()?;
    let is_handler = matches!(&*member.prop.as_ident()?.sym, "then" | "catch" | "finally");
    (is_handler && member.obj.is_call()).then_some((&*member.obj, &call.args))
}

fn is_call_of_function<'a>(expr: &'a Expr, scope: &Rc<Scope<'a>>) -> bool {
    with_handlers(expr).is_some() || called_function(expr, scope).is_some()
}

/// The function of the script that a call without arguments calls: `main()`, `(async () => { … })()`.
fn called_function<'a>(expr: &'a Expr, scope: &Rc<Scope<'a>>) -> Option<Rc<Closure<'a>>> {
    let expr = match expr {
        Expr::Await(awaited) => &awaited.arg,
        expr => expr,
    };
    let call = expr.as_call().filter(|call| call.args.is_empty())?;
    let mut callee = &**call.callee.as_expr()?;
    while let Expr::Paren(inner) = callee {
        callee = &inner.expr;
    }
    let value = match callee {
        Expr::Ident(name) => scope.get(&name.sym)?,
        Expr::Arrow(arrow) => super::expressions::arrow(arrow, scope).ok()?,
        Expr::Fn(function) => closure_of(&function.function, scope).ok()?,
        _ => return None,
    };
    match value {
        Value::Function(function) => Some(function),
        _ => None,
    }
}
