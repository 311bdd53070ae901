//! The report of `pml check` for people.

use pml_check::report::CheckedFile;
use pml_script::code_frame;

use crate::style::Style;

pub fn render(sources: &[(String, String)], checked: &[CheckedFile]) -> String {
    let style = Style::for_stdout();
    let mut out = String::new();
    for (one, (_, source)) in checked.iter().zip(sources) {
        for finding in &one.findings {
            let place = format!(
                "{}:{}:{}",
                one.file, finding.start.line, finding.start.column
            );
            let rule = style.dim(&format!("[{}]", finding.rule.name()));
            out.push_str(&format!(
                "{} {} {rule}\n",
                style.red(&place),
                finding.message
            ));
            if let Some(frame) =
                code_frame::render(source, finding.start.line, finding.start.column)
            {
                out.push_str(&format!("\n{}\n", style.frame(&frame)));
            }
            if let Some(fix) = &finding.fix {
                out.push_str(&format!("\n{} {}\n", style.cyan("fix:"), fix.about));
            }
            out.push('\n');
        }
    }
    let count: usize = checked.iter().map(|one| one.findings.len()).sum();
    let files = checked.len();
    let (mistakes, scripts) = (plural(count, "mistake"), plural(files, "script"));
    out.push_str(&match count {
        0 => style.green(&format!("no mistakes in {scripts}\n")),
        _ => format!("{mistakes} in {scripts}\n"),
    });
    out
}

fn plural(count: usize, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        _ => format!("{count} {noun}s"),
    }
}
