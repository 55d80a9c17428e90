//! Where frames begin their turns whose interface has features for what it receives.
//!
//! ```text
//!  port_rx, vlan_input, tunnel_decap, l2_forward, l2_flood ─▶ interface_input ─▶ (its first feature)
//! ```

use crate::interface::{Turns, run_of};
use crate::tables::{Interfaces, Setup};
use graph::{Context, ExitIndex, Exits, Node, Published};
use packet::Frame;

/// See the module.
pub struct InterfaceInput {
    interfaces: Published<Interfaces>,
    turns: Turns,
}

graph::exits! {
    /// Where frames go that no feature gets.
    pub enum Exit {
        /// The interface has no features any more.
        Enter => node "interface-enter",
    }
}

impl Node for InterfaceInput {
    const NAME: &'static str = "interface-input";
    const ABOUT: &'static str = "begins with the features of what interfaces receive";
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        Self { interfaces: setup.shared.interfaces.clone(), turns: Turns::new() }
    }

    fn attach(&mut self, key: u32, exit: ExitIndex) {
        self.turns.attach(key, exit);
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        let interfaces = self.interfaces.get(context);
        let mut from = 0;
        while from < frame.len() {
            let (rx, until) = run_of(frame.rx(), from);
            let first = interfaces.get(rx).and_then(|row| self.turns.next(&row.input));
            exits.run(from..until, first.unwrap_or(Exit::Enter.into()));
            from = until;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::acl_input::AclInput;
    use crate::interface::{MirrorTo, mirror_input::MirrorInput};
    use crate::tables::Feature;
    use crate::testing::World;
    use graph::harness::NodeHarness;

    #[test]
    fn frames_go_to_the_first_feature_of_their_interface() {
        let mut world = World::new();
        world.change_interface(2, |row| row.set::<MirrorInput>(Some(MirrorTo(5))));
        let mut node = NodeHarness::<InterfaceInput>::new(&world.setup).unwrap();
        node.attach(AclInput::PLACE.into(), "acl");
        node.attach(MirrorInput::PLACE.into(), "mirror");
        let out = node.run_prepared(&vec![vec![0; 60]; 4], 0, 0, |frame| {
            frame.rx_mut().copy_from_slice(&[2, 2, 0, 99]);
        });
        let exits: Vec<_> = out.iter().map(|out| out.exit.as_str()).collect();
        assert_eq!(exits, ["mirror", "mirror", "enter", "enter"]);
    }
}
