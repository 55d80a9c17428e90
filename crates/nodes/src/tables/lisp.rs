//! LISP as workers see it (RFC 9300): instances with their map caches, and the locators that these
//! lead to.
//!
//! ```text
//!  packet ─ interface ─▶ instance ─▶ map cache, of its family ─▶ word ┬▶ Rewrite: locator of this id ─▶ headers
//!                                                                     ├▶ Group: of locators, by flow
//!                                                                     ├▶ NoRoute: somebody is to be asked
//!                                                                     ├▶ Vrf: natively, as the underlay routes it
//!                                                                     └▶ Blackhole: dropped
//! ```
//! The control thread writes words in place, after it has published the locators that they lead to;
//! an id is used again when no worker can have its old word any more. Cost of a lookup: that of a
//! route in a table as large as the map cache. Bytes: those of the tables, and some 200 a locator.

use crate::ip::PacketRoutes;
use crate::tables::{Interfaces, Link, VrfId, VrfTables, Vrfs};
use crate::tunnel::TunnelHeaders;
use fib::Forward;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

/// What an interface is to LISP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LispLink {
    /// Its instance.
    pub instance: u32,
    /// The VRF that packets between locators are in.
    pub underlay: VrfId,
    /// Our own locator of IPv4.
    pub local4: Option<u32>,
    /// Our own locator of IPv6.
    pub local6: Option<u128>,
    /// What came by it may leave by it again.
    pub reencapsulates: bool,
}

impl LispLink {
    /// Whether packets of ours have this source outside.
    pub fn is_local(&self, address: IpAddr) -> bool {
        match address {
            IpAddr::V4(address) => self.local4 == Some(address.into()),
            IpAddr::V6(address) => self.local6 == Some(address.into()),
        }
    }

    /// Where packets go that are forwarded natively.
    pub(crate) fn native<A: crate::ip::RouteAddress>(&self, vrfs: &Vrfs, address: A) -> Forward {
        PacketRoutes::of_vrf(vrfs, self.underlay).to(address)
    }
}

/// An instance's map cache.
#[derive(Clone)]
pub struct LispInstance {
    /// Where packets to endpoints go, as words.
    pub maps: VrfTables,
    /// Who may send packets of endpoints, where that is looked at.
    pub sources: Option<LispSources>,
    /// What comes takes over class and reach of the packet outside (RFC 9300 section 5.3).
    pub uniform: bool,
}

/// Who may send packets of endpoints.
#[derive(Clone)]
pub struct LispSources {
    /// By endpoint, the number of a set of locators as the id of a word.
    pub tables: VrfTables,
    /// The sets.
    pub sets: Vec<Arc<[IpAddr]>>,
    /// Endpoints that are not known may not send.
    pub strict: bool,
}

/// What is known of who sends an endpoint's packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LispSource {
    /// It is one of the endpoint's locators.
    Known,
    /// It is none of them.
    Spoofed,
    /// Nobody knows the endpoint's locators.
    Unknown,
}

impl LispSources {
    /// What is known of who sends an endpoint's packet.
    pub fn judge(&self, endpoint: IpAddr, locator: IpAddr) -> LispSource {
        let word = match endpoint {
            IpAddr::V4(address) => self.tables.ip4.lookup(address.into()),
            IpAddr::V6(address) => self.tables.ip6.lookup(address.into()),
        };
        match self.sets.get(word.id() as usize).filter(|_| word != Forward::NONE) {
            None => LispSource::Unknown,
            Some(set) if set.contains(&locator) => LispSource::Known,
            Some(_) => LispSource::Spoofed,
        }
    }
}

/// All of LISP.
#[derive(Clone, Default)]
pub struct Lisp {
    /// By interface.
    instances: HashMap<u16, Arc<LispInstance>>,
    /// By number, the headers of packets to a locator.
    locators: Vec<Option<Arc<TunnelHeaders>>>,
    /// Messages of the control plane are heard.
    hears: bool,
}

impl Lisp {
    /// Instances by interface, and locators by number. Without instances messages are heard only
    /// by a map server.
    pub fn new(
        instances: HashMap<u16, Arc<LispInstance>>,
        locators: Vec<Option<Arc<TunnelHeaders>>>,
        is_server: bool,
    ) -> Self {
        Self { hears: is_server || !instances.is_empty(), instances, locators }
    }

    /// The instance of an interface.
    #[inline]
    pub fn instance(&self, interface: u16) -> Option<&LispInstance> {
        self.instances.get(&interface).map(|instance| &**instance)
    }

    /// The headers of packets to a locator.
    #[inline]
    pub fn locator(&self, id: u32) -> Option<&TunnelHeaders> {
        self.locators.get(id as usize)?.as_deref()
    }

    /// Whether packets between locators are taken.
    #[inline]
    pub fn receives(&self) -> bool {
        !self.instances.is_empty()
    }

    /// Whether messages of the control plane are.
    #[inline]
    pub fn hears(&self) -> bool {
        self.hears
    }
}

impl Interfaces {
    /// The interface of an instance whose packets are in a VRF.
    pub fn lisp(&self, instance: u32, underlay: VrfId) -> Option<u16> {
        self.lisps.get(&(instance, underlay)).copied()
    }
}

/// The interfaces of instances.
pub(super) fn lisps(rows: &[Option<crate::tables::Interface>]) -> HashMap<(u32, VrfId), u16> {
    let lisp = |(id, row): (u16, &Option<crate::tables::Interface>)| match row.as_ref()?.link {
        Link::Lisp(lisp) => Some(((lisp.instance, lisp.underlay), id)),
        _ => None,
    };
    (0..).zip(rows).filter_map(lisp).collect()
}
