//! `call_tool`: one call, where a script is more than needed.

use std::sync::Arc;

use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::mpsc;

use super::{arguments, off_loop};
use crate::approval::Line;
use crate::guests::Guest;
use crate::house::House;
use crate::notices::Notices;
use crate::reply::Reply;
use crate::work::Step;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    tool: String,
    #[serde(default, alias = "arguments")]
    args: Value,
}

/// The id of a tool, also as a script would write it: `tools.fs.read_file`.
fn plain_id<'a>(written: &str, mut servers: impl Iterator<Item = &'a str>) -> String {
    let tool = written.strip_prefix("tools.").unwrap_or(written);
    let named = servers.find_map(|server| {
        let tool = tool.strip_prefix(server)?.strip_prefix(['.', '/'])?;
        (!written.contains(':')).then(|| format!("{server}:{tool}"))
    });
    named.unwrap_or_else(|| written.to_owned())
}

pub async fn call(
    house: House,
    guest: Arc<Guest>,
    arguments: Option<JsonObject>,
    notices: Notices,
    can_ask: bool,
    steps: mpsc::Sender<Step>,
) -> Reply {
    let Arguments { tool, args } = match arguments::read(arguments) {
        Ok(arguments) => arguments,
        Err(mistake) => return Reply::failure(guest.outlet().text(&mistake)),
    };
    // Some models write the arguments as a text.
    let args = match args {
        Value::String(text) if text.trim().is_empty() => Value::Null,
        Value::String(text) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
        other => other,
    };
    let tool = plain_id(&tool, house.gateway().servers());
    let limits = *house.limits();
    let approver = Arc::new(Line::new(steps, can_ask));
    let run = guest.client.run(&limits, approver, notices.of_tools());
    let called = run.call_tool(&tool, args).await;
    notices.finish().await;
    house.learn(guest.client.session().take_observed());
    tracing::info!(%tool, ok = called.is_ok(), "a tool was called");
    let outlet = guest.outlet().clone();
    off_loop(move || Reply::call(&outlet.call(&tool, called, &limits))).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_may_be_written_as_a_script_would() {
        let id = |written| plain_id(written, ["fs", "git"].into_iter());
        assert_eq!(id("tools.fs.read_file"), "fs:read_file");
        assert_eq!(id("git/log"), "git:log");
        for other in ["fs:read.file", "fsx.read", "read_file", "fs"] {
            assert_eq!(id(other), other);
        }
    }
}
