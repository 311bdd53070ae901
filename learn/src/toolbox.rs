//! The tools by number, with what their descriptions alone say: which fit an intent, which feed another.

use std::collections::HashMap;

use crate::tool::{Episode, Field, Tool};
use crate::words::{Postings, SparseVector, Vocabulary, terms};

/// How much the parts of a tool's text count in its vector.
const NAME_WEIGHT: f32 = 2.0;
const DESCRIPTION_WEIGHT: f32 = 1.0;
const FIELDS_WEIGHT: f32 = 0.3;

/// An episode with numbers in the place of names.
#[derive(Debug, Clone)]
pub(crate) struct EncodedEpisode {
    pub vector: SparseVector,
    pub tools: Vec<u32>,
    pub edges: Vec<(usize, usize)>,
}

/// All tools, numbered, and the vocabulary of their texts and of past intents.
#[derive(Debug, Clone)]
pub(crate) struct Toolbox {
    pub tools: Vec<Tool>,
    ids: HashMap<String, u32>,
    pub vocabulary: Vocabulary,
    /// Term → tools.
    texts: Postings,
    vectors: Vec<SparseVector>,
    names: Vec<Vec<u32>>,
    servers: Vec<u32>,
    /// Output fields that fit input fields: from tool, to tool, strength; sorted.
    links: Vec<Vec<(u32, f32)>>,
}

impl Toolbox {
    /// Numbers the tools; the first of two with the same id counts. A tool that only a past run knows
    /// is added with its id alone.
    pub fn new(tools: &[Tool], episodes: &[Episode]) -> Self {
        let mut ids = HashMap::new();
        let mut unique: Vec<Tool> = Vec::new();
        for tool in tools {
            if !ids.contains_key(&tool.id) {
                ids.insert(tool.id.clone(), unique.len() as u32);
                unique.push(tool.clone());
            }
        }
        for step in episodes.iter().flat_map(|episode| &episode.steps) {
            if !ids.contains_key(&step.tool) {
                ids.insert(step.tool.clone(), unique.len() as u32);
                let (server, name) = step.tool.split_once(':').unwrap_or(("", &step.tool));
                unique.push(Tool {
                    id: step.tool.clone(),
                    server: server.to_owned(),
                    name: name.to_owned(),
                    ..Tool::default()
                });
            }
        }
        let texts: Vec<String> = unique
            .iter()
            .map(|tool| format!("{} {}", tool.name, tool.description))
            .collect();
        let intents = episodes.iter().map(|episode| episode.intent.as_str());
        let vocabulary = Vocabulary::new(texts.iter().map(String::as_str).chain(intents));
        let vectors: Vec<SparseVector> = unique
            .iter()
            .map(|tool| tool_vector(&vocabulary, tool))
            .collect();
        let names = unique
            .iter()
            .map(|tool| {
                terms(&tool.name)
                    .iter()
                    .filter_map(|term| vocabulary.id(term))
                    .collect()
            })
            .collect();
        let mut server_ids: HashMap<&str, u32> = HashMap::new();
        let servers = unique
            .iter()
            .map(|tool| {
                let next = server_ids.len() as u32;
                *server_ids.entry(tool.server.as_str()).or_insert(next)
            })
            .collect();
        Self {
            texts: Postings::new(vocabulary.len(), vectors.iter()),
            links: schema_links(&unique),
            vocabulary,
            vectors,
            names,
            servers,
            ids,
            tools: unique,
        }
    }

    pub fn len(&self) -> usize {
        self.tools.len()
    }

    pub fn number(&self, id: &str) -> Option<u32> {
        self.ids.get(id).copied()
    }

    pub fn same_server(&self, a: u32, b: u32) -> bool {
        self.servers[a as usize] == self.servers[b as usize]
    }

    /// The cosine of the intent with the text of every tool.
    pub fn text_cosines(&self, intent: &SparseVector) -> Vec<f32> {
        self.texts.cosines(intent)
    }

    pub fn vector(&self, tool: u32) -> &SparseVector {
        &self.vectors[tool as usize]
    }

    /// The words of a tool's name.
    pub fn name_terms(&self, tool: u32) -> &[u32] {
        &self.names[tool as usize]
    }

