//! Brings in what the control thread sends: frames of its own, and packets that waited with it.
//!
//! ```text
//!  control thread ─▶ inject ┬▶ interface_output   a whole frame
//!                           ├▶ ip4_rewrite        the next hop's MAC is known now
//!                           ├▶ icmp4_error        nobody answered for the next hop
//!                           └▶ drop
//! ```

use crate::ip4_lookup::icmp4_cause;
use crate::plumbing::{Injected, Setup};
use graph::{Context, Exits, Node, Role};
use packet::Frame;
use std::sync::PoisonError;
use std::sync::mpsc::Receiver;
use wire::icmp4::{message, unreachable};

/// See the module.
pub struct Inject {
    /// None on all workers but one.
    injected: Option<Receiver<Injected>>,
}

graph::exits! {
    /// By what is asked.
    pub enum Exit {
        /// A frame of the control thread's.
        Output => node "interface-output",
        /// An IPv4 packet whose adjacency is complete.
        Rewrite => node "ip4-rewrite",
        /// RFC 1812 section 5.2.7.1: the next hop does not answer.
        Unreachable => node "icmp4-error" cause icmp4_cause(message::UNREACHABLE, unreachable::HOST),
        /// It waited for a neighbour that did not answer, or that others waited for too.
        Unresolved => drop,
    }
}

impl Node for Inject {
    const NAME: &'static str = "inject";
    const ABOUT: &'static str = "brings in what the control thread sends";
    const ROLE: Role = Role::Input;
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        let mut injected = setup.injected.lock().unwrap_or_else(PoisonError::into_inner);
        Self { injected: injected.take() }
    }

    fn process(&mut self, frame: &mut Frame, exits: &mut Exits<'_, Exit>, _: &mut Context<'_>) {
        let Some(injected) = &self.injected else { return };
        while frame.room() != 0
            && let Ok(next) = injected.try_recv()
        {
            let slot = frame.len();
            let exit = match next {
                Injected::Frame { interface, packet } => {
                    frame.push(packet, interface);
                    frame.view(slot).set_tx(interface);
                    Exit::Output
                }
                Injected::Ip4Resolved { adjacency, rx, packet } => {
                    frame.push(packet, rx);
                    frame.view(slot).set_adjacency(adjacency);
                    Exit::Rewrite
                }
                Injected::Ip4Unreachable { rx, packet } => {
                    frame.push(packet, rx);
                    Exit::Unreachable
                }
                Injected::Discard { rx, packet } => {
                    frame.push(packet, rx);
                    Exit::Unresolved
                }
            };
            exits.set(slot, exit);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plumbing::testing::{TO_GATEWAY, World};
    use graph::harness::NodeHarness;
    use packet::{HeapPool, Pool};

    #[test]
    fn each_kind_goes_where_it_is_meant_to() {
        let (world, pool) = (World::new(), HeapPool::new(8, 64).unwrap());
        let mut cache = pool.cache();
        let mut node = NodeHarness::<Inject>::new(&world.setup).unwrap();
        let mut packet = || cache.copy_of(b"bytes").unwrap();
        for injected in [
            Injected::Frame { interface: 1, packet: packet() },
            Injected::Ip4Resolved { adjacency: TO_GATEWAY, rx: 0, packet: packet() },
            Injected::Ip4Unreachable { rx: 0, packet: packet() },
            Injected::Discard { rx: 0, packet: packet() },
        ] {
            world.injector.send(injected).unwrap();
        }
        let out = node.run(&[], 0, 0);
        let exits: Vec<_> = out.iter().map(|out| out.exit.as_str()).collect();
        assert_eq!(exits, ["output", "rewrite", "unreachable", "unresolved"]);
        assert_eq!((out[0].tx, out[1].adjacency), (1, TO_GATEWAY));
        assert!(out.iter().all(|out| out.header == b"bytes"));
        assert!(node.run(&[], 0, 0).is_empty());
    }

    #[test]
    fn only_the_first_worker_injects() {
        let (world, pool) = (World::new(), HeapPool::new(8, 64).unwrap());
        let _first = NodeHarness::<Inject>::new(&world.setup).unwrap();
        let mut second = NodeHarness::<Inject>::new(&world.setup).unwrap();
        let packet = pool.cache().copy_of(b"bytes").unwrap();
        world.injector.send(Injected::Frame { interface: 1, packet }).unwrap();
        assert!(second.run(&[], 0, 0).is_empty());
    }
}
