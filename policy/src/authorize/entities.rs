//! Principals, actions and resources as Cedar entities.

use std::collections::{HashMap, HashSet};

use cedar_policy::{Entities, Entity, EntityId, EntityTypeName, EntityUid, RestrictedExpression};

use super::query::{Action, Query, Requester, Resource, ToolFacts};
use crate::tool_glob::{ToolGlob, server_of};

/// The uids that never change, and those of globs.
pub struct EntityNames {
    principal: EntityTypeName,
    tenant: EntityTypeName,
    tool: EntityTypeName,
    offers: EntityTypeName,
    storage: EntityTypeName,
    server: EntityTypeName,
    action: EntityTypeName,
    globs: Vec<(ToolGlob, EntityUid)>,
}

/// A name that is an identifier, so that it always parses.
fn entity_type(name: &str) -> Option<EntityTypeName> {
    name.parse().ok()
}

impl EntityNames {
    /// `None` is impossible: the names here are identifiers.
    pub fn new(globs: HashSet<ToolGlob>) -> Option<Self> {
        let glob = entity_type("Glob")?;
        let globs = globs.into_iter().map(|known| {
            let uid = uid(&glob, &known.to_string());
            (known, uid)
        });
        Some(Self {
            principal: entity_type("Principal")?,
            tenant: entity_type("Tenant")?,
            tool: entity_type("Tool")?,
            offers: entity_type("Offers")?,
            storage: entity_type("Storage")?,
            server: entity_type("Server")?,
            action: entity_type("Action")?,
            globs: globs.collect(),
        })
    }

    pub fn principal(&self, requester: &Requester) -> EntityUid {
        uid(&self.principal, &requester.entity_id())
    }

    /// A call of a tool is an action of its own, in the group `call`.
    pub fn action(&self, action: Action, resource: &Resource<'_>) -> EntityUid {
        match (action, resource) {
            (Action::Call, Resource::Tool(tool)) => uid(&self.action, &tool.id),
            _ => self.named_action(action.as_str()),
        }
    }

    pub fn named_action(&self, name: &str) -> EntityUid {
        uid(&self.action, name)
    }

    pub fn resource(&self, resource: &Resource<'_>) -> EntityUid {
        let kind = match resource {
            Resource::Tool(_) => &self.tool,
            Resource::Offers { .. } => &self.offers,
            Resource::Storage => &self.storage,
        };
        uid(kind, &resource.id())
    }

    /// Everything that policies can know about a query, besides its context.
    pub fn entities(&self, query: &Query<'_>) -> Result<Entities, String> {
        let text = |value: &str| RestrictedExpression::new_string(value.to_owned());
        let Query {
            requester,
            resource,
            ..
        } = query;
        let tenant = uid(&self.tenant, &requester.tenant);
        let id = resource.id();
        let mut entities = vec![
            (
                self.principal(requester),
                vec![
                    ("name", text(&requester.name)),
                    ("tenant", text(&requester.tenant)),
                ],
                vec![tenant.clone()],
            ),
            (tenant, vec![], vec![]),
            (self.named_action("call"), vec![], vec![]),
            (self.named_action("see"), vec![], vec![]),
        ];
        for seen in [Action::List, Action::Search, Action::Describe] {
            let parents = vec![self.named_action("see")];
            entities.push((self.named_action(seen.as_str()), vec![], parents));
        }
        match resource {
            Resource::Tool(tool) => {
                let parents = vec![self.named_action("call")];
                entities.push((self.action(Action::Call, resource), vec![], parents));
                entities.push((self.resource(resource), attributes(tool), self.groups(&id)));
            }
            Resource::Offers { server, kind } => {
                let attributes = vec![("server", text(server)), ("name", text(kind.as_str()))];
                entities.push((self.resource(resource), attributes, self.groups(&id)));
            }
            Resource::Storage => entities.push((self.resource(resource), vec![], vec![])),
        }
        let entities = entities.into_iter().map(|(uid, attributes, parents)| {
            let attributes: HashMap<String, RestrictedExpression> = attributes
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect();
            Entity::new(uid, attributes, parents.into_iter().collect())
                .map_err(|error| error.to_string())
        });
        let entities: Vec<_> = entities.collect::<Result<_, String>>()?;
        Entities::from_entities(entities, None).map_err(|error| error.to_string())
    }

    /// The server of a tool and the globs that match it.
    fn groups(&self, id: &str) -> Vec<EntityUid> {
        let globs = self.globs.iter().filter(|(glob, _)| glob.matches(id));
        let globs = globs.map(|(_, uid)| uid.clone());
        globs.chain([uid(&self.server, server_of(id))]).collect()
    }
}

fn uid(kind: &EntityTypeName, id: &str) -> EntityUid {
    EntityUid::from_type_name_and_id(kind.clone(), EntityId::new(id))
}

fn attributes(tool: &ToolFacts) -> Vec<(&'static str, RestrictedExpression)> {
    let text = |value: &str| RestrictedExpression::new_string(value.to_owned());
    let flag = RestrictedExpression::new_bool;
    let server = server_of(&tool.id);
    let name = tool.id.get(server.len() + 1..).unwrap_or_default();
    vec![
        ("server", text(server)),
        ("name", text(name)),
        ("effect", text(&tool.effect)),
        ("readOnlyHint", flag(tool.hints.read_only)),
        ("destructiveHint", flag(tool.hints.destructive)),
        ("idempotentHint", flag(tool.hints.idempotent)),
        ("openWorldHint", flag(tool.hints.open_world)),
    ]
}