    /// How well results of one tool fit the inputs of another, 0 to 1.
    pub fn link(&self, from: u32, to: u32) -> f32 {
        let row = &self.links[from as usize];
        row.binary_search_by_key(&to, |(tool, _)| *tool)
            .map_or(0.0, |place| row[place].1)
    }

    /// The tools whose inputs fit the results of `from`.
    pub fn linked(&self, from: u32) -> &[(u32, f32)] {
        &self.links[from as usize]
    }

    /// The episode in numbers.
    pub fn encode(&self, episode: &Episode) -> EncodedEpisode {
        EncodedEpisode {
            vector: self.vocabulary.vector(&[(1.0, &episode.intent)]),
            tools: episode
                .steps
                .iter()
                .filter_map(|step| self.number(&step.tool))
                .collect(),
            edges: episode.edges.clone(),
        }
    }
}

fn tool_vector(vocabulary: &Vocabulary, tool: &Tool) -> SparseVector {
    let mut texts = vec![
        (NAME_WEIGHT, tool.name.as_str()),
        (DESCRIPTION_WEIGHT, tool.description.as_str()),
    ];
    texts.extend(
        tool.inputs
            .iter()
            .map(|field| (FIELDS_WEIGHT, field.name())),
    );
    texts.extend(
        tool.inputs
            .iter()
            .map(|field| (FIELDS_WEIGHT, field.description.as_str())),
    );
    vocabulary.vector(&texts)
}

/// Fields of results whose names occur everywhere fit everything, which says nothing.
const COMMON_FIELD: f32 = 0.25;
/// Links of one tool that are kept.
const MAX_LINKS: usize = 64;

/// For each tool, the tools that it can feed: an output field and an input field have the same name, or
/// the input is the output's name behind that of its tool (`id` of `get_user` for `user_id`).
fn schema_links(tools: &[Tool]) -> Vec<Vec<(u32, f32)>> {
    let mut takers: HashMap<String, Vec<(u32, f32)>> = HashMap::new();
    for (number, tool) in tools.iter().enumerate() {
        let required = tool.inputs.iter().filter(|field| field.required).count();
        for field in &tool.inputs {
            let weight = if field.required {
                1.0 / required as f32
            } else {
                0.25
            };
            takers
                .entry(field_key(field.name()))
                .or_default()
                .push((number as u32, weight));
        }
    }
    let common = ((tools.len() as f32 * COMMON_FIELD) as usize).max(3);
    tools
        .iter()
        .enumerate()
        .map(|(from, tool)| {
            let mut fits: HashMap<u32, f32> = HashMap::new();
            for key in output_keys(tool) {
                let Some(found) = takers.get(&key) else {
                    continue;
                };
                if found.len() > common {
                    continue;
                }
                for (to, weight) in found {
                    if *to as usize != from {
                        *fits.entry(*to).or_default() += weight;
                    }
                }
            }
            let mut row: Vec<(u32, f32)> = fits
                .into_iter()
                .map(|(to, weight)| (to, weight.min(1.0)))
                .collect();
            row.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            row.truncate(MAX_LINKS);
            row.sort_unstable_by_key(|(to, _)| *to);
            row
        })
        .collect()
}

fn field_key(name: &str) -> String {
    terms(name).join(" ")
}

fn output_keys(tool: &Tool) -> Vec<String> {
    let mut keys: Vec<String> = Vec::new();
    for field in &tool.outputs {
        let key = field_key(field.name());
        if matches!(key.as_str(), "id" | "name" | "key" | "number") {
            // `id` of `get_user` is the `user_id` of others.
            keys.extend(
                terms(&tool.name)
                    .iter()
                    .skip(1)
                    .map(|noun| format!("{noun} {key}")),
            );
        }
        keys.push(key);
    }
    keys.sort();
    keys.dedup();
    keys.retain(|key| !key.is_empty());
    keys
}

/// Whether the value of `output` can be the value of `input`, by name and type.
pub(crate) fn fields_fit(tool: &Tool, output: &Field, input: &Field) -> bool {
    let kinds = output.kind.is_empty() || input.kind.is_empty() || output.kind == input.kind;
    let alone = Tool {
        name: tool.name.clone(),
        outputs: vec![output.clone()],
        ..Tool::default()
    };
    kinds && output_keys(&alone).contains(&field_key(input.name()))
}
