//! UDP and TCP to ourselves, the same over both families but for the pseudo header and the port
//! unreachable message.

use crate::tables::{Interfaces, Setup};
use graph::{Attach, Context, Exit, ExitIndex, Exits, Node, Published};
use packet::{Frame, PacketView};
use std::marker::PhantomData;
use wire::checksum::Sum;
use wire::tcp::{self, flag};
use wire::udp;

/// Who takes datagrams, by destination port. Few: looked through in order.
#[derive(Default)]
pub struct UdpPorts(Vec<(u16, ExitIndex)>);

impl UdpPorts {
    /// A node attached itself to `port`.
    pub fn attach(&mut self, port: u16, exit: ExitIndex) {
        self.0.push((port, exit));
    }

    /// Who takes datagrams to `port`.
    #[inline]
    pub fn taker(&self, port: u16) -> Option<ExitIndex> {
        self.0.iter().find(|&&(known, _)| known == port).map(|&(_, exit)| exit)
    }
}

/// What is wrong with a datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UdpFault {
    /// Fewer bytes than a header.
    Truncated,
    /// The length is below the header's or above the packet's.
    BadLength,
    /// The checksum is wrong.
    BadChecksum,
}

/// What is to be known of a datagram for us.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UdpFound {
    /// Its destination port.
    pub port: u16,
    /// It has a checksum, a right one.
    pub summed: bool,
}

/// Checks the datagram that `bytes` begin with; `pseudo` makes the sum of its pseudo header from
/// its length.
#[inline]
pub fn find_udp(bytes: &[u8], pseudo: impl FnOnce(u16) -> Sum) -> Result<UdpFound, UdpFault> {
    let header = udp::Header::new(bytes).ok_or(UdpFault::Truncated)?;
    let length = usize::from(header.length());
    let covered = bytes.get(..length).filter(|_| length >= udp::Header::LEN);
    let covered = covered.ok_or(UdpFault::BadLength)?;
    let summed = header.checksum() != 0;
    if summed && !pseudo(header.length()).bytes(covered).is_valid() {
        return Err(UdpFault::BadChecksum);
    }
    Ok(UdpFound { port: header.destination_port(), summed })
}

