//! One connection: what its peer says moves its side's state machine, and at the end of that the
//! rings stand in the interface's lines.

use crate::bell::{Bell, eventfd, is_eventfd};
use crate::control::{
    Carries, Client, ClientStep, Described, Message, Refusal, RingOffer, Server, ServerStep, Wish,
};
use crate::interface::Shared;
use crate::queue::{End, InEnd, Line, Link, OutEnd};
use crate::receive;
use crate::region::Region;
use crate::ring::{Buffers, Memory, Ring};
use crate::shape::{Direction, Shape};
use crate::signal::{Signal, Signals};
use crate::socket::{Channel, Heard};
use crate::transmit;
use crate::zero_copy::{Handing, Lending, SharedBuffers};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// What we call ourselves.
pub(crate) const NAME: &str = "volley";

/// A connection of an interface's.
pub(crate) struct Session {
    pub(crate) channel: Channel,
    pub(crate) began: Instant,
    side: Side,
    live: Option<Live>,
}

enum Side {
    Server(Server<OwnedFd>),
    Client(Client, Option<OwnMemory>),
}

/// What a client shares.
struct OwnMemory {
    shape: Shape,
    memory: Memory,
    fd: OwnedFd,
    /// Packets, where they are not copied.
    packets: Option<SharedBuffers>,
    /// One a ring, in the order of `Shape::rings`.
    bells: Vec<OwnedFd>,
}

/// What there is while packets flow.
pub(crate) struct Live {
    link: Arc<Link>,
}

impl Session {
    /// A client that may have the interface.
    pub(crate) fn of_client(channel: Channel, shared: &Shared) -> Result<Self, Refusal> {
        let server = Server::new(shared.rx.len() as u16, shared.tx.len() as u16);
        say(&channel, &Message::Ack, None)?;
        Ok(Self { channel, began: Instant::now(), side: Side::Server(server), live: None })
    }

    /// A server that we wait to hear of.
    pub(crate) fn of_server(channel: Channel, shared: &Shared) -> Self {
        let settings = &shared.settings;
        let packet_bytes = settings.zero_copy.as_ref().map(SharedBuffers::bytes);
        let wish = Wish {
            id: settings.id,
            secret: settings.secret,
            shape: settings.shape(),
            packet_bytes,
        };
        let client = Client::new(wish, NAME);
        let side = Side::Client(client, None);
        Self { channel, began: Instant::now(), side, live: None }
    }

    pub(crate) fn live(&self) -> Option<&Live> {
        self.live.as_ref()
    }

    /// Hears all that is there and does what it takes.
    pub(crate) fn hear(&mut self, shared: &Shared, wake: &Arc<Bell>) -> Result<(), Refusal> {
        loop {
            let heard = self.channel.hear().map_err(|error| Refusal::Socket(error.to_string()))?;
            let (message, descriptor) = match heard {
                Heard::Nothing => return Ok(()),
                Heard::Closed => return Err(Refusal::Left(String::new())),
                Heard::Message { extra: true, .. } => return Err(Refusal::ExtraDescriptor),
                Heard::Message { bytes, descriptor, .. } => (Message::read(&bytes)?, descriptor),
            };
            self.take(&message, descriptor, shared, wake)?;
        }
    }

