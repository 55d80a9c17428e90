//! Names of disciplines and classes while a configuration is checked: each once, and leaves where
//! leaves are due.

use std::collections::HashSet;

use crate::plan::Classes;
use crate::{ClassId, Error};

/// The names given so far.
#[derive(Default)]
pub(crate) struct Names {
    handles: HashSet<ClassId>,
    leaves: HashSet<ClassId>,
    inner: HashSet<ClassId>,
}

impl Names {
    pub(crate) fn add_handle(&mut self, id: ClassId) -> Result<(), Error> {
        if self.handles.insert(id) { Ok(()) } else { Err(Error::HandleTwice { id }) }
    }

    pub(crate) fn add_leaf(&mut self, id: ClassId) {
        self.leaves.insert(id);
    }

    pub(crate) fn is_leaf(&self, id: ClassId) -> bool {
        self.leaves.contains(&id)
    }

    pub(crate) fn is_inner(&self, id: ClassId) -> bool {
        self.inner.contains(&id)
    }

    pub(crate) fn expect_leaf(&self, id: ClassId, place: impl Fn() -> String) -> Result<(), Error> {
        if self.inner.contains(&id) {
            return Err(Error::NotALeaf { id, use_: place() });
        }
        if self.leaves.contains(&id) {
            Ok(())
        } else {
            Err(Error::UnknownClass { place: place(), id })
        }
    }

    /// Names the classes of a tree as leaves or inner ones, and refuses leaves where none can
    /// stand.
    pub(crate) fn add_classes(
        &mut self,
        above: &'static str,
        classes: &dyn Classes,
    ) -> Result<(), Error> {
        let classes = classes.all();
        self.inner.extend(classes.iter().filter_map(|class| class.parent()));
        for class in classes {
            let id = class.id();
            if !self.inner.contains(&id) {
                self.leaves.insert(id);
            } else if let Some(leaf) = class.leaf() {
                return Err(Error::NotALeaf { id, use_: leaf.kind().to_string() });
            }
            if let Some(leaf) = class.leaf().filter(|leaf| leaf.plan().holds_back()) {
                let reason = "it holds packets back by itself, and the class would lose its turns";
                return Err(Error::Nesting { id, kind: leaf.kind(), above, reason });
            }
        }
        Ok(())
    }
}
