//! Next hops that are on no link of ours: another route must lead to them.
//!
//! ```text
//!  10.0.0.0/8 via 172.16.9.9        172.16.0.0/16 via 192.0.2.9        192.0.2.0/24 is on a link
//!                      └───────────────▶ the longest prefix   └────────────▶
//! ```
//! The default route leads everywhere, so to no next hop: what is mistyped would follow it. Where
//! FRR brings routes, one of those may lead to any.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::net::IpAddr;

use super::Config;
use super::connected::{Connected, is_link_local};
use super::route_row::{Route, RouteKey};
use super::vrf::VrfName;
use crate::config::prefix::Prefix;

/// Routes that are followed for one next hop.
const MOST_FOLLOWED: usize = 1_000;

/// An address of a VRF.
type Hop<'a> = (Option<&'a VrfName>, IpAddr);

/// To which next hops the routes of a configuration lead.
pub(crate) struct Recursive<'a> {
    config: &'a Config,
    connected: &'a Connected<'a>,
    /// The first route to each next hop, and whether it ends on a link: many have the same.
    found: RefCell<HashMap<Hop<'a>, Option<(&'a RouteKey, bool)>>>,
}

impl<'a> Recursive<'a> {
    /// To those that the routes of this configuration lead to.
    pub(crate) fn of(config: &'a Config, connected: &'a Connected<'a>) -> Self {
        Self { config, connected, found: RefCell::default() }
    }

    /// Whether routes lead to a next hop of a route, at last to a link.
    pub(crate) fn leads_to(&self, of: &'a RouteKey, address: IpAddr) -> bool {
        let vrf = of.vrf.as_ref();
        if self.learns_routes_of(vrf) {
            return true;
        }
        let find = || {
            let first = self.longest(vrf, address)?;
            Some((first.0, self.ends_on_a_link(first)))
        };
        let found = *self.found.borrow_mut().entry((vrf, address)).or_insert_with(find);
        // What leads to a next hop does not stand on it.
        found.is_some_and(|(first, ends)| ends && first != of)
    }

    fn learns_routes_of(&self, vrf: Option<&VrfName>) -> bool {
        let listens = self.config.fpm.0.as_ref();
        listens
            .is_some_and(|fpm| vrf.is_none_or(|vrf| fpm.vrfs.iter().any(|table| table.vrf == *vrf)))
    }

    fn ends_on_a_link(&self, first: (&'a RouteKey, &'a Route)) -> bool {
        let (mut ahead, mut followed) = (vec![first], BTreeSet::from([first.0]));
        while let Some((key, route)) = ahead.pop() {
            let Route::Via(hops) = route else { continue };
            for hop in hops {
                let (None, Some(address)) = (&hop.port, hop.address) else { return true };
                let vrf = key.vrf.as_ref();
                if self.connected.port_to(vrf, address).is_some() {
                    return true;
                }
                let next = self.longest(vrf, address);
                if let Some(next) = next.filter(|_| followed.len() < MOST_FOLLOWED)
                    && followed.insert(next.0)
                {
                    ahead.push(next);
                }
            }
        }
        false
    }

    /// The configured route that an address follows; the default one is none.
    fn longest(&self, vrf: Option<&VrfName>, address: IpAddr) -> Option<(&'a RouteKey, &'a Route)> {
        if is_link_local(address) {
            return None;
        }
        let longest = if address.is_ipv4() { 32 } else { 128 };
        (1..=longest).rev().find_map(|length| {
            let key = RouteKey { vrf: vrf.cloned(), prefix: Prefix::of(address, length) };
            self.config.routes.entry(&key)
        })
    }
}
