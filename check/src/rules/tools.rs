//! Unknown servers and tools, and arguments that do not fit a tool's input schema.

use pml_catalog::{Catalog, CatalogTool, ListingStatus};
use pml_nearest::{quoted_list, similar, typo_of};
use swc_core::common::{Span, Spanned};
use swc_core::ecma::ast::{ArrowFunctionBody, CallExpr, Callee, Expr, ExprOrSpread, ReturnStmt};
use swc_core::ecma::visit::{Visit, VisitWith};

use crate::api_bindings::{ApiReference, property_name};
use crate::finding::{Finding, Rule};
use crate::literal::{self, KnownValue, Literal};
use crate::parsed_script::ParsedScript;
use crate::rules::tool_reference::{NamePart, ToolReference, quoted};
use crate::validate::validate;

/// Servers that a message lists.
const MAX_LISTED: usize = 12;

/// Reports tool calls that the catalog refutes.
pub fn check(script: &ParsedScript<'_>, catalog: &Catalog) -> Vec<Finding> {
    let mut visitor = Visitor {
        script,
        catalog,
        parsed: Vec::new(),
        findings: Vec::new(),
    };
    script.module.visit_with(&mut visitor);
    visitor.findings
}

struct Visitor<'a, 'b> {
    script: &'a ParsedScript<'b>,
    catalog: &'a Catalog,
    /// Tools whose schemas are already parsed: scripts call few tools often.
    parsed: Vec<CatalogTool>,
    findings: Vec<Finding>,
}

impl Visit for Visitor<'_, '_> {
    fn visit_call_expr(&mut self, call: &CallExpr) {
        if let Callee::Expr(callee) = &call.callee {
            match self.script.api().resolve(self.script, callee) {
                Some(ApiReference::Tool { server, tool }) => {
                    let reference = match literal::without_casts(callee) {
                        Expr::Member(member) => ToolReference::Member {
                            server: match literal::without_casts(&member.obj) {
                                Expr::Member(server) => Some(NamePart::of(server)),
                                _ => None,
                            },
                            tool: NamePart::of(member),
                        },
                        other => ToolReference::Alias(other.span()),
                    };
                    let id = format!("{server}:{tool}");
                    self.call(&id, &reference, Arguments::of(call.args.first()), call.span);
                }
                Some(ApiReference::Name(name)) => self.named(&name, call),
                _ => {}
            }
        }
        call.visit_children_with(self);
    }
}

