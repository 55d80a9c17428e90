//! What came and went of routes that no configuration has, for whoever writes it down.
//!
//! ```text
//!  add, remove, set_shared ─▶ told ─▶ Rib::take_journal: in order, the last one of a route counts
//! ```
//! Nothing is noted until somebody wants to know ([`Rib::keep_journal`]).

use super::route::{Route, Source, Target};
use super::shared::SharedId;
use super::table::Rib;
use crate::{Address, Prefix};

/// Something came, changed or went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told<A: Address> {
    /// A route of a source is this now; it is gone, if there is nothing.
    Route(Prefix<A>, Source, Option<Route>),
    /// A group leads there now; nobody knows where, if there is nothing.
    Group(SharedId, Option<Target>),
}

/// See the module.
#[derive(Debug)]
pub(super) struct Journal<A: Address> {
    told: Vec<Told<A>>,
    is_kept: bool,
}

impl<A: Address> Default for Journal<A> {
    fn default() -> Self {
        Self { told: Vec::new(), is_kept: false }
    }
}

impl<A: Address> Journal<A> {
    pub(super) fn route(&mut self, prefix: Prefix<A>, source: Source, route: Option<&Route>) {
        if self.is_kept && source.protocol.is_brought() {
            self.told.push(Told::Route(prefix, source, route.cloned()));
        }
    }

    pub(super) fn group(&mut self, id: SharedId, target: Option<&Target>) {
        if self.is_kept {
            self.told.push(Told::Group(id, target.cloned()));
        }
    }
}

impl<A: Address> Rib<A> {
    /// From now on it is noted what comes and goes.
    pub fn keep_journal(&mut self) {
        self.journal.is_kept = true;
    }

    /// What came and went since the last call.
    pub fn take_journal(&mut self) -> Vec<Told<A>> {
        std::mem::take(&mut self.journal.told)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rib::Protocol;

    #[test]
    fn what_comes_and_goes_of_others_than_the_configuration_is_told_in_order() {
        let (mut rib, mut changes) = (Rib::<u32>::new(), Vec::new());
        let prefix: Prefix<u32> = "10.0.0.0/8".parse().unwrap();
        let route = |last: u8| Route::via([192, 0, 2, last]);
        let ebgp = Source::from(Protocol::Ebgp);
        rib.add(prefix, ebgp, route(1), &mut changes);
        assert!(rib.take_journal().is_empty(), "nobody asked");
        rib.keep_journal();
        rib.add(prefix, ebgp, route(2), &mut changes);
        rib.add(prefix, Protocol::Static.into(), route(3), &mut changes);
        rib.set_shared(SharedId(7), Some(Target::Blackhole), &mut changes);
        rib.set_shared(SharedId(7), Some(Target::Blackhole), &mut changes);
        rib.remove(prefix, ebgp, &mut changes);
        rib.remove(prefix, ebgp, &mut changes);
        let expected = [
            Told::Route(prefix, ebgp, Some(route(2))),
            Told::Group(SharedId(7), Some(Target::Blackhole)),
            Told::Route(prefix, ebgp, None),
        ];
        assert_eq!(rib.take_journal(), expected);
        assert!(rib.take_journal().is_empty());
    }

    #[test]
    fn what_a_route_would_lead_to_is_told_before_it_is_one() {
        let (mut rib, mut changes) = (Rib::<u32>::new(), Vec::new());
        let link: Prefix<u32> = "192.0.2.0/24".parse().unwrap();
        rib.add(link, Protocol::Connected.into(), Route::connected(4), &mut changes);
        let prefix: Prefix<u32> = "10.0.0.0/8".parse().unwrap();
        for route in [Route::via([192, 0, 2, 1]), Route::via([198, 51, 100, 1])] {
            let foretold = rib.resolve(prefix, &route);
            rib.add(prefix, Protocol::Ebgp.into(), route, &mut changes);
            assert_eq!(foretold.as_ref(), rib.active(prefix).map(|(_, to)| to));
            rib.remove(prefix, Protocol::Ebgp.into(), &mut changes);
        }
    }
}
