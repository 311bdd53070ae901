//! The names of a script.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use swc_core::atoms::Atom;

use super::value::Value;

/// The names of a block, in the block around it.
pub(super) struct Scope<'a> {
    names: RefCell<HashMap<Atom, Value<'a>>>,
    parent: Option<Rc<Scope<'a>>>,
}

impl<'a> Scope<'a> {
    pub fn root() -> Rc<Self> {
        Rc::new(Self {
            names: RefCell::default(),
            parent: None,
        })
    }

    pub fn inside(parent: &Rc<Self>) -> Rc<Self> {
        Rc::new(Self {
            names: RefCell::default(),
            parent: Some(parent.clone()),
        })
    }

    pub fn declare(&self, name: &Atom, value: Value<'a>) {
        self.names.borrow_mut().insert(name.clone(), value);
    }

    /// The value of a name; `None` for a global.
    pub fn get(&self, name: &Atom) -> Option<Value<'a>> {
        if let Some(value) = self.names.borrow().get(name) {
            return Some(value.clone());
        }
        self.parent.as_ref()?.get(name)
    }

    /// Assigns to a name; false for a global.
    pub fn set(&self, name: &Atom, value: Value<'a>) -> bool {
        if let Some(place) = self.names.borrow_mut().get_mut(name) {
            *place = value;
            return true;
        }
        match &self.parent {
            Some(parent) => parent.set(name, value),
            None => false,
        }
    }
}
