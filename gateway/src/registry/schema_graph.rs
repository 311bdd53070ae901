//! The subschemas of a schema as a graph, with references followed, and how much work they are.
//!
//! References make a schema a graph whose paths can be exponentially many: 60 levels of two references
//! each have 2^60. The graph holds every subschema once, so its measures are computed without walking
//! the paths.

use std::collections::HashMap;

use serde_json::Value;

/// Subschemas and values of one schema, references followed: a validator evaluates each of them.
pub const MAX_SIZE: u64 = 50_000;
/// Nested subschemas, references followed: a validator recurses as deep.
const MAX_DEPTH: u32 = 200;
/// Nested subschemas that apply to the same value.
const MAX_IN_PLACE_DEPTH: u32 = 48;
/// How often the subschemas beside `unevaluatedProperties` and `unevaluatedItems` are evaluated.
const UNEVALUATED_FACTOR: u64 = 3;

/// Why a schema cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaProblem {
    /// It is more work than any call is worth.
    #[error("it has more than {MAX_SIZE} subschemas once its references are followed")]
    TooLarge,
    /// Evaluating it would overflow a stack.
    #[error("its subschemas are nested too deeply")]
    TooDeep,
    /// A subschema applies itself to the same value.
    #[error("a part of it refers to itself without an end")]
    Endless,
    /// It cannot be measured, so it is not used for validation.
    #[error("the reference {0} leads out of it or is not supported")]
    Reference(String),
}

/// The kinds of edges from a subschema to another.
#[derive(Debug, Default)]
pub struct Node {
    /// Keywords and values that are compared with one instance.
    pub weight: u64,
    /// Work per byte of a string.
    pub pattern: u64,
    /// Work per byte of every property name.
    pub name_patterns: u64,
    /// Whether the items are compared with each other.
    pub unique: bool,
    /// How often the subschemas of the same value are evaluated.
    pub factor: u64,
    /// Apply to the same value.
    pub in_place: Vec<u32>,
    /// Apply to the property of this name.
    pub properties: HashMap<String, u32>,
    /// May apply to every property.
    pub any_property: Vec<u32>,
    /// Apply to every property name.
    pub names: Vec<u32>,
    /// Apply to the item of this index.
    pub prefix: Vec<u32>,
    /// Apply to every item.
    pub items: Vec<u32>,
}

impl Node {
    fn edges(&self) -> impl Iterator<Item = (u32, bool)> {
        let below = self
            .properties
            .values()
            .chain(&self.any_property)
            .chain(&self.names)
            .chain(&self.prefix)
            .chain(&self.items);
        self.in_place
            .iter()
            .map(|to| (*to, true))
            .chain(below.map(|to| (*to, false)))
    }
}

/// The subschemas of one schema. The first node is the schema itself.
#[derive(Debug)]
pub struct SchemaGraph {
    pub nodes: Vec<Node>,
    /// Whether a path leads from a subschema to itself.
    pub is_cyclic: bool,
    /// The nodes of all paths, where a cycle counts once.
    pub size: u64,
    /// Work per byte of text, of all patterns together.
    pub patterns: u64,
}

impl SchemaGraph {
    /// Reads and measures a schema.
    ///
    /// # Errors
    /// It exceeds a limit, or has a reference that is not followed.
    pub fn new(schema: &Value) -> Result<Self, SchemaProblem> {
        let mut reader = Reader {
            root: schema,
            root_id: schema["$id"].as_str().unwrap_or_default(),
            indexes: HashMap::new(),
            queue: Vec::new(),
            has_reference: false,
            inner_id: None,
        };
        let mut nodes = Vec::new();
        reader.index(schema);
        // The queue grows while it is read: every subschema is read once.
        while let Some(schema) = reader.queue.get(nodes.len()) {
            if nodes.len() as u64 > MAX_SIZE {
                return Err(SchemaProblem::TooLarge);
            }
            nodes.push(reader.read(schema)?);
        }
        if let (true, Some(id)) = (reader.has_reference, reader.inner_id) {
            return Err(SchemaProblem::Reference(cut(id)));
        }
        let measured = measure(&nodes)?;
        let patterns = nodes.iter().fold(0, |sum: u64, node| {
            sum.saturating_add(node.pattern + node.name_patterns)
        });
        Ok(Self {
            nodes,
            is_cyclic: measured.is_cyclic,
            size: measured.size,
            patterns,
        })
    }
}

struct Reader<'a> {
    root: &'a Value,
    root_id: &'a str,
    indexes: HashMap<*const Value, u32>,
    queue: Vec<&'a Value>,
    has_reference: bool,
    /// The identifier of a subschema. References below it lead somewhere else.
    inner_id: Option<&'a str>,
}

