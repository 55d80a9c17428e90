//! What an interface says to nodes that look it up themselves, beside the features of its arcs: a
//! value of each type, and each type stands in the file of the node that it is for.
//!
//! ```text
//!  row.put(Some(ProxyArp(networks)))      control thread
//!  row.get::<ProxyArp>()                  arp_input
//! ```
//! Few rows have more than two, so a look compares as many types.

use crate::tables::{Interface, Setting};
use std::any::{Any, TypeId};
use std::sync::Arc;

/// Values, one of each type at the most.
#[derive(Clone, Debug, Default)]
pub struct Settings(Vec<(TypeId, Arc<dyn Setting>)>);

impl Interface {
    /// Says something, or no longer.
    pub fn put<T: Setting>(&mut self, value: Option<T>) {
        let (Settings(all), id) = (&mut self.settings, TypeId::of::<T>());
        all.retain(|(other, _)| *other != id);
        if let Some(value) = value {
            all.push((id, Arc::new(value)));
            all.sort_unstable_by_key(|(id, _)| *id);
        }
    }

    /// What it says.
    #[inline]
    pub fn get<T: Setting>(&self) -> Option<&T> {
        let id = TypeId::of::<T>();
        let (_, value) = self.settings.0.iter().find(|(other, _)| *other == id)?;
        (&**value as &dyn Any).downcast_ref()
    }

    /// True if it says something of this type.
    #[inline]
    pub fn has<T: Setting>(&self) -> bool {
        let id = TypeId::of::<T>();
        self.settings.0.iter().any(|(other, _)| *other == id)
    }
}

impl PartialEq for Settings {
    fn eq(&self, other: &Self) -> bool {
        let mut both = self.0.iter().zip(&other.0);
        self.0.len() == other.0.len() && both.all(|((_, own), (_, other))| own.is(&**other))
    }
}

impl Eq for Settings {}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, PartialEq, Debug)]
    struct Colour(&'static str);

    #[derive(Clone, PartialEq, Debug)]
    struct Weight(u8);

    #[test]
    fn a_row_says_one_thing_of_a_type_and_is_the_same_as_one_that_says_the_same() {
        let mut row = Interface::new("p0", 0);
        assert!(!row.has::<Colour>() && row.get::<Weight>().is_none());
        row.put(Some(Colour("red")));
        row.put(Some(Weight(3)));
        row.put(Some(Colour("blue")));
        assert_eq!((row.get(), row.get()), (Some(&Colour("blue")), Some(&Weight(3))));
        let mut other = Interface::new("p0", 0);
        other.put(Some(Weight(3)));
        assert_ne!(row, other);
        other.put(Some(Colour("red")));
        assert_ne!(row, other);
        other.put(Some(Colour("blue")));
        assert_eq!(row, other);
        row.put::<Colour>(None);
        assert!(!row.has::<Colour>() && row.has::<Weight>());
    }
}
