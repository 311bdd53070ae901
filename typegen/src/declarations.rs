//! Generates the `.d.ts` file of a configuration.
//!
//! It declares interfaces that merge with those of `typings/pml.d.ts`: `ToolServers`, the type of
//! `tools`, and `KnownTools`, in which `callTool` and `callToolsBatch` look up their ids.

use std::collections::HashSet;

use crate::ToolSchemas;
use crate::print::{MultiLinePrinter, clean, comment, gap_before, key, method, pascal, quoted};
use crate::read::Schema;
use crate::signature::is_optional;
use crate::type_graph::{Doc, Object, Type, TypeGraph};

/// Characters of a tool's description.
const MAX_DESCRIPTION: usize = 6_000;
/// A tool with a longer name is left out.
const MAX_NAME: usize = 200;
/// The namespace of all generated names, so that they cannot clash with others.
const NAMESPACE: &str = "PmlTools";

const HEAD: &str = "\
// Types of the tools of this configuration. Made by `pml types`: do not edit, run it again.
//
// Beside your scripts, a tsconfig.json that extends pml's and includes this file gives them to an
// editor and to `tsc`.
";

/// Returns the whole file. The tools of a server are grouped, in the order given.
pub fn declarations(tools: &[ToolSchemas<'_>]) -> String {
    let mut servers: Vec<(&str, Vec<&ToolSchemas<'_>>)> = Vec::new();
    let mut left_out = 0;
    let mut ids = HashSet::new();
    for tool in tools {
        // Two methods of one name would be overloads, and two properties an error.
        if tool.name.len() > MAX_NAME
            || tool.server.len() > MAX_NAME
            || !ids.insert((tool.server, tool.name))
        {
            left_out += 1;
            continue;
        }
        match servers
            .iter_mut()
            .find(|(server, _)| *server == tool.server)
        {
            Some((_, of_server)) => of_server.push(tool),
            None => servers.push((tool.server, vec![tool])),
        }
    }
    let mut names = UniqueNames::default();
    let namespaces: Vec<String> = servers
        .iter()
        .map(|(server, _)| names.unique(pascal(server)))
        .collect();
    let mut out = HEAD.to_owned();
    if left_out > 0 {
        out.push_str(&format!(
            "// Left out: {left_out}, for a name that is too long or given twice.\n"
        ));
    }

    out.push_str("\ninterface ToolServers {\n");
    for ((server, tools), namespace) in servers.iter().zip(&namespaces) {
        let count = if tools.len() == 1 {
            "1 tool".to_owned()
        } else {
            format!("{} tools", tools.len())
        };
        out.push_str(&format!(
            "  /** {count}. */\n  readonly {}: {NAMESPACE}.{namespace}.Tools;\n",
            key(server)
        ));
    }
    out.push_str("}\n\ninterface KnownTools {\n");
    let mut body = String::new();
    for ((_, tools), namespace) in servers.iter().zip(&namespaces) {
        body.push_str(&format!("\ndeclare namespace {NAMESPACE}.{namespace} {{\n"));
        let mut names = UniqueNames::default();
        names.unique("Tools".to_owned());
        let mut methods = String::new();
        let mut types = String::new();
        for tool in tools {
            let declared = ToolDeclaration::new(tool, &mut names);
            types.push_str(&declared.types);
            methods.push_str(&declared.method);
            out.push_str(&declared.known_tools_entry(tool, namespace));
        }
        body.push_str(&format!("  interface Tools {{\n{methods}  }}\n{types}}}\n"));
    }
    out.push_str("}\n");
    out.push_str(&body);
    out
}

/// The names that are taken in one namespace.
#[derive(Default)]
struct UniqueNames(HashSet<String>);

impl UniqueNames {
    /// Takes `wanted`, or the first of `wanted2`, `wanted3`, … that is free.
    fn unique(&mut self, wanted: String) -> String {
        let mut name = wanted.clone();
        let mut count = 2;
        while !self.0.insert(name.clone()) {
            name = format!("{wanted}{count}");
            count += 1;
        }
        name
    }
}

/// The declarations of one tool.
struct ToolDeclaration {
    /// Its method in the server's interface.
    method: String,
    /// The types that the method refers to.
    types: String,
    args: String,
    args_optional: bool,
    result: String,
}

impl ToolDeclaration {
    fn new(tool: &ToolSchemas<'_>, names: &mut UniqueNames) -> Self {
        let mut types = TypeDeclarations {
            prefix: pascal(tool.name),
            names,
            out: String::new(),
        };
        let input = Schema::whole(tool.input).read();
        let args_optional = is_optional(&input.root, &input.named);
        let args = declare_args(tool, &input, &mut types);
        let is_observed = tool.output.is_none() && tool.observed.is_some();
        let result = match tool.output.or(tool.observed) {
            None => "unknown".to_owned(),
            Some(schema) => {
                let about = format!("Result of `{}:{}`.", tool.server, tool.name);
                let about = match is_observed {
                    true => format!(
                        "{about} Observed: the server does not declare it, and others may look different."
                    ),
                    false => about,
                };
                declare_result(&Schema::whole(schema).read(), about, &mut types)
            }
        };
        let mut doc = Doc {
            text: clean(tool.description, MAX_DESCRIPTION),
            tags: Vec::new(),
        };
        if is_observed {
            doc.tags.push((
                "observed".to_owned(),
                "the type of the result was learned from earlier calls; the server does not declare it".to_owned(),
            ));
        }
        // Without a declared result, the script may supply a type of its own.
        let generic = match (tool.output, is_observed) {
            (Some(_), _) => (String::new(), result.clone()),
            _ => (format!("<T = {result}>"), "T".to_owned()),
        };
        let mark = if args_optional { "?" } else { "" };
        let or_null = if args_optional { " | null" } else { "" };
        let method = format!(
            "{}    {}{}(args{mark}: {args}{or_null}): Promise<{}>;\n",
            comment(&doc, "    "),
            method(tool.name),
            generic.0,
            generic.1,
        );
        Self {
            method,
            types: types.out,
            args,
            args_optional,
            result,
        }
    }

    /// Its line in `KnownTools`.
    fn known_tools_entry(&self, tool: &ToolSchemas<'_>, namespace: &str) -> String {
        let id = quoted(&format!("{}:{}", tool.server, tool.name));
        let qualified = |name: &str| {
            let is_declared =
                name.starts_with(|c: char| c.is_ascii_uppercase()) && !name.starts_with("Record<");
            match is_declared {
                true => format!("{NAMESPACE}.{namespace}.{name}"),
                false => name.to_owned(),
            }
        };
        let args = qualified(&self.args);
        let args = match self.args_optional {
            true => format!("[args?: {args} | null]"),
            false => format!("[args: {args}]"),
        };
        // `any` lets a script use an unknown result without a cast.
        let result = match self.result.as_str() {
            "unknown" => "any".to_owned(),
            result => qualified(result),
        };
        format!("  {id}: {{ args: {args}; result: {result} }};\n")
    }
}

/// Returns the type of a tool's arguments, declared if it has more to it than being an object.
fn declare_args(
    tool: &ToolSchemas<'_>,
    input: &TypeGraph,
    types: &mut TypeDeclarations<'_>,
) -> String {
    let about = format!("Arguments of `{}:{}`.", tool.server, tool.name);
    match &input.root {
        Type::Unknown => "object".to_owned(),
        Type::Object(Object {
            fields,
            index_signature,
            closed,
        }) if fields.is_empty() => match index_signature.as_deref() {
            Some(index) if index.ty != Type::Unknown || !index.doc.is_empty() => {
                types.declare(input, "Args", about)
            }
            None if *closed => "Record<string, never>".to_owned(),
            _ => "object".to_owned(),
        },
        _ => types.declare(input, "Args", about),
    }
}

/// Returns the type of a tool's result, declared if it is compound.
fn declare_result(output: &TypeGraph, about: String, types: &mut TypeDeclarations<'_>) -> String {
    match &output.root {
        Type::Object(_)
        | Type::Union(_)
        | Type::Intersection(_)
        | Type::Tuple(_)
        | Type::Array(_) => types.declare(output, "Result", about),
        simple => {
            let (names, definitions) = types.declare_named(output);
            types.out.push_str(&definitions);
            MultiLinePrinter {
                names: &names,
                indent: String::new(),
            }
            .print(simple)
        }
    }
}

/// Collects the type declarations of one tool.
struct TypeDeclarations<'a> {
    /// The beginning of every declared name: the tool's name.
    prefix: String,
    names: &'a mut UniqueNames,
    out: String,
}

impl TypeDeclarations<'_> {
    /// Declares the root of a graph and all its named types; returns the root's name.
    fn declare(&mut self, graph: &TypeGraph, suffix: &str, about: String) -> String {
        let root = self.names.unique(format!("{}{suffix}", self.prefix));
        let (names, definitions) = self.declare_named(graph);
        let mut doc = graph.doc.clone();
        let about = clean(&about, MAX_DESCRIPTION);
        doc.text = match doc.text.is_empty() {
            true => about,
            false => format!("{about}\n\n{}", doc.text),
        };
        self.out
            .push_str(&declaration(&root, &graph.root, &doc, &names));
        self.out.push_str(&definitions);
        root
    }

    /// Names all named types of a graph; returns the names and the text that declares them.
    fn declare_named(&mut self, graph: &TypeGraph) -> (Vec<String>, String) {
        let names: Vec<String> = graph
            .named
            .iter()
            .map(|named| {
                let name = format!("{}{}", self.prefix, pascal(&named.name));
                self.names.unique(name)
            })
            .collect();
        let mut definitions = String::new();
        for (named, name) in graph.named.iter().zip(&names) {
            definitions.push_str(&declaration(name, &named.ty, &named.doc, &names));
        }
        (names, definitions)
    }
}

