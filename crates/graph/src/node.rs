//! What a node is.

use crate::context::Context;
use crate::exit::{Exit, ExitIndex, ExitSpec};
use crate::exits::Exits;
use crate::watch::Watch;
use packet::{ExitBytes, Frame};

/// When the engine calls a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Once a loop with an empty frame, to fill it.
    Input,
    /// With the packets that were sent to it.
    Inner,
    /// Both: with packets that were sent to it, and once a loop with an empty frame.
    Polled,
    /// With packets that were sent to it, and with an empty frame when the time has come that it
    /// asked for ([`Context::call_at`]) or somebody rings ([`crate::Doorbell`]). Costs nothing
    /// else.
    Timed,
}

/// A wish of a node: what the demultiplexing node `of` finds under `key` shall come to me.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Attach {
    /// Name of the demultiplexing node.
    pub of: &'static str,
    /// Its key: an ethertype, an IP protocol, a UDP port; the node says.
    pub key: u32,
}

/// A node's turn in an arc: nodes that packets pass one after the other, and each of which some
/// packets leave out. Every node of an arc can send to every one behind it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Turn {
    /// Name of the node that the arc begins at.
    pub arc: &'static str,
    /// Its place there; lower ones come first. Those before it know it by this key.
    pub place: u32,
}

/// Forwarding logic: names an exit for each packet it is shown. It never owns a packet, so it can
/// neither leak, nor free twice, nor reorder; counting, tracing and moving are the engine's.
pub trait Node: Send + Sized + 'static {
    /// The file's name with hyphens; metric and trace label.
    const NAME: &'static str;
    /// What it does, one line.
    const ABOUT: &'static str;
    /// When it is called.
    const ROLE: Role = Role::Inner;
    /// What it wants to be sent by demultiplexing nodes.
    const ATTACH: &'static [Attach] = &[];
    /// Its turn, where it stands in an arc.
    const TURN: Option<Turn> = None;
    /// Whether its packets begin another way through the graph: that closes loops, and says nothing
    /// of which node comes before which.
    const BEGINS_AGAIN: bool = false;
    /// Its exits.
    type Exit: Exit;
    /// What it is made from: the tables and settings of the program around it.
    type Setup;

    /// A node for one worker.
    fn new(setup: &Self::Setup) -> Self;

    /// Another node wants what this one finds under `key`; in an arc, what its place is. Called
    /// before the first frame.
    fn attach(&mut self, _key: u32, _exit: ExitIndex) {}

    /// Names an exit for every packet of a frame, or takes it.
    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Self::Exit>,
        context: &mut Context<'_>,
    );

    /// The worker will rest after one more pass, if that finds nothing: what else could bring this
    /// node packets while it is not called? Asked of [`Role::Input`] and [`Role::Polled`]; one that
    /// does not say is looked after at short intervals.
    fn before_rest(&mut self, watch: &mut Watch) {
        watch.look();
    }

    /// The rest that was announced is over, or did not come to be.
    fn after_rest(&mut self) {}
}

/// A node as the layout knows it, before any worker has one.
pub struct NodeSpec<S: 'static> {
    /// [`Node::NAME`].
    pub name: &'static str,
    /// [`Node::ABOUT`].
    pub about: &'static str,
    /// [`Node::ROLE`].
    pub role: Role,
    /// [`Node::ATTACH`].
    pub attach: &'static [Attach],
    /// [`Node::TURN`].
    pub turn: Option<Turn>,
    /// [`Node::BEGINS_AGAIN`].
    pub begins_again: bool,
    /// The declared exits.
    pub exits: &'static [ExitSpec],
    pub(crate) make: fn(&S) -> Box<dyn DynNode>,
}

impl<S> Clone for NodeSpec<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for NodeSpec<S> {}

/// The spec of a node type.
pub const fn spec<N: Node>() -> NodeSpec<N::Setup> {
    NodeSpec {
        name: N::NAME,
        about: N::ABOUT,
        role: N::ROLE,
        attach: N::ATTACH,
        turn: N::TURN,
        begins_again: N::BEGINS_AGAIN,
        exits: <N::Exit as Exit>::SPECS,
        make: |setup| Box::new(N::new(setup)),
    }
}

/// A node behind one indirect call a frame.
pub(crate) trait DynNode: Send {
    fn attach(&mut self, key: u32, exit: ExitIndex);
    fn process(
        &mut self,
        frame: &mut Frame,
        bytes: &mut ExitBytes,
        uniform: &mut Option<ExitIndex>,
        context: &mut Context<'_>,
    );
    fn before_rest(&mut self, watch: &mut Watch);
    fn after_rest(&mut self);
}

impl<N: Node> DynNode for N {
    fn attach(&mut self, key: u32, exit: ExitIndex) {
        Node::attach(self, key, exit);
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        bytes: &mut ExitBytes,
        uniform: &mut Option<ExitIndex>,
        context: &mut Context<'_>,
    ) {
        Node::process(self, frame, &mut Exits::new(bytes, uniform), context);
    }

    fn before_rest(&mut self, watch: &mut Watch) {
        Node::before_rest(self, watch);
    }

    fn after_rest(&mut self) {
        Node::after_rest(self);
    }
}
