//! Plans for the searches of `pml serve`: models per principal, made in the background.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pml_learn::{Model, Tier};
use pml_protocol::RunContext;

/// Characters of a plan: under 120 tokens.
const MAX_CHARS: usize = 360;
/// Principals whose models are kept.
const MAX_MODELS: usize = 32;

/// A tenant and a principal.
pub type Owner = (String, String);

/// The models of the principals of a server.
#[derive(Default)]
pub struct ServedPlans(Mutex<HashMap<Owner, Arc<Model>>>);

impl ServedPlans {
    /// The likely plan for a search, if it is worth proposing and all its tools are `visible`.
    pub fn plan(
        &self,
        run: &RunContext,
        query: &str,
        visible: &dyn Fn(&str) -> bool,
    ) -> Option<String> {
        let owner = (run.tenant().to_string(), run.principal().to_string());
        let model = self.lock().get(&owner).cloned()?;
        let plan = model.suggest(query)?;
        let is_useful = plan.tier >= Tier::Propose && plan.tasks.len() > 1;
        let is_visible = plan.tasks.iter().all(|task| visible(&task.tool));
        let line = (is_useful && is_visible).then(|| plan.compact(MAX_CHARS))?;
        (!line.is_empty()).then_some(line)
    }

    /// Forgets the models of principals that have no traces any more.
    pub fn retain(&self, owners: &BTreeSet<Owner>) {
        self.lock().retain(|owner, _| owners.contains(owner));
    }

    /// Whether the model of a principal would be kept.
    pub fn has_room_for(&self, owner: &Owner) -> bool {
        let models = self.lock();
        models.len() < MAX_MODELS || models.contains_key(owner)
    }

    /// Keeps a new model.
    pub fn replace(&self, owner: Owner, model: Model) {
        let mut models = self.lock();
        if models.len() < MAX_MODELS || models.contains_key(&owner) {
            models.insert(owner, Arc::new(model));
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Owner, Arc<Model>>> {
        // A model is replaced in one step.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
