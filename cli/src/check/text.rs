//! Findings for a person.

use pml_check::report::CheckedFile;
use pml_runtime::frame;

use crate::paint::Paint;

pub fn render(sources: &[(String, String)], checked: &[CheckedFile]) -> String {
    let paint = Paint::for_stdout();
    let mut out = String::new();
    for (one, (_, source)) in checked.iter().zip(sources) {
        for finding in &one.findings {
            let place = format!(
                "{}:{}:{}",
                one.file, finding.start.line, finding.start.column
            );
            let rule = paint.dim(&format!("[{}]", finding.rule.name()));
            out.push_str(&format!(
                "{} {} {rule}\n",
                paint.red(&place),
                finding.message
            ));
            if let Some(frame) = frame::render(source, finding.start.line, finding.start.column) {
                out.push_str(&format!("\n{}\n", paint.frame(&frame)));
            }
            if let Some(fix) = &finding.fix {
                out.push_str(&format!("\n{} {}\n", paint.cyan("fix:"), fix.about));
            }
            out.push('\n');
        }
    }
    let count: usize = checked.iter().map(|one| one.findings.len()).sum();
    let files = checked.len();
    let (mistakes, scripts) = (plural(count, "mistake"), plural(files, "script"));
    out.push_str(&match count {
        0 => paint.green(&format!("no mistakes in {scripts}\n")),
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
