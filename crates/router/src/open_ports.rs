//! The configured ports that are open, by name and by the numbers of their interfaces.
//!
//! ```text
//!  p0 ──▶ port ── rows ──▶ 0            its own
//!  vx0 ─▶ port ── rows ──▶ 1, 2, 3      its own, and those of its remotes
//! ```
//! Changed by the control thread alone. A look by name is logarithmic, one by number takes one
//! step.

use crate::interfaces::{Link, OpenPort, Remote, parent_of};
use crate::standing::{Makers, Standing};
use control::config::objects::port::{MOST_PORTS, Port, PortName};
use control::config::objects::port_kind::PortKind;
use control::config::objects::port_kind::bond::BondMode;
use nodes::tables::MOST_INTERFACES;
use std::collections::btree_map::{self, BTreeMap};
use std::collections::{BTreeSet, HashMap};
use std::net::IpAddr;

// What the configuration is checked against.
const _: () = assert!(MOST_PORTS == MOST_INTERFACES);

/// All of them.
pub(crate) struct OpenPorts {
    ports: BTreeMap<PortName, OpenPort>,
    owners: HashMap<u16, PortName>,
    free: BTreeSet<u16>,
    makers: Makers,
}

impl Default for OpenPorts {
    fn default() -> Self {
        let free = (0..MOST_INTERFACES as u16).collect();
        let makers = Makers::default();
        Self { ports: BTreeMap::new(), owners: HashMap::new(), free, makers }
    }
}

impl OpenPorts {
    /// How many numbers for interfaces nobody has.
    pub(crate) fn free_count(&self) -> usize {
        self.free.len()
    }

    /// The remote that was learned and has been without a station for longest.
    pub(crate) fn idlest_remote(&self) -> Option<(PortName, IpAddr)> {
        let remotes = self.ports.iter().flat_map(|(name, port)| {
            let learned = |remote: &Remote| remote.learned.map(|learned| learned.seen);
            let seen = port.remotes.iter().filter_map(move |(to, it)| Some((learned(it)?, to)));
            seen.map(move |(seen, to)| (seen, name, *to))
        });
        remotes.min_by_key(|(seen, ..)| *seen).map(|(_, name, to)| (name.clone(), to))
    }

    /// A number for another interface: the lowest that none has.
    pub(crate) fn free_id(&self) -> Option<u16> {
        self.free.first().copied()
    }

    /// Nobody else is to have a free number.
    pub(crate) fn reserve(&mut self, id: u16) {
        self.free.remove(&id);
    }

    /// A number is to be had again.
    pub(crate) fn unreserve(&mut self, id: u16) {
        self.free.insert(id);
    }

    pub(crate) fn get(&self, name: &PortName) -> Option<&OpenPort> {
        self.ports.get(name)
    }

    pub(crate) fn get_mut(&mut self, name: &PortName) -> Option<&mut OpenPort> {
        self.ports.get_mut(name)
    }

    /// The number of a port's own interface.
    pub(crate) fn id_of(&self, name: &PortName) -> Option<u16> {
        self.ports.get(name).map(|port| port.id)
    }

    /// Whose interface a number is.
    pub(crate) fn owner(&self, id: u16) -> Option<(&PortName, &OpenPort)> {
        self.ports.get_key_value(self.owners.get(&id)?)
    }

    /// The port whose own interface has a number.
    pub(crate) fn of_id(&self, id: u16) -> Option<&OpenPort> {
        self.owner(id).map(|(_, port)| port).filter(|port| port.id == id)
    }

    /// Takes a port in, which has no remotes yet.
    pub(crate) fn insert(&mut self, name: PortName, port: OpenPort) {
        self.free.remove(&port.id);
        self.owners.insert(port.id, name.clone());
        self.ports.insert(name, port);
    }

    /// Takes a port out. Its numbers are free.
    pub(crate) fn remove(&mut self, name: &PortName) -> Option<OpenPort> {
        self.set_standing(name, Standing::default());
        let port = self.ports.remove(name)?;
        for id in port.rows() {
            self.owners.remove(&id);
            self.free.insert(id);
        }
        Some(port)
    }

