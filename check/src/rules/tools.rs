//! Tools that do not exist, and arguments that do not fit.

use pml_catalog::{Catalog, KnownTool, ServerState};
use swc_core::common::{Span, Spanned};
use swc_core::ecma::ast::{ArrowFunctionBody, CallExpr, Callee, Expr, ExprOrSpread, ReturnStmt};
use swc_core::ecma::visit::{Visit, VisitWith};

use crate::api::{Meaning, property};
use crate::finding::{Finding, Rule};
use crate::judge::judge;
use crate::literal::{self, Known, Literal};
use crate::names;
use crate::rules::written::{Part, Written, quoted};
use crate::script::Script;

pub fn check(script: &Script<'_>, catalog: &Catalog) -> Vec<Finding> {
    let mut visitor = Visitor {
        script,
        catalog,
        read: Vec::new(),
        findings: Vec::new(),
    };
    script.module.visit_with(&mut visitor);
    visitor.findings
}

struct Visitor<'a, 'b> {
    script: &'a Script<'b>,
    catalog: &'a Catalog,
    /// Tools whose schemas were read already: scripts call few tools often.
    read: Vec<KnownTool>,
    findings: Vec<Finding>,
}

impl Visit for Visitor<'_, '_> {
    fn visit_call_expr(&mut self, call: &CallExpr) {
        if let Callee::Expr(callee) = &call.callee {
            match self.script.api().meaning(self.script, callee) {
                Some(Meaning::Tool { server, tool }) => {
                    let written = match literal::bare(callee) {
                        Expr::Member(member) => Written::Member {
                            server: match literal::bare(&member.obj) {
                                Expr::Member(server) => Some(Part::of(server)),
                                _ => None,
                            },
                            tool: Part::of(member),
                        },
                        other => Written::Elsewhere(other.span()),
                    };
                    let id = format!("{server}:{tool}");
                    self.call(&id, &written, Arguments::of(call.args.first()), call.span);
                }
                Some(Meaning::Name(name)) => self.named(&name, call),
                _ => {}
            }
        }
        call.visit_children_with(self);
    }
}

/// What a call is given.
enum Arguments<'a> {
    /// Nothing, which is the same as no arguments.
    None,
    Given(&'a Expr),
    /// Something that was spread into the call.
    Unknown,
}

impl<'a> Arguments<'a> {
    fn of(argument: Option<&'a ExprOrSpread>) -> Self {
        match argument {
            None => Self::None,
            Some(argument) if argument.spread.is_some() => Self::Unknown,
            Some(argument) => Self::Given(&argument.expr),
        }
    }
}

impl Visitor<'_, '_> {
    fn named(&mut self, name: &str, call: &CallExpr) {
        let Some(first) = call.args.first().filter(|first| first.spread.is_none()) else {
            return;
        };
        match name {
            "callTool" => {
                if let Some(id) = literal::text(&first.expr) {
                    let written = Written::Id(first.expr.span());
                    self.call(&id, &written, Arguments::of(call.args.get(1)), call.span);
                }
            }
            "describeTool" => {
                if let Some(id) = literal::text(&first.expr) {
                    self.known_tool(&id, &Written::Id(first.expr.span()));
                }
            }
            "callToolsBatch" => self.batch(&first.expr),
            "listResources" | "readResource" | "listPrompts" | "getPrompt" => {
                if let Some(server) = literal::text(&first.expr) {
                    self.known_server(&server, None, &Written::Id(first.expr.span()));
                }
            }
            _ => {}
        }
    }

    /// A list that is written out, or one that `map` makes of such objects.
    fn batch(&mut self, calls: &Expr) {
        match literal::bare(calls) {
            Expr::Array(array) => {
                for element in array.elems.iter().flatten() {
                    if element.spread.is_none() {
                        self.batched(&element.expr);
                    }
                }
            }
            Expr::Call(call) => {
                let Callee::Expr(callee) = &call.callee else {
                    return;
                };
                let is_map = matches!(literal::bare(callee), Expr::Member(member)
                    if property(&member.prop).as_deref() == Some("map"));
                if is_map
                    && let Some(function) = call.args.first()
                    && let Expr::Arrow(arrow) = literal::bare(&function.expr)
                {
                    match &*arrow.body {
                        ArrowFunctionBody::Expr(expr) => self.batched(expr),
                        ArrowFunctionBody::FunctionBody(body) => {
                            let mut returned = Returned(Vec::new());
                            body.visit_with(&mut returned);
                            returned.0.into_iter().for_each(|expr| self.batched(&expr));
                        }
                    }
                }
            }
            _ => {}
        }
    }

    /// `{ tool: "fs:read_file", args: { … } }`
    fn batched(&mut self, call: &Expr) {
        let literal = literal::read(call);
        let Known::Object { fields, whole } = &literal.value else {
            return;
        };
        let find = |name: &str| fields.iter().find(|field| field.name == name);
        let Some(tool) = find("tool") else {
            return;
        };
        let Known::Text(Some(id)) = &tool.value.value else {
            return;
        };
        let written = Written::Id(tool.value.span);
        let Some(known) = self.known_tool(id, &written) else {
            return;
        };
        match find("args") {
            Some(args) => self.judge(id, known, &args.value),
            None if *whole => self.judge(id, known, &nothing(literal.span)),
            None => {}
        }
    }

    fn call(&mut self, id: &str, written: &Written, arguments: Arguments<'_>, span: Span) {
        let Some(known) = self.known_tool(id, written) else {
            return;
        };
        match arguments {
            Arguments::Unknown => {}
            Arguments::None => self.judge(id, known, &nothing(span)),
            Arguments::Given(expr) => self.judge(id, known, &literal::read(expr)),
        }
    }

