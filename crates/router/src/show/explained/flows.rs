//! Which flows of a bridge decided, table by table, and what they came to.

use super::decisions::{Look, Told, whole};
use flow::{InTunnel, Key, Looked, Step, extract};
use nodes::tables::{FlowBridge, bridge_port};
use openflow::action::{Mpls, PushVlan, SetField};
use openflow::{Action, Actions, PortWord};
use std::sync::{Arc, PoisonError};

impl Look<'_> {
    /// The bridge, whose tables are asked next.
    pub(super) fn bridge_of_flows(&self) -> Told {
        let row = self.row(self.step.rx)?;
        let port = bridge_port(self.router.core.dataplane.interfaces(), self.step.rx)?.flow?;
        let bridge = self.router.parts.bridges.word_of(port.bridge);
        let said = format!("{bridge}, where {} is port {}", row.name, PortWord(port.number));
        Some(vec![("bridge of flows", said)])
    }

    /// Both: a worker that knew what the flows come to did not ask them again. What comes back from
    /// connection tracking is not in its headers, and is told where it was sent there.
    pub(super) fn flows_of_bridge(&self) -> Told {
        let mut told = self.bridge_of_flows()?;
        let is_asked = self.router.exit_of(self.step) == "upcall";
        told.extend(self.flows().filter(|_| !is_asked).unwrap_or_default());
        Some(told)
    }

    /// The flows that the packet went by.
    pub(super) fn flows(&self) -> Told {
        let dataplane = &self.router.core.dataplane;
        let port = bridge_port(dataplane.interfaces(), self.step.rx)?;
        let all = dataplane.flow_bridges.lock().unwrap_or_else(PoisonError::into_inner);
        let (port, bridge) = all.of(&port).map(|(port, bridge)| (port, Arc::clone(bridge)))?;
        drop(all);
        // What a worker knew already has no tunnel's number where that would be.
        let has_own = bridge.tunnel(port.number).is_some_and(|tunnel| tunnel.number.is_none());
        if has_own && self.router.exit_of(self.step) == "act" {
            return None;
        }
        let mut key = Key::default();
        let (remote, local) = (self.step.remote, self.step.local);
        let own = InTunnel { number: self.step.adjacency, remote, local };
        bridge.tell_tunnel(port.number, own, &mut key);
        extract(&whole(self.step), port.number, &mut key);
        let (verdict, trail) = flow::explain(&bridge.snapshot, &key);
        let mut told: Vec<_> = trail.iter().map(|it| ("flow", looked(it))).collect();
        let steps: Vec<String> = verdict.steps.iter().map(|it| self.step(&bridge, it)).collect();
        told.push((
            "comes to",
            match (verdict.is_cut, steps.is_empty()) {
                (true, _) => "nothing: an action of it cannot be done here".to_owned(),
                (false, true) => "nothing: the packet goes nowhere".to_owned(),
                (false, false) => steps.join(", then "),
            },
        ));
        Some(told)
    }

    fn step(&self, bridge: &FlowBridge, step: &Step) -> String {
        let in_words = |action: Action| action.to_string();
        match step {
            Step::Output(number) => match bridge.rows.get(number) {
                Some(row) => {
                    format!("out of {} (port {})", self.name(row.interface), PortWord(*number))
                }
                None => format!("out of port {}, which is not there", PortWord(*number)),
            },
            Step::Normal => "as an ordinary bridge".to_owned(),
            Step::Set(field, value, mask) => {
                let (field, value, mask) = (*field, *value, *mask);
                in_words(SetField { field, value, mask, is_load: false }.into())
            }
            Step::PushVlan(tpid, tci) => {
                format!("{} with VLAN {}", in_words(PushVlan { tpid: *tpid }.into()), tci & 0xfff)
            }
            Step::PopVlan => "pop_vlan".to_owned(),
            Step::Tunnel(InTunnel { number, remote, local }) => {
                let to = remote.map(|remote| match remote {
                    _ if remote.is_unspecified() => ", to no other end".to_owned(),
                    _ => format!(", to {remote}"),
                });
                let from = local.filter(|local| !local.is_unspecified());
                let from = from.map(|local| format!(", from {local}"));
                format!(
                    "set_tunnel:0x{number:x}{}{}",
                    to.unwrap_or_default(),
                    from.unwrap_or_default()
                )
            }
            Step::PushMpls { kind, label, .. } => {
                format!("{} with label {}", in_words(Mpls::Push(*kind).into()), label >> 12)
            }
            Step::PopMpls { kind, .. } => in_words(Mpls::Pop(*kind).into()),
            Step::Queue(Some(queue)) => format!("set_queue:{queue}"),
            Step::Queue(None) => "pop_queue".to_owned(),
            Step::Meter(meter) => format!("meter:{meter}, which lets it pass here"),
            Step::Sample(sample) => {
                format!("{}, if it is one of those", in_words((*sample).into()))
            }
            Step::Tell(told) => match &**told {
                flow::Told::Packet { .. } => "controllers are told".to_owned(),
                flow::Told::Learned(..) => "a flow is learned".to_owned(),
                flow::Told::Ended { .. } => "its flow ends sooner".to_owned(),
            },
            Step::Track(track) => {
                let commits = if track.commits { ", which remembers it" } else { "" };
                let nat = if track.nat.is_some() { " and translates it" } else { "" };
                format!("tracked in zone {}{commits}{nat}", track.zone)
            }
            Step::Recirculate(_, frozen) => match frozen.table() {
                Some(table) => {
                    format!("again from table {table}, with what tracking says of it")
                }
                None => "again, as what was behind its labels".to_owned(),
            },
            Step::Fork(_) => "a copy".to_owned(),
            Step::End => "the end of that copy".to_owned(),
        }
    }
}

/// A look-up, further in where another led to it.
fn looked(it: &Looked) -> String {
    let inside = "  ".repeat(it.depth as usize);
    let Some(flow) = &it.flow else {
        return format!("{inside}table {}: no flow matches", it.table);
    };
    let cookie = match flow.cookie {
        0 => String::new(),
        cookie => format!("cookie 0x{cookie:x}, "),
    };
    let (priority, matching) = (flow.priority, &flow.matching);
    let does = Actions(&flow.program);
    format!("{inside}table {}: {cookie}priority {priority}, {matching}: {does}", it.table)
}
