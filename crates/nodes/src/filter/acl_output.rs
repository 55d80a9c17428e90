//! Holds what interfaces send to their access lists: as it will be sent, our own packets and the kernel's too.
//!
//! ```text
//!  interface_output, (a feature) ─▶ acl_output ┬▶ (the next feature), interface_leave
//!                                              └▶ drop     denied
//! ```
//! Lists speak of IP packets alone: ARP and what else there is passes.

use crate::filter::{Access, Judge, Refusal};
use crate::tables::{Feature, Interfaces, Setup, Side, Turns, output_turn};
use graph::{Context, ExitIndex, Exits, Node, Published, Turn};
use packet::Frame;

/// See the module.
pub struct AclOutput {
    interfaces: Published<Interfaces>,
    turns: Turns,
    judge: Judge,
}

graph::exits! {
    /// What becomes of a frame.
    pub enum Exit {
        /// The list permits it, and nothing else is asked.
        Leave => node "interface-leave",
        /// The access list of the interface denies it.
        Denied => drop,
        /// It says that it is IP, and its headers are cut short or wrong: no list can judge it.
        Unreadable => drop,
    }
}

impl From<Refusal> for Exit {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Denied => Self::Denied,
            Refusal::Unreadable => Self::Unreadable,
        }
    }
}

impl Feature for AclOutput {
    const PLACE: u8 = 20;
    const CHANGES: bool = false;
    type Setting = Access;
}

impl Node for AclOutput {
    const NAME: &'static str = "acl-output";
    const ABOUT: &'static str = "holds what is sent to access lists";
    const TURN: Option<Turn> = output_turn::<Self>();
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        let interfaces = setup.shared.interfaces.clone();
        Self { interfaces, turns: Turns::new(), judge: Judge::new() }
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
        let (interfaces, worker) = (self.interfaces.get(context), context.worker);
        let Self { turns, judge, .. } = self;
        turns.take::<Self>(
            Side::Sent,
            interfaces,
            frame,
            exits,
            Exit::Leave,
            |run, frame, exits| {
                let refuse = |slot, refusal| exits.set(slot, Exit::from(refusal));
                judge.hold((run.row, &run.setting.0), frame, run.slots, worker, refuse);
            },
        );
    }
}
