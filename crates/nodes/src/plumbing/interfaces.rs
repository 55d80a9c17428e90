//! Interfaces as workers see them: rows of one table that the control thread publishes.

/// A row of the interface table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct InterfaceId(pub u16);

/// What becomes of the packets that an interface receives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// They are for our addresses or to be routed.
    Routed,
    /// They leave by another interface as they came.
    CrossConnect(InterfaceId),
}

/// One interface.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Interface {
    /// Its name in the configuration.
    pub name: String,
    /// The device behind it; index of its transmit queues.
    pub port: u16,
    /// Administratively up: a down interface neither receives nor sends.
    pub up: bool,
    /// What leaves by it waits for its turn in a scheduler.
    pub shaped: bool,
    /// What becomes of received packets.
    pub mode: Mode,
    /// Its MAC address.
    pub mac: [u8; 6],
    /// Longest packet behind the link header that it takes.
    pub mtu_bytes: u16,
    /// Its IPv4 addresses with their prefix lengths, the primary one first, host byte order.
    pub ip4: Vec<(u32, u8)>,
}

impl Interface {
    /// The address that our own packets carry, if it has one.
    pub fn primary_ip4(&self) -> Option<u32> {
        self.ip4.first().map(|&(address, _)| address)
    }

    /// The address that our own packets towards `neighbor` carry: one in its subnet, else the
    /// primary one.
    pub fn ip4_towards(&self, neighbor: u32) -> Option<u32> {
        let near = self.ip4.iter().find(|&&subnet| contains(subnet, neighbor));
        near.or(self.ip4.first()).map(|&(address, _)| address)
    }

    /// True if `address` is one of its own.
    pub fn has_ip4(&self, address: u32) -> bool {
        self.ip4.iter().any(|&(own, _)| own == address)
    }

    /// True if `address` lies in a subnet of this interface.
    pub fn reaches_ip4(&self, address: u32) -> bool {
        self.ip4.iter().any(|&subnet| contains(subnet, address))
    }
}

/// True if the subnet, an address of it and its prefix length, has `address`.
fn contains((own, length): (u32, u8), address: u32) -> bool {
    let host_bits = 32 - u32::from(length.min(32));
    (own ^ address).checked_shr(host_bits).unwrap_or(0) == 0
}

/// All interfaces; rows stay where they are, so an id is good until the interface is removed.
#[derive(Clone, Debug, Default)]
pub struct Interfaces {
    /// Rows by id; a removed interface leaves a gap.
    pub rows: Vec<Option<Interface>>,
}

impl Interfaces {
    /// The interface of a frame's `rx` or `tx` entry.
    #[inline]
    pub fn get(&self, id: u16) -> Option<&Interface> {
        self.rows.get(usize::from(id))?.as_ref()
    }
}