impl<'a> Reader<'a> {
    /// The node of a subschema, which is read later.
    fn index(&mut self, schema: &'a Value) -> u32 {
        let next = self.queue.len() as u32;
        *self.indexes.entry(schema).or_insert_with(|| {
            self.queue.push(schema);
            next
        })
    }

    fn indexes(&mut self, schemas: impl Iterator<Item = &'a Value>) -> Vec<u32> {
        schemas.map(|schema| self.index(schema)).collect()
    }

    fn read(&mut self, schema: &'a Value) -> Result<Node, SchemaProblem> {
        let mut node = Node {
            weight: 1,
            factor: 1,
            ..Node::default()
        };
        let Value::Object(keywords) = schema else {
            return Ok(node);
        };
        let is_root = std::ptr::eq(schema, self.root);
        for (keyword, value) in keywords {
            node.weight += 1;
            self.read_keyword(&mut node, keyword, value, is_root)?;
        }
        Ok(node)
    }

    fn read_keyword(
        &mut self,
        node: &mut Node,
        keyword: &str,
        value: &'a Value,
        is_root: bool,
    ) -> Result<(), SchemaProblem> {
        let members = || value.as_array().into_iter().flatten();
        let fields = || value.as_object().into_iter().flatten();
        let schemas = |value: &Value| matches!(value, Value::Object(_) | Value::Bool(_));
        match keyword {
            "$ref" => {
                let target = self.resolve(value)?;
                self.has_reference = true;
                node.in_place.push(self.index(target));
            }
            // Their targets depend on the path to them.
            "$dynamicRef" | "$recursiveRef" => {
                return Err(SchemaProblem::Reference(cut(&value.to_string())));
            }
            "$id" | "id" if !is_root && value.as_str().is_some_and(|id| !id.starts_with('#')) => {
                self.inner_id = value.as_str();
            }
            "allOf" | "anyOf" | "oneOf" => node.in_place.extend(self.indexes(members())),
            "not" | "if" | "then" | "else" => node.in_place.push(self.index(value)),
            "dependentSchemas" | "dependencies" => {
                let targets = fields()
                    .map(|(_, value)| value)
                    .filter(|value| schemas(value));
                node.in_place.extend(self.indexes(targets));
                node.weight += values_in(value);
            }
            "properties" => {
                for (name, schema) in fields() {
                    let index = self.index(schema);
                    node.properties.insert(name.clone(), index);
                    node.weight += 1;
                }
            }
            "patternProperties" => {
                for (pattern, schema) in fields() {
                    node.any_property.push(self.index(schema));
                    node.name_patterns = node.name_patterns.saturating_add(pattern_work(pattern));
                }
            }
            "additionalProperties" => node.any_property.push(self.index(value)),
            "propertyNames" => node.names.push(self.index(value)),
            "unevaluatedProperties" => {
                node.any_property.push(self.index(value));
                node.factor = UNEVALUATED_FACTOR;
            }
            "unevaluatedItems" => {
                node.items.push(self.index(value));
                node.factor = UNEVALUATED_FACTOR;
            }
            "items" if value.is_array() => node.prefix.extend(self.indexes(members())),
            "prefixItems" => node.prefix.extend(self.indexes(members())),
            "items" | "additionalItems" | "contains" => node.items.push(self.index(value)),
            "pattern" => {
                let pattern = value.as_str().unwrap_or_default();
                node.pattern = node.pattern.saturating_add(pattern_work(pattern));
            }
            "uniqueItems" => node.unique = value == &Value::Bool(true),
            "enum" | "const" | "required" | "dependentRequired" | "type" => {
                node.weight += values_in(value);
            }
            _ => {}
        }
        Ok(())
    }

    /// The target of a reference within the document.
    fn resolve(&self, reference: &Value) -> Result<&'a Value, SchemaProblem> {
        let problem = || SchemaProblem::Reference(cut(&reference.to_string()));
        let text = reference.as_str().ok_or_else(problem)?;
        let (document, fragment) = text.split_once('#').unwrap_or((text, ""));
        let own = self.root_id.strip_suffix('#').unwrap_or(self.root_id);
        if !(document.is_empty() || document == own) || text.is_empty() {
            return Err(problem());
        }
        self.root
            .pointer(&percent_decoded(fragment))
            .ok_or_else(problem)
    }
}

struct Measures {
    size: u64,
    is_cyclic: bool,
}

