//! Hints for mistakes that come from other languages and other code modes.
//!
//! A script that fails is looked at once more: a name that is not defined, or a line that does not parse,
//! often shows what its author had in mind.

/// Names of Python and of other code modes, with what to write instead.
const NAMES: &[(&[&str], &str)] = &[
    (
        &["print", "println", "puts", "printf"],
        "This is TypeScript: write console.log(…), or return the value.",
    ),
    (&["len"], "Write value.length."),
    (&["None", "nil"], "Write null."),
    (&["True"], "Write true."),
    (&["False"], "Write false."),
    (&["str"], "Write String(value)."),
    (&["int", "float"], "Write Number(value)."),
    (&["list"], "Write Array.from(values) or [...values]."),
    (
        &["dict"],
        "Write Object.fromEntries(pairs) or { key: value }.",
    ),
    (
        &["range"],
        "Write for (let i = 0; i < n; i++) or Array.from({ length: n }, (_, i) => i).",
    ),
    (
        &["enumerate", "zip"],
        "Write list.map((value, index) => …) or list.entries().",
    ),
    (
        &["isinstance", "type"],
        "Write typeof value or value instanceof Class.",
    ),
    (
        &["json"],
        "Write JSON.parse(text) or JSON.stringify(value).",
    ),
    (
        &["sleep"],
        "Write await new Promise((resolve) => setTimeout(resolve, ms)).",
    ),
    (
        &["open"],
        "There are no files here: find a tool with searchTools and call it.",
    ),
    (
        &[
            "call_tool",
            "use_tool",
            "invokeTool",
            "executeTool",
            "mcpCall",
        ],
        "Write await callTool(\"server:tool\", args), or await tools.server.tool(args).",
    ),
    (
        &["search_tools", "find_tools", "findTools"],
        "Write await searchTools(\"what it should do\").",
    ),
    (
        &["describe_tool", "getTool", "get_tool"],
        "Write await describeTool(\"server:tool\").",
    ),
    (
        &["ALL_TOOLS", "listTools", "list_tools", "getTools", "TOOLS"],
        "There is no list of all tools: await searchTools(\"what it should do\") finds them.",
    ),
    (
        &["text", "output", "emit", "respond", "answer", "notify"],
        "Write return value for the result, or console.log(…) for a message.",
    ),
    (
        &["localStorage", "sessionStorage"],
        "Write await store(key, value) and await load(key); they work in a session of pml serve.",
    ),
    (
        &["axios", "got", "request", "requests"],
        "There is no network here: find a tool with searchTools and call it.",
    ),
    (
        &[
            "mcp",
            "codemode",
            "client",
            "servers",
            "mcpClient",
            "session",
        ],
        "A tool is called as await tools.server.tool(args).",
    ),
    (
        &["module", "exports"],
        "Write return value at the end, or export default value.",
    ),
    (
        &["_", "lodash", "z", "dayjs", "moment"],
        "There are no packages: write it in plain JavaScript.",
    ),
];

/// What to write instead of a name that is not defined. `source` is the script.
pub fn undefined_name(name: &str, source: &str) -> Option<String> {
    let known = NAMES.iter().find(|(names, _)| names.contains(&name));
    if let Some((_, advice)) = known {
        return Some((*advice).to_owned());
    }
    // `read_file(path="a")`: keyword arguments.
    if source.contains(&format!("({name}=")) || source.contains(&format!(", {name}=")) {
        return Some(format!(
            "Arguments are one object of names and values: tool({{ {name}: … }})."
        ));
    }
    // `github.create_issue(…)`: the name of a server, without `tools.` before it.
    let method = method_called_on(name, source);
    if let Some(method) = method {
        return Some(format!(
            "If `{name}` is an MCP server, write await tools.{name}.{method}(args); searchTools finds tools."
        ));
    }
    let is_called = source.contains(&format!("{name}("));
    (is_called && name.contains('_')).then(|| {
        format!("If `{name}` is a tool, write await tools.server.{name}(args); searchTools finds its server.")
    })
}

/// The `method` of the first `name.method(` in a script.
fn method_called_on<'a>(name: &str, source: &'a str) -> Option<&'a str> {
    source.match_indices(name).find_map(|(at, _)| {
        if source[..at].ends_with(is_of_name) || source[..at].ends_with('.') {
            return None;
        }
        let rest = source[at + name.len()..].strip_prefix('.')?;
        let end = rest.find(|c| !is_of_name(c))?;
        (end > 0 && rest[end..].starts_with('(')).then_some(&rest[..end])
    })
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// What is wrong with a line that does not parse, if it shows a habit of another language.
pub fn syntax(source: &str, line: u32) -> Option<&'static str> {
    let index = (line as usize).saturating_sub(1);
    let line = source.lines().nth(index)?;
    // The parser often stops at the line after the mistake.
    let before = index
        .checked_sub(1)
        .and_then(|index| source.lines().nth(index));
    habit_of(line).or_else(|| before.and_then(habit_of))
}

