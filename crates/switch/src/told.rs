//! What controllers are told without asking.

use crate::bridge::Bridge;
use crate::connection::{Connection, Event};
use crate::stats::stats_of;
use flow::Told;
use openflow::message::{FlowRemoved, PacketIn, Role, pause_of_old, port_status};
use openflow::{Match, PortNumber, Version};
use std::sync::Arc;

/// A packet for controllers.
#[derive(Clone, Debug)]
pub struct PacketSeen {
    pub(crate) controller: u16,
    pub(crate) reason: u8,
    table: u8,
    cookie: u64,
    metadata: Match,
    data: Vec<u8>,
    length: usize,
}

impl PacketSeen {
    /// Whether no flow sent it.
    pub(crate) fn is_of_no_flow(&self) -> bool {
        self.cookie == u64::MAX
    }
}

impl Bridge {
    /// A packet came to an action that tells somebody.
    pub fn told(&mut self, told: &Told, frame: &[u8], now_ns: u64) {
        match told {
            Told::Learned(flow, most) => self.learn(flow, *most, now_ns),
            Told::Ended { flow: (table, priority, matching), idle, hard } => {
                self.end_flow((*table, *priority, matching), (*idle, *hard), now_ns);
            }
            Told::Packet { max_len, controller, reason, table, cookie, metadata } => {
                let seen = PacketSeen {
                    controller: *controller,
                    reason: *reason,
                    table: *table,
                    cookie: *cookie,
                    metadata: metadata.clone(),
                    data: frame[..frame.len().min(usize::from(*max_len))].to_vec(),
                    length: frame.len(),
                };
                self.events.push(Event::Packet(Arc::new(seen)));
            }
        }
    }

    /// Whether packets of a port go to controllers.
    pub fn tells_of(&self, port: PortNumber) -> bool {
        use openflow::message::config::NO_PACKET_IN;
        self.ports.get(&port).is_none_or(|port| port.config & NO_PACKET_IN == 0)
    }
}

impl Connection {
    pub(crate) fn encode(&self, event: &Event, version: Version) -> Vec<u8> {
        match event {
            Event::Port(reason, port) => port_status(version, *reason, port),
            Event::Table(reason, desc) => desc.status(version, *reason),
            Event::FlowRemoved(flow, now_ns, reason) => {
                FlowRemoved { flow: stats_of(flow, *now_ns), reason: *reason }
                    .encode(self.form, version)
            }
            // Nothing is kept for a controller to fetch, so it gets all of what no flow matched,
            // whatever it set for packets that are kept (1.3, 7.4.1).
            Event::Packet(it) => PacketIn {
                reason: it.reason,
                table: it.table,
                cookie: it.cookie,
                metadata: &it.metadata,
                data: &it.data,
                length: it.length,
            }
            .encode(self.packet_in, version),
            Event::Pause { is_over } => pause_of_old(*is_over),
            // Those are written together.
            Event::Flow(_) | Event::Own(_) => Vec::new(),
            Event::Demoted(generation) => Role::Slave.status(version, *generation),
        }
    }
}
