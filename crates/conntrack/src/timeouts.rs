//! For how long connections are kept that nothing is heard of.

use crate::packet::Seen;
use crate::status::Status;
use crate::tcp::{self, TcpState};
use wire::ip::protocol;

/// Seconds, by protocol and state. The defaults are those of Linux's nf_conntrack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timeouts {
    /// TCP: one side wants it.
    pub tcp_syn_sent: u32,
    /// TCP: the other side, too.
    pub tcp_syn_received: u32,
    /// TCP: both know of each other.
    pub tcp_established: u32,
    /// TCP: picked up in the middle, and the other side not heard yet.
    pub tcp_unanswered: u32,
    /// TCP: one side says no more.
    pub tcp_fin_wait: u32,
    /// TCP: the other side has heard so.
    pub tcp_close_wait: u32,
    /// TCP: both say no more.
    pub tcp_last_ack: u32,
    /// TCP: both have heard so.
    pub tcp_time_wait: u32,
    /// TCP: it was reset.
    pub tcp_close: u32,
    /// UDP: not answered yet.
    pub udp: u32,
    /// UDP: answered.
    pub udp_stream: u32,
    /// ICMP of both families.
    pub icmp: u32,
    /// Other protocols.
    pub other: u32,
    /// Whether TCP connections are known that began before us.
    pub tcp_loose: bool,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            tcp_syn_sent: 120,
            tcp_syn_received: 60,
            tcp_established: 432_000,
            tcp_unanswered: 300,
            tcp_fin_wait: 120,
            tcp_close_wait: 60,
            tcp_last_ack: 30,
            tcp_time_wait: 120,
            tcp_close: 10,
            udp: 30,
            udp_stream: 120,
            icmp: 30,
            other: 600,
            tcp_loose: true,
        }
    }
}

impl Timeouts {
    /// Whether a packet may be the first of a connection.
    #[inline]
    pub fn begins(&self, protocol: u8, seen: Seen) -> bool {
        self.begin(protocol, seen).is_some()
    }

    /// Where a connection stands that a packet begins; none if it begins none.
    #[inline]
    pub(crate) fn begin(&self, protocol: u8, seen: Seen) -> Option<TcpState> {
        match (protocol, seen) {
            (protocol::TCP, Seen::Tcp(flags)) => tcp::begin(flags, self.tcp_loose),
            (protocol::ICMP4 | protocol::ICMP6, Seen::Other) => None,
            _ => Some(TcpState::None),
        }
    }

    /// Seconds for a connection of a protocol that stands so.
    #[inline]
    pub(crate) fn of(&self, protocol: u8, status: Status) -> u32 {
        match protocol {
            protocol::TCP => match status.tcp() {
                TcpState::None | TcpState::SynSent => self.tcp_syn_sent,
                TcpState::SynReceived => self.tcp_syn_received,
                TcpState::Established if status.is_answered() => self.tcp_established,
                TcpState::Established => self.tcp_unanswered.min(self.tcp_established),
                TcpState::FinWait => self.tcp_fin_wait,
                TcpState::CloseWait => self.tcp_close_wait,
                TcpState::LastAck => self.tcp_last_ack,
                TcpState::TimeWait => self.tcp_time_wait,
                TcpState::Close => self.tcp_close,
            },
            protocol::UDP if status.is_answered() => self.udp_stream,
            protocol::UDP => self.udp,
            protocol::ICMP4 | protocol::ICMP6 => self.icmp,
            _ => self.other,
        }
    }
}
