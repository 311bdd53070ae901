//! A `.d.ts` file for all tools of a configuration.
//!
//! It declares interfaces that merge with those of `typings/pml.d.ts`: `ToolServers`, the type of
//! `tools`, and `KnownTools`, which `callTool` and `callToolsBatch` look their ids up in.

use std::collections::HashSet;

use crate::ToolTypes;
use crate::model::{Doc, Model, Object, Type};
use crate::print::{Block, clean, comment, gap_before, key, method, pascal, quoted};
use crate::read::Schema;
use crate::signature::is_optional;

/// Characters of a tool's description.
const MAX_DESCRIPTION: usize = 6_000;
/// A tool with a longer name is left out.
const MAX_NAME: usize = 200;
/// Where all generated names live, so that they meet no other.
const NAMESPACE: &str = "PmlTools";

const HEAD: &str = "\
// Types of the tools of this configuration. Made by `pml types`: do not edit, run it again.
//
// Beside your scripts, a tsconfig.json that extends pml's and includes this file gives them to an
// editor and to `tsc`.
";

/// The whole file. Tools of one server stand together, in the order given.
pub fn declarations(tools: &[ToolTypes<'_>]) -> String {
    let mut servers: Vec<(&str, Vec<&ToolTypes<'_>>)> = Vec::new();
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
    let mut names = Names::default();
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
        let mut names = Names::default();
        names.unique("Tools".to_owned());
        let mut methods = String::new();
        let mut types = String::new();
        for tool in tools {
            let printed = Printed::of(tool, &mut names);
            types.push_str(&printed.types);
            methods.push_str(&printed.method);
            out.push_str(&printed.entry(tool, namespace));
        }
        body.push_str(&format!("  interface Tools {{\n{methods}  }}\n{types}}}\n"));
    }
    out.push_str("}\n");
    out.push_str(&body);
    out
}

/// Names that are taken in one namespace.
#[derive(Default)]
struct Names(HashSet<String>);

impl Names {
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

/// One tool in the file.
struct Printed {
    /// Its line in the server's interface.
    method: String,
    /// The declarations it needs.
    types: String,
    args: String,
    args_optional: bool,
    result: String,
}

impl Printed {
    fn of(tool: &ToolTypes<'_>, names: &mut Names) -> Self {
        let stem = pascal(tool.name);
        let mut types = String::new();
        let input = Schema::whole(tool.input).read();
        let args_optional = is_optional(&input.root, &input.named);
        let about = format!("Arguments of `{}:{}`.", tool.server, tool.name);
        let args = match &input.root {
            Type::Unknown => "object".to_owned(),
            Type::Object(Object {
                fields,
                others,
                closed,
            }) if fields.is_empty() => match others.as_deref() {
                Some(others) if others.ty != Type::Unknown || !others.doc.is_empty() => {
                    declare(&input, &stem, "Args", about, names, &mut types)
                }
                None if *closed => "Record<string, never>".to_owned(),
                _ => "object".to_owned(),
            },
            _ => declare(&input, &stem, "Args", about, names, &mut types),
        };
        let source = tool.output.or(tool.observed);
        let mut doc = Doc {
            text: clean(tool.description, MAX_DESCRIPTION),
            tags: Vec::new(),
        };
        let is_observed = tool.output.is_none() && tool.observed.is_some();
        let result = match source {
            None => "unknown".to_owned(),
            Some(schema) => {
                let output = Schema::whole(schema).read();
                let about = format!("Result of `{}:{}`.", tool.server, tool.name);
                let about = match is_observed {
                    true => format!(
                        "{about} Observed: the server does not declare it, and others may look different."
                    ),
                    false => about,
                };
                match output.root {
                    Type::Object(_)
                    | Type::Union(_)
                    | Type::Intersection(_)
                    | Type::Tuple(_)
                    | Type::Array(_) => declare(&output, &stem, "Result", about, names, &mut types),
                    ref simple => {
                        let mut others = String::new();
                        let names = declare_named(&output, &stem, names, &mut others);
                        types.push_str(&others);
                        Block {
                            names: &names,
                            indent: String::new(),
                        }
                        .print(simple)
                    }
                }
            }
        };
        if is_observed {
            doc.tags.push((
                "observed".to_owned(),
                "the type of the result was learned from earlier calls; the server does not declare it".to_owned(),
            ));
        }
        // What the server does not promise, a script may claim to know better.
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
            types,
            args,
            args_optional,
            result,
        }
    }

    /// Its line in `KnownTools`.
    fn entry(&self, tool: &ToolTypes<'_>, namespace: &str) -> String {
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
        // An unknown result is what the script takes it for.
        let result = match self.result.as_str() {
            "unknown" => "any".to_owned(),
            result => qualified(result),
        };
        format!("  {id}: {{ args: {args}; result: {result} }};\n")
    }
}

/// Declares the root of a model and all it refers to; gives the root's name.
fn declare(
    model: &Model,
    stem: &str,
    suffix: &str,
    about: String,
    names: &mut Names,
    out: &mut String,
) -> String {
    let root = names.unique(format!("{stem}{suffix}"));
    let mut others = String::new();
    let known = declare_named(model, stem, names, &mut others);
    let mut doc = model.doc.clone();
    let about = clean(&about, MAX_DESCRIPTION);
    doc.text = match doc.text.is_empty() {
        true => about,
        false => format!("{about}\n\n{}", doc.text),
    };
    out.push_str(&declaration(&root, &model.root, &doc, &known));
    out.push_str(&others);
    root
}

/// Declares what a model refers to; gives the names.
fn declare_named(model: &Model, stem: &str, names: &mut Names, out: &mut String) -> Vec<String> {
    let known: Vec<String> = model
        .named
        .iter()
        .map(|named| names.unique(format!("{stem}{}", pascal(&named.name))))
        .collect();
    for (named, name) in model.named.iter().zip(&known) {
        out.push_str(&declaration(name, &named.ty, &named.doc, &known));
    }
    known
}

fn declaration(name: &str, ty: &Type, doc: &Doc, names: &[String]) -> String {
    let block = Block {
        names,
        indent: "  ".to_owned(),
    };
    let comment = comment(doc, "  ");
    match ty {
        Type::Object(object) if !object.fields.is_empty() || object.others.is_some() => {
            format!(
                "\n{comment}  interface {name} {{\n{}  }}\n",
                block.members(object)
            )
        }
        ty => {
            let ty = block.print(ty);
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
            ToolTypes {
                server: "my-fs",
                name: "read_file",
                description: "Read a file.",
                input: &input,
                output: Some(&json!({ "type": "string" })),
                observed: None,
            },
            ToolTypes {
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
