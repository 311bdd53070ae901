//! Calls that labels refuse.

use std::sync::Arc;

use crate::{FlowRules, Rule, check_flows};

/// Nothing may be sent after a page was fetched.
struct Rules;

impl FlowRules for Rules {
    fn refusal(&self, earlier: &[String], tool: &str) -> Option<String> {
        let has_read = earlier.iter().any(|tool| tool == "web:fetch");
        (has_read && tool == "mail:send").then(|| "refused".to_owned())
    }
}

fn refused_lines(source: &str) -> Vec<u32> {
    let rules: Arc<dyn FlowRules> = Arc::new(Rules);
    let findings = check_flows("script.ts", source, None, Some(&rules));
    let refused = findings
        .iter()
        .filter(|found| found.rule == Rule::RefusedFlow);
    refused.map(|found| found.start.line).collect()
}

#[test]
fn a_call_after_an_awaited_one_is_reported_wherever_it_stands() {
    for source in [
        "await tools.web.fetch({});\nawait tools.mail.send({});",
        "const page = await callTool('web:fetch', {});\nif (page) await callTool('mail:send', {});",
        "const page = (await tools.web.fetch({})).text;\nreturn [1].map(() => tools.mail.send({}));",
        "const { web } = tools; await web.fetch({});\nawait tools.mail.send({});",
    ] {
        assert_eq!(refused_lines(source), [2], "{source}");
    }
}

#[test]
fn a_call_that_may_be_the_first_is_not_reported() {
    for source in [
        "await tools.mail.send({});\nawait tools.web.fetch({});",
        "if (args[0]) await tools.web.fetch({});\nawait tools.mail.send({});",
        "args[0] && await tools.web.fetch({});\nawait tools.mail.send({});",
        "const page = tools.web.fetch({});\nawait tools.mail.send({}); await page;",
        "await Promise.all([tools.web.fetch({}), tools.mail.send({})]);",
        "const later = async () => await tools.web.fetch({});\nawait tools.mail.send({});",
        "await send();\nawait tools.web.fetch({});\nasync function send() { await tools.mail.send({}); }",
    ] {
        assert_eq!(refused_lines(source), [0; 0], "{source}");
    }
}
