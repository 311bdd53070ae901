//! The traces of a configuration, and the models that are made of them.

use std::collections::HashSet;
use std::sync::Arc;

use pml_catalog::ResultShapes;
use pml_gateway::{Gateway, Tool};
use pml_learn::evaluate::fields;
use pml_learn::{Episode, Field, Model, Parameters, Trace};
use pml_protocol::{EffectClass, Principal, TenantId};

/// Past runs that a model is made of: the newest.
const MAX_EPISODES: usize = 2_000;

/// The traces in a file, the oldest first; damaged lines are left out.
pub fn parse(lines: &[String]) -> Vec<Trace> {
    lines.iter().filter_map(|line| Trace::parse(line)).collect()
}

/// What the runs of one principal teach.
pub fn episodes(traces: &[Trace], tenant: &str, principal: &str) -> Vec<Episode> {
    let own = traces
        .iter()
        .filter(|of| of.tenant == tenant && of.principal == principal);
    let all: Vec<Episode> = own.filter_map(Trace::episode).collect();
    let old = all.len().saturating_sub(MAX_EPISODES);
    all.into_iter().skip(old).collect()
}

/// The tools of a gateway as a model sees them.
pub fn tools(
    gateway: &Gateway,
    tools: &[Arc<Tool>],
    shapes: &ResultShapes,
) -> Vec<pml_learn::Tool> {
    tools
        .iter()
        .map(|tool| {
            let id = tool.id.as_str();
            let outputs = match &tool.output_schema {
                Some(schema) => fields(schema),
                None => shapes
                    .schema(id)
                    .map(|schema| fields(&schema))
                    .unwrap_or_default(),
            };
            pml_learn::Tool {
                id: id.to_owned(),
                server: tool.id.server().to_owned(),
                name: tool.id.tool().to_owned(),
                description: tool.description.clone(),
                inputs: fields(&tool.input_schema),
                outputs: outputs
                    .into_iter()
                    .map(|field| Field {
                        required: false,
                        ..field
                    })
                    .collect(),
                read: gateway.effect(tool).class == EffectClass::Read,
            }
        })
        .collect()
}

/// A model of tools and past runs.
pub fn model(tools: &[pml_learn::Tool], episodes: &[Episode]) -> Model {
    Model::new(tools, episodes, &Parameters::default())
}

/// What the runs of the user of this machine teach.
pub fn of_local_user(traces: &[Trace]) -> Vec<Episode> {
    let (tenant, principal) = (
        TenantId::local().to_string(),
        Principal::local().to_string(),
    );
    episodes(traces, &tenant, &principal)
}

/// The past runs whose tools all exist still: a plan names no other.
pub fn of_known_tools(episodes: Vec<Episode>, tools: &[pml_learn::Tool]) -> Vec<Episode> {
    let known: HashSet<&str> = tools.iter().map(|tool| tool.id.as_str()).collect();
    let mut episodes = episodes;
    episodes.retain(|episode| {
        episode
            .steps
            .iter()
            .all(|step| known.contains(step.tool.as_str()))
    });
    episodes
}