fn habit_of(line: &str) -> Option<&'static str> {
    let text = line.trim();
    let has = |part: &str| text.contains(part);
    let begins = |part: &str| text.starts_with(part);
    Some(
        if text.contains(['\u{201c}', '\u{201d}', '\u{2018}', '\u{2019}']) {
            "The quotes are typographic: write straight ones, \" or '."
        } else if is_prose(text) {
            "Send only the code, or put it in a code fence (```ts): text around it is not TypeScript."
        } else if begins("def ") || (begins("async def ")) {
            "This is Python: write function name() { … } in TypeScript."
        } else if begins("elif") || has("} elif") {
            "Write else if (…)."
        } else if has("except") && (begins("except") || has("} except")) {
            "Write catch (error)."
        } else if begins("raise ") {
            "Write throw new Error(message)."
        } else if begins("for ") && has(" in ") && text.ends_with(':') {
            "This is Python: write for (const item of list) { … } in TypeScript."
        } else if (begins("if ") || begins("while ") || begins("with ") || begins("try"))
            && text.ends_with(':')
        {
            "This is Python: write if (…) { … } in TypeScript."
        } else if begins("from ") && has(" import ") {
            "Write import { tools } from \"pml\"; the API is global, so no import is needed."
        } else if begins("import ") && !has("from") && !has("\"") && !has("'") {
            "This is Python: the API and JSON are global, so no import is needed."
        } else if begins("# ") || text == "#" {
            "A comment begins with // in TypeScript."
        } else if has(" for ") && has(" in ") && has("[") {
            "Write list.map((item) => …) or list.filter((item) => …)."
        } else if has("lambda ") {
            "Write an arrow function: (x) => x * 2."
        } else if has(" and ") || has(" or ") {
            "Write && and ||."
        } else if has("not ") && (has("= not ") || has("return not ") || has("(not ")) {
            "Write !value."
        } else if has(" is None") || has(" is not ") || has(" is ") {
            "Write === or !==."
        } else if has("f\"") || has("f'") {
            "Write a template literal: `count ${n}`."
        } else if has("\"\"\"") {
            "Write a comment with //, or a string in backquotes."
        } else if has("[") && has(":") && has("]") && !has("{") && !has("?") {
            "Write list.slice(from, to)."
        } else {
            return None;
        },
    )
}

/// Whether a line is a sentence: words, and few signs of code.
fn is_prose(text: &str) -> bool {
    let words = text.split_whitespace().count();
    let signs = text
        .matches(['(', ')', '{', '}', ';', '=', '[', ']'])
        .count();
    words >= 4 && signs == 0 && text.starts_with(char::is_uppercase)
}

/// A hint for an error that V8 threw, from its message.
pub fn thrown(message: &str, source: &str) -> Option<String> {
    let about = |text: &str| Some(text.to_owned());
    if message.starts_with("SyntaxError: \"[object Object]\" is not valid JSON")
        || message.starts_with("SyntaxError: \"[object Promise]\" is not valid JSON")
    {
        return about(
            "The result of a tool is already parsed: use it as it is, without JSON.parse, after await.",
        );
    }
    if message.starts_with("SyntaxError: ") && message.contains("is not valid JSON") {
        return about("The text is not JSON: look at it with console.log before JSON.parse.");
    }
    let read = message
        .strip_prefix("TypeError: Cannot read properties of undefined (reading '")
        .and_then(|rest| rest.strip_suffix("')"));
    if let Some(key) = read {
        return undefined_read(key, source);
    }
    let callee = message
        .strip_prefix("TypeError: ")
        .and_then(|rest| rest.strip_suffix(" is not a function"))?;
    let method = callee.rsplit('.').next().unwrap_or(callee);
    Some(match method {
        "append" => "Write list.push(value).".to_owned(),
        "get" | "has_key" => {
            "It is a plain object: write object.key or object[\"key\"].".to_owned()
        }
        "items" => "Write Object.entries(object).".to_owned(),
        "strip" => "Write text.trim().".to_owned(),
        "format" => "Write a template literal: `count ${n}`.".to_owned(),
        "map" | "filter" | "forEach" | "find" | "reduce" | "slice" | "some" | "every" | "sort" => {
            "It is not an array. The result of a tool is often an object with the list inside: \
             console.log(Object.keys(value)) shows what it has, for example value.files."
                .to_owned()
        }
        _ => return None,
    })
}

/// `Cannot read properties of undefined`: which step before was too much.
fn undefined_read(key: &str, source: &str) -> Option<String> {
    let has = |step: &str| {
        source.contains(&format!("{step}.{key}")) || source.contains(&format!("{step}["))
    };
    for step in ["structuredContent", "content", "data"] {
        if source.contains(step) {
            return Some(format!(
                "The result of tools.server.tool(args) is the value itself, without `{step}` around it."
            ));
        }
    }
    if has(".result") || source.contains("result }") || source.contains("{ result") {
        return Some(
            "tools.server.tool(args) gives the value itself; only callTool gives { success, result }.".to_owned(),
        );
    }
    if source.contains("callTool(") {
        return Some("callTool gives { success, result }: the value is in `result`.".to_owned());
    }
    Some(
        "The value before it is undefined: console.log what it was read from; a tool's result may have other keys, \
         and a promise needs await."
            .to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_without_tools_before_it_is_named_in_the_hint() {
        let hint = undefined_name("github", "const x = await github.create_issue({});").unwrap();
        assert!(hint.contains("tools.github.create_issue"), "{hint}");
        assert_eq!(undefined_name("foo", "return foo"), None);
        assert_eq!(undefined_name("b", "a.b.c()"), None);
    }

    #[test]
    fn habits_of_python_are_recognized_at_the_line_that_does_not_parse() {
        for (source, part) in [
            ("def main():\n    return 1", "function"),
            ("if (a) { } elif (b) { }", "else if"),
            ("return a and b;", "&&"),
            ("return [x * 2 for x in xs];", "map"),
            ("return xs[1:3];", "slice"),
            ("I will list the files and count them.", "code fence"),
        ] {
            let hint = syntax(source, 1).unwrap_or_default();
            assert!(hint.contains(part), "{source}: {hint}");
        }
        assert_eq!(syntax("const = 3;", 1), None);
        assert_eq!(syntax("", 9), None);
    }

    #[test]
    fn a_parsed_result_needs_no_parsing() {
        let message = "SyntaxError: \"[object Object]\" is not valid JSON";
        assert!(thrown(message, "").unwrap().contains("already parsed"));
    }
}
