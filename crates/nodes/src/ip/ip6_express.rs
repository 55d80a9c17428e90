//! The IPv6 packets of a vector that has others, too: see `ip_express`.

use super::express::{Express, Ip6, Tried};
use crate::tables::Setup;
use graph::{Context, Exits, Node};
use packet::Frame;

/// See the module.
pub struct Ip6Express(Express<Ip6>);

graph::exits! {
    /// The way of a vector.
    pub enum Exit {
        /// All are forwarded.
        Output => node "interface-output",
        /// To be looked at one by one.
        Ordinary => node "ethernet-input",
    }
}

impl Node for Ip6Express {
    const NAME: &'static str = "ip6-express";
    const ABOUT: &'static str = "forwards plain IPv6 packets out of mixed vectors";
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        Self(Express::new(setup))
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        let tried = self.0.forward(frame, &mut exits.bytes().0, context);
        exits.all(if tried == Tried::Done { Exit::Output } else { Exit::Ordinary });
    }
}