    fn take(
        &mut self,
        message: &Message,
        descriptor: Option<OwnedFd>,
        shared: &Shared,
        wake: &Arc<Bell>,
    ) -> Result<(), Refusal> {
        match &mut self.side {
            Side::Server(server) => match server.receive(message, descriptor)? {
                ServerStep::Ack => say(&self.channel, &Message::Ack, None),
                ServerStep::Left(words) => Err(Refusal::Left(words)),
                ServerStep::Connect(described) => {
                    self.live = Some(use_of_peer(described, shared, wake)?);
                    let name = crate::control::text(NAME);
                    say(&self.channel, &Message::Connected(name), None)
                }
            },
            Side::Client(client, own) => {
                if descriptor.is_some() {
                    return Err(Refusal::ExtraDescriptor);
                }
                match client.receive(message)? {
                    ClientStep::Left(words) => Err(Refusal::Left(words)),
                    ClientStep::Say(message, carries) => {
                        if carries == Carries::Memory {
                            let shape = client.shape().ok_or(Refusal::OutOfTurn)?;
                            let packets = shared.settings.zero_copy.clone();
                            *own = Some(OwnMemory::new(shape, packets).map_err(memory)?);
                        }
                        let fd = own.as_ref().and_then(|own| own.descriptor(carries));
                        say(&self.channel, &message, fd)
                    }
                    ClientStep::Connected => {
                        let own = own.take().ok_or(Refusal::OutOfTurn)?;
                        self.live = Some(use_of_own(own, shared, wake)?);
                        Ok(())
                    }
                }
            }
        }
    }

    /// Whether a worker found that a ring says what cannot be.
    pub(crate) fn lied(&self) -> bool {
        self.live.as_ref().is_some_and(|live| live.link.lied.load(Ordering::Acquire))
    }

    /// The end: the peer hears why, if it still listens.
    pub(crate) fn end(self, shared: &Shared, why: &Refusal) {
        // It may be gone, and it may not read: no matter.
        let _ = say(&self.channel, &Message::disconnect(&why.to_string()), None);
        shared.rx.iter().for_each(|line| line.set(None));
        shared.tx.iter().for_each(|line| line.set(None));
    }
}

/// Says something now: who does not read is not waited for.
pub(crate) fn say(channel: &Channel, message: &Message, fd: Option<RawFd>) -> Result<(), Refusal> {
    channel.say(&message.write(), fd).map_err(|error| Refusal::Socket(error.to_string()))
}

fn memory(error: impl ToString) -> Refusal {
    Refusal::Memory(error.to_string())
}

impl OwnMemory {
    fn new(shape: Shape, packets: Option<SharedBuffers>) -> std::io::Result<Self> {
        let (region, fd) = Region::create(shape.bytes())?;
        let memory: Memory = Arc::from([region]);
        let bells = shape.rings().map(|_| eventfd()).collect::<Result<_, _>>()?;
        let own = Self { shape, memory, fd, packets, bells };
        for (direction, index) in shape.rings() {
            own.ring(direction, index).iter().for_each(Ring::clear);
        }
        Ok(own)
    }

    fn ring(&self, direction: Direction, index: u16) -> Option<Ring> {
        let offset = self.shape.ring_offset(direction, index);
        Ring::at(&self.memory, 0, offset, self.shape.ring_log2)
    }

    fn incoming(&self, ring: Ring, index: u16, bell: OwnedFd) -> InEnd {
        let own = || self.shape.buffers(Direction::ToClient, index);
        match &self.packets {
            Some(packets) => Box::new(Lending::new(ring, packets.clone(), bell)),
            None => Box::new(receive::Copying::new(ring, own(), bell)),
        }
    }

    fn outgoing(&self, ring: Ring, index: u16) -> OutEnd {
        let own = || self.shape.buffers(Direction::ToServer, index);
        match &self.packets {
            Some(packets) => Box::new(Handing::new(ring, packets.clone())),
            None => Box::new(transmit::Copying::new(ring, own())),
        }
    }

    fn descriptor(&self, carries: Carries) -> Option<RawFd> {
        match carries {
            Carries::Nothing => None,
            Carries::Memory => Some(self.fd.as_raw_fd()),
            Carries::Packets => self.packets.as_ref().map(SharedBuffers::fd),
            Carries::Bell(direction, index) => {
                let place = self.shape.rings().position(|ring| ring == (direction, index))?;
                self.bells.get(place).map(OwnedFd::as_raw_fd)
            }
        }
    }
}