    /// What stands of a port's addresses now.
    pub(crate) fn set_standing(&mut self, name: &PortName, standing: Standing) {
        let Some(port) = self.ports.get_mut(name) else { return };
        self.makers.change(port.id, &port.standing, &standing);
        port.standing = standing;
    }

    /// Which ports make which routes by their addresses.
    pub(crate) fn makers(&self) -> &Makers {
        &self.makers
    }

    /// Gives a tunnel an interface for a remote, or changes what is known of it.
    pub(crate) fn set_remote(&mut self, name: &PortName, address: IpAddr, remote: Remote) {
        if let Some(port) = self.ports.get_mut(name) {
            self.free.remove(&remote.id);
            self.owners.insert(remote.id, name.clone());
            port.remotes.insert(address, remote);
        }
    }

    /// Takes a tunnel's interface for a remote away.
    pub(crate) fn remove_remote(&mut self, name: &PortName, address: IpAddr) -> Option<Remote> {
        let remote = self.ports.get_mut(name)?.remotes.remove(&address)?;
        self.owners.remove(&remote.id);
        self.free.insert(remote.id);
        Some(remote)
    }

    /// The IPv4 addresses that others lend to a port. Anybody may be at its other end, so its
    /// network is the whole world.
    pub(crate) fn lent_to(&self, port: &OpenPort) -> Vec<(u32, u8)> {
        let lender = port.config.unnumbered.as_ref().and_then(|lender| self.get(lender));
        let lent = lender.map_or_else(Vec::new, OpenPort::addresses);
        lent.into_iter().map(|(address, _)| (address, 0)).collect()
    }

    /// What is known of a port's link: the device's, that of the port it is a part of, or what its
    /// members make of it.
    pub(crate) fn link_of(&self, port: &OpenPort) -> Link {
        match (port.parent(), &port.config.kind) {
            (Some(parent), _) => self.get(parent).map_or_else(Link::default, OpenPort::link_now),
            (None, PortKind::Bond(_)) => port.aggregate,
            (None, _) => port.read_link(),
        }
    }

    /// Whether what leaves by a port, or by the one that it is a part of, may come back by it: a
    /// bond of which the other end does not know.
    pub(crate) fn is_sent_back(&self, port: &OpenPort) -> bool {
        let below = port.parent().and_then(|parent| self.get(parent)).unwrap_or(port);
        matches!(&below.config.kind, PortKind::Bond(bond) if bond.mode == BondMode::BalanceSlb)
    }

    /// Gives ports without a MAC address of their own that of the port they are a part of, or of
    /// their first member, which may have another now: bonds first, as others are parts of them.
    pub(crate) fn inherit_macs(&mut self) {
        let (bonds, others): (Vec<_>, Vec<_>) = self.names().into_iter().partition(|name| {
            self.get(name).is_some_and(|it| matches!(it.config.kind, PortKind::Bond(_)))
        });
        for name in bonds.into_iter().chain(others) {
            let mac = self.get(&name).and_then(|port| self.inherited_mac(&port.config));
            if let (Some(mac), Some(port)) = (mac, self.get_mut(&name)) {
                port.mac = mac;
            }
        }
    }

    /// The MAC address of a port that has none of its own.
    pub(crate) fn inherited_mac(&self, config: &Port) -> Option<[u8; 6]> {
        let giver = match &config.kind {
            PortKind::Bond(bond) => bond.members.first(),
            _ => parent_of(config),
        };
        let giver = self.get(giver?)?;
        config.mac.is_none().then_some(giver.mac)
    }

    /// Their names, to go through them while they change.
    pub(crate) fn names(&self) -> Vec<PortName> {
        self.ports.keys().cloned().collect()
    }

    pub(crate) fn iter(&self) -> btree_map::Iter<'_, PortName, OpenPort> {
        self.ports.iter()
    }

    pub(crate) fn iter_mut(&mut self) -> btree_map::IterMut<'_, PortName, OpenPort> {
        self.ports.iter_mut()
    }

    pub(crate) fn values(&self) -> btree_map::Values<'_, PortName, OpenPort> {
        self.ports.values()
    }

    pub(crate) fn values_mut(&mut self) -> btree_map::ValuesMut<'_, PortName, OpenPort> {
        self.ports.values_mut()
    }
}
