//! What the server learns about tools, kept where `pml types` and `pml check` find it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pml_catalog::Shapes;
use pml_gateway::{Config, StartError, Tool};
use pml_server::Notebook;
use pml_typegen::Shape;
use serde_json::Value;

use crate::memory::Memory;

pub struct RememberedTools {
    memory: Memory,
    shapes: Mutex<Shapes>,
}

impl RememberedTools {
    pub fn of(config: &Config) -> Self {
        let memory = Memory::of(config);
        let shapes = Mutex::new(memory.shapes());
        Self { memory, shapes }
    }

    fn shapes(&self) -> MutexGuard<'_, Shapes> {
        // A shape is widened in one step.
        self.shapes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Notebook for RememberedTools {
    fn tools_listed(&self, tools: &[Arc<Tool>], problems: &[(String, StartError)]) {
        self.memory.keep_tools(tools, problems);
    }

    fn results_seen(&self, observed: Vec<(String, Shape)>) {
        let mut shapes = self.shapes();
        for (id, shape) in &observed {
            shapes.add(id, shape.clone());
        }
        drop(shapes);
        self.memory.keep_shapes(observed);
    }

    fn result_schema(&self, tool: &str) -> Option<Value> {
        self.shapes().schema(tool)
    }
}
