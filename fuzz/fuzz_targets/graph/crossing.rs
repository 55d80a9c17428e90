//! A translation: what comes in by one link is of hosts inside, of IPv4 and of IPv6, and the world
//! beyond another speaks IPv4.

use super::topology;
use conntrack::cross::Prefix64;
use conntrack::{Pool, Table, Timeouts};
use nodes::nat::{Nat44, Nat44Input, Nat44Output, Nat64Input, Translated};
use nodes::tables::Interface;
use std::sync::Arc;

const INSIDE: u16 = 0;
const OUTSIDE: u16 = 1;
/// Connections, endpoints and packets in pieces that there is room for: full before long.
const ROOM: usize = 64;
/// How long the longest is kept without packets, in seconds: time passes by as much at once.
const MOST_S: u32 = 60;
/// Beside the router's own address, one that is nobody's.
const OTHER: [u8; 4] = [198, 51, 100, 9];

pub(super) struct Crossing {
    nat: Translated,
    table: Arc<Table>,
}

impl Crossing {
    pub(super) fn new() -> Self {
        let table = Arc::new(Table::new(ROOM, 7));
        let addresses = [topology::US_OUTSIDE, OTHER].map(u32::from_be_bytes);
        let each = addresses.map(|address| address..=address).to_vec();
        let nat = Nat44 {
            name: "home".to_owned(),
            table: Arc::clone(&table),
            timeouts: Timeouts {
                tcp_established: MOST_S,
                tcp_unanswered: MOST_S,
                tcp_syn_sent: MOST_S,
                tcp_fin_wait: MOST_S,
                ..Timeouts::default()
            },
            zone: 1,
            inside: vec![INSIDE],
            // Few ports: soon none is free.
            pool: Pool { addresses: each, ports: 4000..=4015, reserved: Vec::new() },
            forwards: Vec::new(),
            own: vec![addresses[0]],
            open: true,
            nat64: Some(Prefix64::WELL_KNOWN),
        };
        Self { nat: Translated(Arc::new(nat)), table }
    }

    /// Has the row of an interface translate, if it is one of the two.
    pub(super) fn hold(&self, id: u16, row: &mut Interface) {
        let translated = || Some(self.nat.clone());
        if id == INSIDE || id == OUTSIDE {
            row.set::<Nat64Input>(translated());
            row.set::<Nat44Input>(translated());
        }
        if id == OUTSIDE {
            row.set::<Nat44Output>(translated());
        }
    }

    /// There are never more than there is room for.
    pub(super) fn check(&self) {
        let counted = self.table.counters();
        assert!(counted.begun - counted.ended <= ROOM as u64, "{counted:?}");
    }

    /// What is over goes, as the control thread has it.
    pub(super) fn sweep(&self, now_s: u32) {
        self.table.sweep(0, ROOM, now_s);
    }
}

/// What stands inside for a host of IPv4.
pub(super) fn behind(address: [u8; 4]) -> u128 {
    Prefix64::WELL_KNOWN.ip6_of(u32::from_be_bytes(address))
}

/// Whether an address is of those.
pub(super) fn is_behind(address: u128) -> bool {
    Prefix64::WELL_KNOWN.has(address)
}