/// Declares the exits of a node that takes datagrams: the node's own ones, and those that both
/// families have.
macro_rules! udp_exits {
    ($(#[$meta:meta])* pub enum $name:ident { $($own:tt)* }) => {
        graph::exits! {
            $(#[$meta])*
            pub enum $name {
                $($own)*
                /// Nobody here listens on the port, and the interface has a twin: the kernel may.
                Twin => node "twin-output" cause $crate::local::twin_output::PACKET,
                /// Fewer bytes than a UDP header.
                Truncated => drop "The sender, or a device on the way, makes wrong packets: \
                    capture some and look who it is.",
                /// The length is below the header's or above the packet's.
                BadLength => drop "The sender, or a device on the way, makes wrong packets: \
                    capture some and look who it is.",
                /// The checksum is there and wrong.
                BadChecksum => drop "A link or a device on the way damages packets: look at the \
                    error counters along it.",
            }
        }

        impl From<$crate::local::UdpFault> for $name {
            fn from(fault: $crate::local::UdpFault) -> Self {
                use $crate::local::UdpFault;
                match fault {
                    UdpFault::Truncated => Self::Truncated,
                    UdpFault::BadLength => Self::BadLength,
                    UdpFault::BadChecksum => Self::BadChecksum,
                }
            }
        }
    };
}
pub(crate) use udp_exits;

/// UDP over one family.
pub trait UdpOver: Send + 'static {
    /// The node's name.
    const NAME: &'static str;
    /// What it does, one line.
    const ABOUT: &'static str;
    /// Where datagrams come from.
    const ATTACH: &'static [Attach];
    /// What becomes of datagrams that nobody takes.
    type Exit: Exit;
    /// Nobody listens on the port: not here, and the kernel not either.
    const UNREACHABLE: Self::Exit;
    /// Nobody listens on the port here.
    const TWIN: Self::Exit;
    /// There must be a checksum, but for tunnels that need none.
    const UNSUMMED: Option<Self::Exit>;

    /// Checks a packet's datagram.
    fn find(packet: &PacketView<'_>) -> Result<UdpFound, Self::Exit>;
}

/// The node that takes datagrams to ourselves: whoever attached itself to the destination port gets
/// them.
pub struct UdpLocal<F> {
    interfaces: Published<Interfaces>,
    ports: UdpPorts,
    family: PhantomData<F>,
}

impl<F: UdpOver> Node for UdpLocal<F> {
    const NAME: &'static str = F::NAME;
    const ABOUT: &'static str = F::ABOUT;
    const ATTACH: &'static [Attach] = F::ATTACH;
    type Exit = F::Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        let interfaces = setup.shared.interfaces.clone();
        Self { interfaces, ports: UdpPorts::default(), family: PhantomData }
    }

    fn attach(&mut self, key: u32, exit: ExitIndex) {
        self.ports.attach(key as u16, exit);
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, F::Exit>,
        context: &mut Context<'_>,
    ) {
        let interfaces = self.interfaces.get(context);
        exits.each(frame, |packet| match F::find(packet) {
            Err(fault) => fault.into(),
            Ok(found) => match self.taker(found, interfaces) {
                Err(exit) => exit.into(),
                Ok(Some(taker)) => taker,
                Ok(None) if interfaces.has_twin(packet.rx()) => F::TWIN.into(),
                Ok(None) => F::UNREACHABLE.into(),
            },
        });
    }
}

impl<F: UdpOver> UdpLocal<F> {
    /// Who takes a datagram: tunnels at other ports than theirs, too.
    #[inline(always)]
    fn taker(
        &self,
        found: UdpFound,
        interfaces: &Interfaces,
    ) -> Result<Option<ExitIndex>, F::Exit> {
        let is_tunnels = || interfaces.is_tunnel_port(found.port);
        let may_be_unsummed = || found.port == udp::port::LISP_DATA || is_tunnels();
        match F::UNSUMMED {
            Some(exit) if !found.summed && !may_be_unsummed() => return Err(exit),
            _ => {}
        }
        let taker = self.ports.taker(found.port);
        Ok(taker.or_else(|| self.ports.taker(udp::port::VXLAN).filter(|_| is_tunnels())))
    }
}

/// What is wrong with a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TcpFault {
    /// Fewer bytes than its header.
    Truncated,
    /// The checksum is wrong.
    BadChecksum,
    /// A reset is never answered.
    WasReset,
}

/// The reset that answers a segment (RFC 9293 section 3.10.7.1).
pub struct TcpReset {
    source_port: u16,
    destination_port: u16,
    /// What the segment acknowledged, if it did.
    acknowledged: Option<u32>,
    /// Number of the first octet behind the segment.
    end: u32,
}

impl TcpReset {
    /// The answer to the segment `bytes`, whose sum begins with `pseudo`.
    pub fn to(bytes: &[u8], pseudo: Sum) -> Result<Self, TcpFault> {
        let segment = tcp::Segment::parse(bytes).map_err(|_| TcpFault::Truncated)?;
        if !pseudo.bytes(bytes).is_valid() {
            return Err(TcpFault::BadChecksum);
        }
        let (header, flags) = (segment.header, segment.header.flags());
        if flags & flag::RST != 0 {
            return Err(TcpFault::WasReset);
        }
        // SYN and FIN take a number each.
        let marks = (flags & (flag::SYN | flag::FIN)).count_ones();
        let length = segment.payload.len() as u32 + marks;
        Ok(Self {
            source_port: header.destination_port(),
            destination_port: header.source_port(),
            acknowledged: (flags & flag::ACK != 0).then_some(header.acknowledgement()),
            end: header.sequence().wrapping_add(length),
        })
    }

    /// Writes it over `segment`, which has the length of a header; the sum begins with `pseudo`.
    pub fn write(&self, segment: &mut [u8], pseudo: Sum) {
        segment.fill(0);
        let Some(mut header) = tcp::HeaderMut::new(segment) else { return };
        header.set_source_port(self.source_port);
        header.set_destination_port(self.destination_port);
        header.set_offset_bits(5 << 4);
        match self.acknowledged {
            Some(next) => {
                header.set_flags(flag::RST);
                header.set_sequence(next);
            }
            None => {
                header.set_flags(flag::RST | flag::ACK);
                header.set_acknowledgement(self.end);
            }
        }
        let checksum = pseudo.bytes(header.view().bytes()).checksum();
        header.set_checksum(checksum);
    }
}
