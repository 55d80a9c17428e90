//! Sends what an interface received out of the one it is cross-connected with, unread.

use crate::tables::{Interfaces, Mode, Setup};
use graph::{Context, Exits, Node, Published};
use packet::{Frame, alike};

/// See the module.
pub struct L2Xconnect {
    interfaces: Published<Interfaces>,
}

graph::exits! {
    /// What becomes of a cross-connected frame.
    pub enum Exit {
        /// To the other interface.
        Output => node "interface-output",
        /// The cross-connect was removed while the frame was under way.
        Disconnected => drop "Nothing, if it ends: the configuration changed just then.",
    }
}

impl Node for L2Xconnect {
    const NAME: &'static str = "l2-xconnect";
    const ABOUT: &'static str = "cross-connects two interfaces";
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        Self { interfaces: setup.shared.interfaces.clone() }
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        let interfaces = self.interfaces.get(context);
        let peer_of = |rx: u16| match interfaces.get(rx)?.mode {
            Mode::CrossConnect(peer) => Some(peer.0),
            Mode::Routed | Mode::Bridged(_) | Mode::Member(_) => None,
        };
        if let Some(peer) = alike(frame.rx()).and_then(peer_of) {
            frame.tx_mut().fill(peer);
            exits.all(Exit::Output);
            return;
        }
        for slot in 0..frame.len() {
            let peer = peer_of(frame.rx()[slot]);
            exits.set(slot, if peer.is_some() { Exit::Output } else { Exit::Disconnected });
            frame.tx_mut()[slot] = peer.unwrap_or_default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::World;
    use graph::harness::NodeHarness;

    #[test]
    fn frames_leave_by_the_peer_as_they_came() {
        let mut node = NodeHarness::<L2Xconnect>::new(&World::new().setup).unwrap();
        for (rx, tx) in [(2, 3), (3, 2)] {
            let out = node.run(&[vec![1, 2, 3], vec![4]], rx, 0);
            assert_eq!((out[0].exit.as_str(), out[0].tx, out[1].tx), ("output", tx, tx));
            assert_eq!((&out[0].header[..], &out[1].header[..]), (&[1, 2, 3][..], &[4][..]));
        }
    }

    #[test]
    fn frames_of_several_interfaces_part() {
        let mut node = NodeHarness::<L2Xconnect>::new(&World::new().setup).unwrap();
        let out = node.run_prepared(&vec![vec![1]; 3], 2, 0, |frame| {
            frame.view(1).set_rx(3);
            frame.view(2).set_rx(0);
        });
        let parted: Vec<_> = out.iter().map(|out| (out.exit.as_str(), out.tx)).collect();
        assert_eq!(parted, [("output", 3), ("output", 2), ("disconnected", 0)]);
    }
}
