//! Routed IPv4 held to a rate that nothing exceeds: what every packet pays for being counted.

use super::setting::{NEXT_HOP_MAC, adjacency, udp};
use crate::rig::{Rig, RigError};
use crate::scenario::Scenario;
use fib::{Forward, Ip4Prefix};
use nodes::filter::{Mark, NamedPolicer, Policed, Treatment, policer_input::PolicerInput};
use nodes::tables::{Kind, Mode};
use police::{Agreement, ColourCounters, Policer, Rate};
use std::net::Ipv4Addr;
use std::sync::Arc;

/// More than a worker forwards.
const BITS_PER_SECOND: u64 = 400_000_000_000;

pub(crate) fn all() -> Vec<Scenario> {
    // As ip4-1, and a word that changes with each packet.
    vec![Scenario::new("ip4-police", 75.0, ip4)]
}

fn ip4() -> Result<Rig, RigError> {
    let mut rig = Rig::new(vec![udp(0x0a00_0009)], Mode::Routed)?;
    let plane = &mut rig.dataplane;
    let id = plane.adjacencies.allocate(&adjacency(Ipv4Addr::new(172, 16, 0, 1).into()))?;
    plane.adjacencies.complete(id, NEXT_HOP_MAC);
    let on = Forward::new(Kind::Rewrite as u8, id.0);
    plane.ip4.insert(Ip4Prefix::new(0x0a00_0000, 8)?, on)?;
    let rate = Rate::new(BITS_PER_SECOND, graph::tsc_hz())?;
    let agreement = Agreement::SingleRate { rate, burst_bytes: 1 << 30, excess_bytes: None };
    let pass = Treatment::Pass(Mark::default());
    let policer = NamedPolicer {
        policer: Policer::new(agreement, false)?.into(),
        treatments: [pass, pass, Treatment::Drop],
        counters: Box::new([ColourCounters::default()]),
    };
    let mut row = plane.interfaces().get(0).cloned().ok_or("interface 0 is there")?;
    let policed = Policed { policer: Some(Arc::new(policer)), mark: Mark::default() };
    row.set::<PolicerInput>(Some(policed));
    plane.set_interface(0, Some(row));
    Ok(rig)
}
