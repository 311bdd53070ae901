//! What a dry run says about time, calls, bytes and cost.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::time::Duration;

use pml_catalog::{CallHistory, CallTimes};
use pml_gateway::Gateway;
use pml_gateway::policy::breaker::BreakerState;
use pml_gateway::policy::globs::ToolGlob;
use pml_workflow::estimate::{Confidence, Estimate, Forecast, SharedLimit, ToolForecast, estimate};
use pml_workflow::{Plan, PlanLimits, WorkflowReport, show};

use crate::style::Style;

/// What an estimate is made from, besides the plan.
pub struct Known {
    pub history: CallHistory,
    pub costs: BTreeMap<ToolGlob, f64>,
}

impl Known {
    /// The time of a call of each tool of a plan, where it is known.
    pub fn times(&self, plan: &Plan) -> HashMap<String, Duration> {
        let tools = plan.tasks.iter().filter_map(pml_workflow::Task::tool);
        let known = tools.filter_map(|tool| Some((tool, self.history.get(tool)?)));
        let known = known.filter(|(_, times)| times.calls > 0);
        known
            .map(|(tool, times)| {
                let seconds = times.median_ms() / 1e3;
                (tool.to_owned(), Duration::from_secs_f64(seconds))
            })
            .collect()
    }
}

/// Estimates a plan whose calls were not sent.
pub fn of(
    plan: &Plan,
    dry_run: &WorkflowReport,
    known: &Known,
    gateway: &Gateway,
    limits: &PlanLimits,
) -> Estimate {
    let mut forecast = Forecast {
        concurrency: plan
            .concurrency
            .unwrap_or(limits.concurrency)
            .min(limits.concurrency),
        ..Forecast::default()
    };
    for tool in plan.tasks.iter().filter_map(pml_workflow::Task::tool) {
        let (id, _) = pml_protocol::split_version(tool);
        if !forecast.tools.contains_key(id) {
            let tool = forecast_of(id, known, gateway, &mut forecast);
            forecast.tools.insert(id.to_owned(), tool);
        }
    }
    estimate(plan, &forecast, dry_run)
}

fn forecast_of(
    id: &str,
    known: &Known,
    gateway: &Gateway,
    forecast: &mut Forecast,
) -> ToolForecast {
    let limits = gateway.limits_of(id);
    forecast.max_wait_ms = limits.max_wait.as_secs_f64() * 1e3;
    let slots = limits.slots.iter().map(|(name, slots)| SharedLimit::Slots {
        name: format!("the concurrency of {name}"),
        slots: *slots as usize,
    });
    let rates = limits.rates.iter().map(|(name, rate)| SharedLimit::Rate {
        name: format!("the rate of {name} ({rate})"),
        per_second: rate.calls_per_second(),
        burst: f64::from(rate.burst().get()),
    });
    let shared: Vec<SharedLimit> = slots.chain(rates).collect();
    let mut index = |limit: SharedLimit| {
        let at = forecast.limits.iter().position(|known| *known == limit);
        at.unwrap_or_else(|| {
            forecast.limits.push(limit);
            forecast.limits.len() - 1
        })
    };
    let limits_of_tool = shared.into_iter().map(&mut index).collect();
    let times = known.history.get(id).copied().unwrap_or_default();
    let unanswered = share_unanswered(&times);
    let server = id.split_once(':').map_or(id, |(server, _)| server);
    let refused = match (limits.breaker, limits.opens_at) {
        (BreakerState::Open, _) => {
            Some(format!("the circuit breaker of server `{server}` is open"))
        }
        (_, Some(opens_at)) if unanswered >= opens_at => Some(format!(
            "server `{server}` did not answer {:.0} % of the earlier calls of `{id}`: its circuit breaker would open",
            unanswered * 100.0
        )),
        _ => None,
    };
    ToolForecast {
        calls: times.calls,
        unanswered,
        median_ms: times.median_ms(),
        spread: times.spread(),
        bytes: times.bytes(),
        cost: known
            .costs
            .iter()
            .find(|(glob, _)| glob.matches(id))
            .map(|(_, cost)| *cost),
        limits: limits_of_tool,
        refused,
    }
}

fn share_unanswered(times: &CallTimes) -> f64 {
    match times.calls + times.unanswered {
        0 => 0.0,
        all => times.unanswered as f64 / all as f64,
    }
}

/// The estimate as a person reads it.
pub fn shown(estimate: &Estimate, style: Style) -> String {
    let time = &estimate.time_ms;
    let mut text = format!(
        "{} {} (from {} to {}; one after another {}), {} calls, about {} of results",
        style.cyan("estimate:"),
        show::time(time.likely),
        show::time(time.low),
        show::time(time.high),
        show::time(estimate.sequential_ms),
        estimate.calls,
        bytes(estimate.bytes),
    );
    if let Some(cost) = estimate.cost {
        let _ = write!(text, ", cost {cost:.4}");
    }
    let sure = match estimate.confidence {
        Confidence::High => style.green("high"),
        Confidence::Medium => style.yellow("medium"),
        Confidence::Low => style.red("low"),
    };
    let _ = write!(text, "\n  confidence: {sure}");
    for doubt in &estimate.doubts {
        let _ = write!(text, "\n    {doubt}");
    }
    for slowdown in &estimate.slowed {
        let by = show::time(slowdown.ms);
        let _ = write!(
            text,
            "\n  {} {by} by {}",
            style.yellow("slowed:"),
            slowdown.by
        );
    }
    for refused in &estimate.refused {
        let _ = write!(text, "\n  {} {refused}", style.red("refused:"));
    }
    text
}

fn bytes(bytes: f64) -> String {
    match bytes {
        b if b < 1e3 => format!("{b:.0} B"),
        b if b < 1e6 => format!("{:.1} kB", b / 1e3),
        b => format!("{:.1} MB", b / 1e6),
    }
}
