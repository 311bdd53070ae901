//! The `return` statements outside any function, for tools that know modules only.

use swc_core::common::sync::Lrc;
use swc_core::common::{BytePos, GLOBALS, Globals, SourceMap};
use swc_core::ecma::ast::{ArrowExpr, Class, Function, ReturnStmt};
use swc_core::ecma::visit::{Visit, VisitWith};

use crate::transpile::parse_script;

/// The script with each `return` outside any function as a `throw`, which ends it as well. The TypeScript
/// compiler does not look inside of such a `return`. Positions stay, except behind a `return` without a
/// value. `None` if there is no such `return`, or the text is not a script.
pub fn returns_as_throws(name: &str, source: &str) -> Option<String> {
    let returns = GLOBALS.set(&Globals::new(), || {
        let map: Lrc<SourceMap> = Lrc::default();
        let module = parse_script(&map, name, source).ok()?;
        let mut found = Returns(Vec::new());
        module.visit_with(&mut found);
        let place = |(at, has_value)| {
            let place = map.lookup_char_pos(at);
            (place.line, place.col.0, has_value)
        };
        Some(found.0.into_iter().map(place).collect::<Vec<_>>())
    })?;
    if returns.is_empty() {
        return None;
    }
    let mut lines: Vec<String> = source.split('\n').map(str::to_owned).collect();
    // From the end, so that a longer text does not move the places that follow.
    for (line, column, has_value) in returns.into_iter().rev() {
        let text = lines.get_mut(line.checked_sub(1)?)?;
        let at = text.char_indices().nth(column)?.0;
        if !text[at..].starts_with("return") {
            return None;
        }
        let throw = if has_value { "throw " } else { "throw 0" };
        text.replace_range(at..at + "return".len(), throw);
    }
    Some(lines.join("\n"))
}

struct Returns(Vec<(BytePos, bool)>);

impl Visit for Returns {
    fn visit_function(&mut self, _: &Function) {}

    fn visit_arrow_expr(&mut self, _: &ArrowExpr) {}

    fn visit_class(&mut self, _: &Class) {}

    fn visit_return_stmt(&mut self, statement: &ReturnStmt) {
        self.0.push((statement.span.lo, statement.arg.is_some()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_return_of_the_script_becomes_a_throw_at_the_same_place() {
        let source = "if (a) { return }\nconst f = () => { return 1 };\n\u{e9}: return s.foo";
        let expected = "if (a) { throw 0 }\nconst f = () => { return 1 };\n\u{e9}: throw  s.foo";
        assert_eq!(returns_as_throws("a.ts", source).as_deref(), Some(expected));
        assert_eq!(
            returns_as_throws("a.ts", "const f = () => { return 1 }"),
            None
        );
        assert_eq!(returns_as_throws("a.ts", "return return"), None);
    }
}