/// The arguments of a call.
enum Arguments<'a> {
    /// The script passes nothing, which is the same as `{}`.
    None,
    Given(&'a Expr),
    /// Spread into the call.
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
                    let reference = ToolReference::Id(first.expr.span());
                    self.call(&id, &reference, Arguments::of(call.args.get(1)), call.span);
                }
            }
            "describeTool" | "streamTool" => {
                if let Some(id) = literal::text(&first.expr) {
                    self.known_tool(&id, &ToolReference::Id(first.expr.span()));
                }
            }
            "callToolsBatch" => self.batch(&first.expr),
            "listResources" | "readResource" | "listPrompts" | "getPrompt" => {
                if let Some(server) = literal::text(&first.expr) {
                    self.known_server(&server, None, &ToolReference::Id(first.expr.span()));
                }
            }
            _ => {}
        }
    }

    /// An array literal of calls, or a `map` that returns such calls.
    fn batch(&mut self, calls: &Expr) {
        match literal::without_casts(calls) {
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
                let is_map = matches!(literal::without_casts(callee), Expr::Member(member)
                    if property_name(&member.prop).as_deref() == Some("map"));
                if is_map
                    && let Some(function) = call.args.first()
                    && let Expr::Arrow(arrow) = literal::without_casts(&function.expr)
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
        let KnownValue::Object { fields, complete } = &literal.value else {
            return;
        };
        let find = |name: &str| fields.iter().find(|field| field.name == name);
        let Some(tool) = find("tool") else {
            return;
        };
        let KnownValue::Text(Some(id)) = &tool.value.value else {
            return;
        };
        let reference = ToolReference::Id(tool.value.span);
        let Some(known) = self.known_tool(id, &reference) else {
            return;
        };
        match find("args") {
            Some(args) => self.check_arguments(id, known, &args.value),
            None if *complete => self.check_arguments(id, known, &empty_object(literal.span)),
            None => {}
        }
    }

    fn call(&mut self, id: &str, reference: &ToolReference, arguments: Arguments<'_>, span: Span) {
        let Some(known) = self.known_tool(id, reference) else {
            return;
        };
        match arguments {
            Arguments::Unknown => {}
            Arguments::None => self.check_arguments(id, known, &empty_object(span)),
            Arguments::Given(expr) => self.check_arguments(id, known, &literal::read(expr)),
        }
    }

    /// `tool` is an index into `parsed`.
    fn check_arguments(&mut self, id: &str, tool: usize, arguments: &Literal) {
        let empty;
        let arguments = match arguments.value {
            // Without arguments, a tool receives `{}`.
            KnownValue::Undefined | KnownValue::Null => {
                empty = empty_object(arguments.span);
                &empty
            }
            _ => arguments,
        };
        let violations = match arguments.value {
            KnownValue::Unknown => return,
            KnownValue::Object { .. } => validate(&self.parsed[tool].input_schema, arguments),
            _ => {
                let message = format!("{id} takes an object of named arguments");
                let rule = Rule::WrongArguments;
                self.findings
                    .push(self.script.finding(rule, arguments.span, message));
                return;
            }
        };
        for violation in violations {
            let message = format!("{id}: {}", violation.message);
            let mut finding = self
                .script
                .finding(Rule::WrongArguments, violation.span, message);
            finding.fix = violation.fix.map(|(span, text)| {
                let about = format!("write `{text}`");
                self.script.fix(span, text, about)
            });
            self.findings.push(finding);
        }
    }

    /// The index of a tool in `parsed`, or a finding that there is no such tool. The tools of a
    /// server that did not answer are not checked.
    fn known_tool(&mut self, id: &str, reference: &ToolReference) -> Option<usize> {
        // A version behind the id, `server:tool@2`, is checked when the call is made.
        let name = id.find(':').unwrap_or(id.len());
        let id = id[name..].find('@').map_or(id, |at| &id[..name + at]);
        if let Some(index) = self.parsed.iter().position(|tool| tool.id == id) {
            return Some(index);
        }
        let Some((server, tool)) = id
            .split_once(':')
            .filter(|(a, b)| !a.is_empty() && !b.is_empty())
        else {
            self.malformed(id, reference);
            return None;
        };
        if !self.known_server(server, Some(tool), reference) {
            return None;
        }
        if let Some(tool) = self.catalog.tool(id) {
            self.parsed.push(tool);
            return Some(self.parsed.len() - 1);
        }
        let prefix = format!("{server}:");
        let of_server = || {
            self.catalog
                .ids()
                .filter_map(|known| known.strip_prefix(&prefix))
        };
        let meant = typo_of(tool, of_server());
        let hint = match meant {
            Some(meant) => format!("; did you mean `{server}:{meant}`?"),
            None => {
                let near = similar(id, self.catalog.ids(), 3);
                match near.is_empty() {
                    true => format!("; `pml tools {server}` lists the tools"),
                    false => format!("; the nearest are {}", quoted_list(&near, "and")),
                }
            }
        };
        let message = format!("there is no tool `{id}`{hint}");
        let mut finding = self
            .script
            .finding(Rule::UnknownTool, reference.span(), message);
        finding.fix = meant.and_then(|meant| {
            let (span, text) = reference.with_tool(server, meant)?;
            let about = format!("call `{server}:{meant}`");
            Some(self.script.fix(span, text, about))
        });
        self.findings.push(finding);
        None
    }

    fn malformed(&mut self, id: &str, reference: &ToolReference) {
        let suffix = format!(":{id}");
        let named: Vec<&str> = self
            .catalog
            .ids()
            .filter(|known| known.ends_with(&suffix))
            .take(3)
            .collect();
        let hint = match named.is_empty() {
            true => String::new(),
            false => format!(", such as {}", quoted_list(&named, "or")),
        };
        let message = format!("`{id}` is not a tool id: write `server:tool`{hint}");
        let mut finding = self
            .script
            .finding(Rule::UnknownTool, reference.span(), message);
        if let ([only], &ToolReference::Id(span)) = (named.as_slice(), reference) {
            finding.fix = Some(
                self.script
                    .fix(span, quoted(only), format!("call `{only}`")),
            );
        }
        self.findings.push(finding);
    }

    /// Whether the tools of a server are known.
    fn known_server(
        &mut self,
        server: &str,
        tool: Option<&str>,
        reference: &ToolReference,
    ) -> bool {
        let mut fix = None;
        let message = match self.catalog.server(server) {
            Some(ListingStatus::Listed) => return true,
            Some(ListingStatus::Silent) => return false,
            Some(ListingStatus::Disabled) => {
                format!("the server `{server}` is disabled in the configuration")
            }
            None => {
                let known: Vec<&str> = self.catalog.servers().map(|(name, _)| name).collect();
                let meant = typo_of(server, known.iter().copied());
                fix = meant.and_then(|meant| {
                    let (span, text) = reference.with_server(meant, tool)?;
                    let about = format!("use the server `{meant}`");
                    Some(self.script.fix(span, text, about))
                });
                let hint = match (meant, known.is_empty()) {
                    (Some(meant), _) => format!("; did you mean `{meant}`?"),
                    (None, true) => "; the configuration has none".to_owned(),
                    (None, false) => {
                        let shown = &known[..known.len().min(MAX_LISTED)];
                        format!("; there is {}", quoted_list(shown, "and"))
                    }
                };
                format!("there is no server `{server}`{hint}")
            }
        };
        let mut finding =
            self.script
                .finding(Rule::UnknownServer, reference.server_span(), message);
        finding.fix = fix;
        self.findings.push(finding);
        false
    }
}

fn empty_object(span: Span) -> Literal {
    Literal {
        span,
        value: KnownValue::Object {
            fields: Vec::new(),
            complete: true,
        },
    }
}

/// The values that a function returns, without those of nested functions.
struct Returned(Vec<Expr>);

impl Visit for Returned {
    fn visit_return_stmt(&mut self, statement: &ReturnStmt) {
        self.0.extend(statement.arg.as_deref().cloned());
    }

    fn visit_arrow_expr(&mut self, _: &swc_core::ecma::ast::ArrowExpr) {}

    fn visit_function(&mut self, _: &swc_core::ecma::ast::Function) {}
}