fn declaration(name: &str, ty: &Type, doc: &Doc, names: &[String]) -> String {
    let printer = MultiLinePrinter {
        names,
        indent: "  ".to_owned(),
    };
    let comment = comment(doc, "  ");
    match ty {
        Type::Object(object) if !object.fields.is_empty() || object.index_signature.is_some() => {
            format!(
                "\n{comment}  interface {name} {{\n{}  }}\n",
                printer.members(object)
            )
        }
        ty => {
            let ty = printer.print(ty);
            let gap = gap_before(&ty);
            format!("\n{comment}  type {name} ={gap}{ty};\n")
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_server_becomes_an_interface_with_its_tools_and_their_types() {
        let input = json!({
            "type": "object",
            "properties": {
                "path": { "type": "string", "description": "Where.", "minLength": 1 },
                "kind": { "enum": ["a", "b"], "default": "a" },
                "tree": { "$ref": "#/$defs/Node" },
            },
            "required": ["path"],
            "$defs": { "Node": { "type": "object", "properties": {
                "children": { "type": "array", "items": { "$ref": "#/$defs/Node" } },
            } } },
        });
        let tools = [
            ToolSchemas {
                server: "my-fs",
                name: "read_file",
                description: "Read a file.",
                input: &input,
                output: Some(&json!({ "type": "string" })),
                observed: None,
            },
            ToolSchemas {
                server: "my-fs",
                name: "new",
                description: "",
                input: &json!({ "type": "object", "properties": {} }),
                output: None,
                observed: Some(&json!({ "type": "array", "items": { "type": "number" } })),
            },
        ];
        let expected = r#"
interface ToolServers {
  /** 2 tools. */
  readonly "my-fs": PmlTools.MyFs.Tools;
}

interface KnownTools {
  "my-fs:read_file": { args: [args: PmlTools.MyFs.ReadFileArgs]; result: string };
  "my-fs:new": { args: [args?: object | null]; result: PmlTools.MyFs.NewResult };
}

declare namespace PmlTools.MyFs {
  interface Tools {
    /** Read a file. */
    read_file(args: ReadFileArgs): Promise<string>;
    /** @observed the type of the result was learned from earlier calls; the server does not declare it */
    "new"<T = NewResult>(args?: object | null): Promise<T>;
  }

  /** Arguments of `my-fs:read_file`. */
  interface ReadFileArgs {
    /** Where. @minLength 1 */
    path: string;
    /** @default "a" */
    kind?: "a" | "b";
    tree?: ReadFileNode;
  }

  interface ReadFileNode {
    children?: ReadFileNode[];
  }

  /**
   * Result of `my-fs:new`. Observed: the server does not declare it, and others may look
   * different.
   */
  type NewResult = number[];
}
"#;
        let printed = declarations(&tools);
        let printed = printed.strip_prefix(HEAD).unwrap_or(&printed);
        assert_eq!(printed, expected, "{printed}");
    }
}
