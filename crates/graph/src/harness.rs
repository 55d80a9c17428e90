//! A single node on in-memory packets, for tests: no thread, no device.

use crate::exit::{NoExit, kebab};
use crate::exits::Exits;
use crate::node::{Node, NodeSpec, Role, spec};
use crate::{Context, Exit, Watch};
use packet::{Frame, HeapPool, PacketCache, PacketView, Pool, PoolError};
use std::net::IpAddr;

/// What a node decided for one packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// The exit's name as people read it; "taken" if the node took the packet.
    pub exit: String,
    /// The packet from its current header on, as the node left it.
    pub header: Vec<u8>,
    /// The packet from its start, headers that were looked at already included.
    pub whole: Vec<u8>,
    /// Interface it came in by.
    pub rx: u16,
    /// Interface it is to leave by.
    pub tx: u16,
    /// Adjacency that a lookup found for it.
    pub adjacency: u32,
    /// Our end of its tunnel, if it was told one.
    pub local: Option<IpAddr>,
}

impl Outcome {
    fn of(exit: String, packet: &PacketView<'_>) -> Self {
        let (header, whole) = (packet.header().to_vec(), packet.whole().to_vec());
        let (rx, tx) = (packet.rx(), packet.tx());
        let (adjacency, local) = (packet.adjacency(), packet.local());
        Self { exit, header, whole, rx, tx, adjacency, local }
    }
}

/// Runs one node on frames of given bytes.
pub struct NodeHarness<N: Node> {
    node: N,
    cache: Box<dyn PacketCache>,
    pool: HeapPool,
    emitted: crate::context::Emitted,
    clock: Option<u64>,
    due_tsc: u64,
    attached: Vec<(u32, String)>,
}

impl<N: Node> NodeHarness<N> {
    /// A node of its own.
    pub fn new(setup: &N::Setup) -> Result<Self, PoolError> {
        let pool = HeapPool::new(1024, 9216)?;
        let (cache, emitted) = (pool.cache(), crate::context::Emitted::new());
        let (clock, due_tsc, attached) = (None, u64::MAX, Vec::new());
        Ok(Self { node: N::new(setup), cache, pool, emitted, clock, due_tsc, attached })
    }

    /// Pretends that a node named `name` attached itself under `key`.
    pub fn attach(&mut self, key: u32, name: &str) {
        let index = N::Exit::SPECS.len() + self.attached.len();
        self.node.attach(key, crate::exit_index(index as u8));
        self.attached.push((key, name.to_owned()));
    }

    /// Shows the node one vector of packets that came in by interface `rx`, each with its first
    /// `consumed` bytes already looked at; `prepare` may set what earlier nodes would have set.
    pub fn run_prepared(
        &mut self,
        packets: &[Vec<u8>],
        rx: u16,
        consumed: usize,
        mut prepare: impl FnMut(&mut Frame),
    ) -> Vec<Outcome> {
        let mut frame = Frame::new();
        for bytes in packets {
            if let Some(packet) = self.cache.copy_of(bytes) {
                frame.push(packet, rx);
                let last = frame.len() - 1;
                frame.view(last).advance(consumed);
            }
        }
        prepare(&mut frame);
        let (mut bytes, mut uniform) = (Box::default(), None);
        let mut context = Context {
            now_tsc: self.clock.unwrap_or_else(crate::tsc),
            worker: 0,
            is_observed: false,
            cache: &mut *self.cache,
            emitted: &mut self.emitted,
            due_tsc: &mut self.due_tsc,
        };
        self.node.process(&mut frame, &mut Exits::new(&mut bytes, &mut uniform), &mut context);
        let taken = || Outcome {
            exit: "taken".to_owned(),
            header: Vec::new(),
            whole: Vec::new(),
            rx: 0,
            tx: 0,
            adjacency: 0,
            local: None,
        };
        let mut outcomes = vec![taken(); frame.left()];
        for index in 0..frame.len() {
            let exit = self.exit_name(uniform.map_or(bytes.0[index], |exit| exit.0));
            if exit == "taken" {
                outcomes.push(taken());
                continue;
            }
            let mut view = frame.view(index);
            outcomes.push(Outcome::of(exit, &view));
            view.release(&mut *self.cache);
        }
        outcomes
    }

    /// The same, without preparation.
    pub fn run(&mut self, packets: &[Vec<u8>], rx: u16, consumed: usize) -> Vec<Outcome> {
        self.run_prepared(packets, rx, consumed, |_| ())
    }

    /// What the node sent of its own since the last call, by exit.
    pub fn emitted(&mut self) -> Vec<Outcome> {
        let mut frame = std::mem::replace(&mut self.emitted.frame, Frame::new());
        let outcomes = (0..frame.len())
            .map(|index| {
                let exit = self.exit_name(self.emitted.exits.0[index]);
                Outcome::of(exit, &frame.view(index))
            })
            .collect();
        self.cache.release(frame.take_all());
        outcomes
    }

    /// Sets the clock: it stands there until it is set again.
    pub fn set_clock(&mut self, tsc: u64) {
        self.clock = Some(tsc);
    }

    /// When the node wants to be called again, as it said since this was asked last.
    pub fn take_due_tsc(&mut self) -> u64 {
        std::mem::replace(&mut self.due_tsc, u64::MAX)
    }

    /// What the node would have its worker wait for.
    pub fn watched(&mut self) -> Watch {
        let mut watch = Watch::default();
        self.node.before_rest(&mut watch);
        watch
    }

    /// Buffers that nobody holds; equal before and after a test, unless the node keeps some.
    pub fn free_buffers(&self) -> usize {
        self.pool.usage().free
    }

    fn exit_name(&self, number: u8) -> String {
        let number = usize::from(number);
        let declared = N::Exit::SPECS;
        match (declared.get(number), self.attached.get(number.wrapping_sub(declared.len()))) {
            (Some(exit), _) => kebab(exit.name),
            (None, Some((_, name))) => name.clone(),
            (None, None) => "taken".to_owned(),
        }
    }
}

/// A drop node for graphs of tests.
pub struct TestDrop;

impl Node for TestDrop {
    const NAME: &'static str = "drop";
    const ABOUT: &'static str = "frees what nobody wants";
    const ROLE: Role = Role::Inner;
    type Exit = NoExit;
    type Setup = ();

    fn new((): &()) -> Self {
        Self
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, NoExit>,
        context: &mut Context<'_>,
    ) {
        context.cache.release(frame.take_all());
        exits.all_taken();
    }
}

/// The spec of [`TestDrop`].
pub const TEST_DROP: NodeSpec<()> = spec::<TestDrop>();