    /// `tool` is an index into `read`.
    fn judge(&mut self, id: &str, tool: usize, arguments: &Literal) {
        let none;
        let arguments = match arguments.value {
            // What a tool gets when a script gives it nothing.
            Known::Undefined | Known::Null => {
                none = nothing(arguments.span);
                &none
            }
            _ => arguments,
        };
        let problems = match arguments.value {
            Known::Nothing => return,
            Known::Object { .. } => judge(&self.read[tool].input_schema, arguments),
            _ => {
                let message = format!("{id} takes an object of named arguments");
                let rule = Rule::WrongArguments;
                self.findings
                    .push(self.script.finding(rule, arguments.span, message));
                return;
            }
        };
        for problem in problems {
            let message = format!("{id}: {}", problem.message);
            let mut finding = self
                .script
                .finding(Rule::WrongArguments, problem.span, message);
            finding.fix = problem.fix.map(|(span, text)| {
                let about = format!("write `{text}`");
                self.script.fix(span, text, about)
            });
            self.findings.push(finding);
        }
    }

    /// The tool, or a complaint that there is none. Nothing is said about a server that did not
    /// answer.
    fn known_tool(&mut self, id: &str, written: &Written) -> Option<usize> {
        if let Some(index) = self.read.iter().position(|tool| tool.id == id) {
            return Some(index);
        }
        let Some((server, tool)) = id
            .split_once(':')
            .filter(|(a, b)| !a.is_empty() && !b.is_empty())
        else {
            self.malformed(id, written);
            return None;
        };
        if !self.known_server(server, Some(tool), written) {
            return None;
        }
        if let Some(tool) = self.catalog.tool(id) {
            self.read.push(tool);
            return Some(self.read.len() - 1);
        }
        let prefix = format!("{server}:");
        let of_server = || {
            self.catalog
                .ids()
                .filter_map(|known| known.strip_prefix(&prefix))
        };
        let meant = names::typo_of(tool, of_server());
        let hint = match meant {
            Some(meant) => format!("; did you mean `{server}:{meant}`?"),
            None => {
                let near = names::similar(id, self.catalog.ids(), 3);
                match near.is_empty() {
                    true => format!("; `pml tools {server}` lists what there is"),
                    false => format!("; the nearest are {}", names::list(&near, "and")),
                }
            }
        };
        let message = format!("there is no tool `{id}`{hint}");
        let mut finding = self
            .script
            .finding(Rule::UnknownTool, written.span(), message);
        finding.fix = meant.and_then(|meant| {
            let (span, text) = written.with_tool(server, meant)?;
            let about = format!("call `{server}:{meant}`");
            Some(self.script.fix(span, text, about))
        });
        self.findings.push(finding);
        None
    }

    fn malformed(&mut self, id: &str, written: &Written) {
        let suffix = format!(":{id}");
        let named: Vec<&str> = self
            .catalog
            .ids()
            .filter(|known| known.ends_with(&suffix))
            .take(3)
            .collect();
        let hint = match named.is_empty() {
            true => String::new(),
            false => format!(", such as {}", names::list(&named, "or")),
        };
        let message = format!("`{id}` is not a tool id: write `server:tool`{hint}");
        let mut finding = self
            .script
            .finding(Rule::UnknownTool, written.span(), message);
        if let ([only], &Written::Id(span)) = (named.as_slice(), written) {
            finding.fix = Some(
                self.script
                    .fix(span, quoted(only), format!("call `{only}`")),
            );
        }
        self.findings.push(finding);
    }

    /// Whether anything can be said about the tools of a server.
    fn known_server(&mut self, server: &str, tool: Option<&str>, written: &Written) -> bool {
        let mut fix = None;
        let message = match self.catalog.server(server) {
            Some(ServerState::Listed) => return true,
            Some(ServerState::Silent) => return false,
            Some(ServerState::Disabled) => {
                format!("the server `{server}` is disabled in the configuration")
            }
            None => {
                let known: Vec<&str> = self.catalog.servers().map(|(name, _)| name).collect();
                let meant = names::typo_of(server, known.iter().copied());
                fix = meant.and_then(|meant| {
                    let (span, text) = written.with_server(meant, tool)?;
                    let about = format!("use the server `{meant}`");
                    Some(self.script.fix(span, text, about))
                });
                let hint = match (meant, known.is_empty()) {
                    (Some(meant), _) => format!("; did you mean `{meant}`?"),
                    (None, true) => "; the configuration has none".to_owned(),
                    (None, false) => {
                        let shown = &known[..known.len().min(12)];
                        format!("; there is {}", names::list(shown, "and"))
                    }
                };
                format!("there is no server `{server}`{hint}")
            }
        };
        let mut finding = self
            .script
            .finding(Rule::UnknownServer, written.server_span(), message);
        finding.fix = fix;
        self.findings.push(finding);
        false
    }
}

fn nothing(span: Span) -> Literal {
    Literal {
        span,
        value: Known::Object {
            fields: Vec::new(),
            whole: true,
        },
    }
}

/// What a function gives back, without the functions inside it.
struct Returned(Vec<Expr>);

impl Visit for Returned {
    fn visit_return_stmt(&mut self, statement: &ReturnStmt) {
        self.0.extend(statement.arg.as_deref().cloned());
    }

    fn visit_arrow_expr(&mut self, _: &swc_core::ecma::ast::ArrowExpr) {}

    fn visit_function(&mut self, _: &swc_core::ecma::ast::Function) {}
}
