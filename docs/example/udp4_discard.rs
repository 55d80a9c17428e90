//! The discard service (RFC 863): takes datagrams to port 9 and never answers.
//!
//! ```text
//!  udp4_local ─▶ udp4_discard
//! ```

use crate::tables::Setup;
use graph::{Attach, Context, Exits, Node};
use packet::Frame;

/// See the module.
pub struct Udp4Discard;

graph::exits! {
    /// What becomes of a datagram.
    pub enum Exit {
        /// RFC 863: thrown away, as it asked for.
        Discarded => drop "Nothing: that is what the service is for.",
        /// Nothing in it: somebody only looks whether we are here.
        Empty => drop "Nothing.",
    }
}

impl Node for Udp4Discard {
    const NAME: &'static str = "udp4-discard";
    const ABOUT: &'static str = "throws datagrams to port 9 away";
    const ATTACH: &'static [Attach] = &[Attach { of: "udp4-local", key: 9 }];
    type Exit = Exit;
    type Setup = Setup;

    fn new(_: &Setup) -> Self {
        Self
    }

    fn process(&mut self, frame: &mut Frame, exits: &mut Exits<'_, Exit>, _: &mut Context<'_>) {
        exits.each(frame, |packet| match packet.length() {
            // 20 bytes of IPv4 and 8 of UDP: udp4_local has checked both.
            ..=28 => Exit::Empty,
            _ => Exit::Discarded,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{HOST, US, World};
    use graph::harness::NodeHarness;
    use wire::craft;

    #[test]
    fn datagrams_are_discarded_and_empty_ones_told_apart() {
        let with = |data: &[u8]| craft::ipv4(HOST, US).udp(1000, 9).payload(data).build();
        let mut node = NodeHarness::<Udp4Discard>::new(&World::new().setup).unwrap();
        let out = node.run(&[with(b"hello"), with(b"")], 0, 0);
        assert_eq!((out[0].exit.as_str(), out[1].exit.as_str()), ("discarded", "empty"));
    }
}