fn measure(nodes: &[Node]) -> Result<Measures, SchemaProblem> {
    let (in_place, endless) = children_first(nodes, |node| node.in_place.clone());
    if endless {
        return Err(SchemaProblem::Endless);
    }
    let mut depths = vec![1_u32; nodes.len()];
    for index in in_place {
        let below = nodes[index as usize].in_place.iter();
        let deepest = below.map(|to| depths[*to as usize]).max().unwrap_or(0);
        depths[index as usize] = deepest + 1;
        if deepest >= MAX_IN_PLACE_DEPTH {
            return Err(SchemaProblem::TooDeep);
        }
    }
    let all = |node: &Node| node.edges().map(|(to, _)| to).collect();
    let (order, is_cyclic) = children_first(nodes, all);
    // A node that is not measured yet closes a cycle, and counts once.
    let mut sizes = vec![1_u64; nodes.len()];
    let mut depths = vec![1_u32; nodes.len()];
    for index in order {
        let node = &nodes[index as usize];
        let (mut size, mut deepest) = (node.weight, 0);
        for (to, is_in_place) in node.edges() {
            let factor = if is_in_place { node.factor } else { 1 };
            size = size.saturating_add(sizes[to as usize].saturating_mul(factor));
            deepest = deepest.max(depths[to as usize]);
        }
        sizes[index as usize] = size;
        depths[index as usize] = deepest + 1;
    }
    if sizes[0] > MAX_SIZE {
        return Err(SchemaProblem::TooLarge);
    }
    if depths[0] > MAX_DEPTH {
        return Err(SchemaProblem::TooDeep);
    }
    Ok(Measures {
        size: sizes[0],
        is_cyclic,
    })
}

/// The nodes so that the targets of a node's edges come before it, and whether a cycle prevents that
/// for some. Does not recurse: a chain of references can be long.
fn children_first(nodes: &[Node], edges: impl Fn(&Node) -> Vec<u32>) -> (Vec<u32>, bool) {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let mut states = vec![State::New; nodes.len()];
    let (mut order, mut is_cyclic) = (Vec::with_capacity(nodes.len()), false);
    for start in 0..nodes.len() {
        if states[start] != State::New {
            continue;
        }
        states[start] = State::Open;
        let mut path = vec![(start as u32, edges(&nodes[start]))];
        while let Some((index, left)) = path.last_mut() {
            let Some(to) = left.pop() else {
                states[*index as usize] = State::Done;
                order.push(*index);
                path.pop();
                continue;
            };
            match states[to as usize] {
                State::New => {
                    states[to as usize] = State::Open;
                    path.push((to, edges(&nodes[to as usize])));
                }
                State::Open => is_cyclic = true,
                State::Done => {}
            }
        }
    }
    (order, is_cyclic)
}

/// The values in a keyword that is no schema, each of which an instance may be compared with.
fn values_in(value: &Value) -> u64 {
    match value {
        Value::Array(items) => items.iter().map(values_in).sum::<u64>() + 1,
        Value::Object(fields) => fields.values().map(values_in).sum::<u64>() + 1,
        _ => 1,
    }
}

/// Estimates the states of a pattern: the work that a byte of text can be.
fn pattern_work(pattern: &str) -> u64 {
    /// States of a class such as `\w`, which has hundreds of ranges.
    const CLASS: u64 = 60;
    // The states of the open groups, and of the last item, which a repetition multiplies.
    let (mut groups, mut total, mut last) = (Vec::new(), 1_u64, 0_u64);
    let mut rest = pattern.chars();
    while let Some(char) = rest.next() {
        let states = match char {
            '(' => {
                groups.push(std::mem::replace(&mut total, 1));
                continue;
            }
            ')' => {
                let inner = total;
                total = groups.pop().unwrap_or(1);
                inner
            }
            '[' => {
                let class: String = rest.by_ref().take_while(|char| *char != ']').collect();
                class.len() as u64 + if class.contains('\\') { CLASS } else { 1 }
            }
            '{' => {
                let counts: String = rest.by_ref().take_while(|char| *char != '}').collect();
                let counts = counts
                    .split(',')
                    .filter_map(|count| count.parse::<u64>().ok());
                last.saturating_mul(counts.max().unwrap_or(1))
            }
            '\\' => {
                rest.next();
                CLASS
            }
            '.' => 4,
            _ => 1,
        };
        total = total.saturating_add(states);
        last = states;
    }
    groups.into_iter().fold(total, u64::saturating_add)
}

/// Decodes percent escapes; invalid ones are left unchanged.
fn percent_decoded(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let digits = after
            .get(..2)
            .and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(decoded) if byte == b'%' => {
                out.push(decoded);
                rest = &after[2..];
            }
            _ => {
                out.push(byte);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// The beginning of a text of the server, for messages.
fn cut(text: &str) -> String {
    let end = text.floor_char_boundary(80);
    text[..end].escape_debug().to_string()
}

#[cfg(test)]
#[path = "schema_graph_tests.rs"]
mod tests;