/// Our memory, which the server has taken.
fn use_of_own(mut own: OwnMemory, shared: &Shared, wake: &Arc<Bell>) -> Result<Live, Refusal> {
    let mut bells = std::mem::take(&mut own.bells);
    let mut ours = bells.split_off(usize::from(own.shape.to_server)).into_iter();
    let (mut ins, mut outs) = (Vec::new(), Vec::new());
    for (direction, index) in own.shape.rings() {
        let ring = own.ring(direction, index).ok_or(Refusal::Ring(index))?;
        match direction {
            Direction::ToServer => outs.push(own.outgoing(ring, index)),
            Direction::ToClient => {
                let bell = ours.next().ok_or(Refusal::Ring(index))?;
                ins.push(own.incoming(ring, index, bell));
            }
        }
    }
    attach(ins, outs, bells, shared, wake)
}

/// A client's memory, as far as it is one.
fn use_of_peer(
    told: Described<OwnedFd>,
    shared: &Shared,
    wake: &Arc<Bell>,
) -> Result<Live, Refusal> {
    let adopted = told.regions.iter().map(|region| Region::adopt(&region.memory, region.bytes));
    let memory: Memory = adopted.collect::<Result<Vec<_>, _>>().map_err(memory)?.into();
    let place = |(index, ring): (usize, &RingOffer<OwnedFd>)| {
        let found = Ring::at(&memory, ring.region, ring.offset, ring.ring_log2);
        found.filter(Ring::has_cookie).ok_or(Refusal::Ring(index as u16))
    };
    let ins = told.to_server.iter().enumerate().map(place).collect::<Result<Vec<_>, _>>()?;
    let outs = told.to_client.iter().enumerate().map(place).collect::<Result<Vec<_>, _>>()?;
    let bells_of = |offers: Vec<RingOffer<OwnedFd>>| {
        offers.into_iter().map(|ring| ring.bell).collect::<Vec<_>>()
    };
    let (ours, bells) = (bells_of(told.to_server), bells_of(told.to_client));
    if !ours.iter().chain(&bells).all(is_eventfd) {
        return Err(Refusal::Memory("a ring's bell is no eventfd".to_owned()));
    }
    let ins = ins.into_iter().zip(ours);
    let incoming =
        |(ring, bell)| -> InEnd { Box::new(receive::Copying::new(ring, Buffers::Peers, bell)) };
    let outgoing = |ring| -> OutEnd { Box::new(transmit::Copying::new(ring, Buffers::Peers)) };
    let (ins, outs) = (ins.map(incoming).collect(), outs.into_iter().map(outgoing).collect());
    attach(ins, outs, bells, shared, wake)
}

/// Puts the rings' ends into the interface's lines. Queues that are more than rings share them to
/// send, and have nothing to receive.
fn attach(
    ins: Vec<InEnd>,
    outs: Vec<OutEnd>,
    bells: Vec<OwnedFd>,
    shared: &Shared,
    wake: &Arc<Bell>,
) -> Result<Live, Refusal> {
    let link = Arc::new(Link { lied: AtomicBool::new(false), wake: Arc::clone(wake) });
    let silent = std::iter::repeat_with(|| None);
    for (line, end) in shared.rx.iter().zip(ends(ins, silent, &link)) {
        line.set(Some(end));
    }
    let signals = Signals::new().map(Arc::new).map_err(|error| {
        tracing::warn!(fault = "memif-signal", %error, "a peer that rests is not woken");
    });
    let told = bells.into_iter().map(|to| Some(Signal::new(signals.as_ref().ok()?, to)));
    let outs: Vec<_> = ends(outs, told, &link).collect();
    for (line, end) in shared.tx.iter().zip(outs.iter().cycle()) {
        Line::set(line, Some(Arc::clone(end)));
    }
    Ok(Live { link })
}

fn ends<T>(
    rings: Vec<T>,
    signals: impl Iterator<Item = Option<Signal>>,
    link: &Arc<Link>,
) -> impl Iterator<Item = Arc<End<T>>> {
    let ends = rings.into_iter().zip(signals);
    ends.map(|(ring, signal)| {
        Arc::new(End { ring: Mutex::new(ring), signal, link: Arc::clone(link) })
    })
}
