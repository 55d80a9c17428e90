//! Who takes packets to ourselves, by what is inside: nodes that attached themselves to a protocol.

use graph::ExitIndex;
use wire::ip::protocol;

/// The exit of each protocol number.
pub struct Protocols {
    takers: [ExitIndex; 256],
    nobody: ExitIndex,
}

impl Protocols {
    /// Nobody takes anything yet: `nobody` is the exit of that.
    pub fn new(nobody: impl Into<ExitIndex>) -> Self {
        let nobody = nobody.into();
        Self { takers: [nobody; 256], nobody }
    }

    /// A node attached itself to the protocol numbered `key`.
    pub fn attach(&mut self, key: u32, exit: ExitIndex) {
        if let Some(taker) = self.takers.get_mut(key as usize) {
            *taker = exit;
        }
    }

    /// Who takes packets of a protocol. Packets in packets are nobody's while no tunnel takes them.
    #[inline]
    pub fn taker(&self, number: u8, has_ip_tunnels: bool) -> ExitIndex {
        match number {
            protocol::IPV4 | protocol::IPV6 if !has_ip_tunnels => self.nobody,
            _ => self.takers[usize::from(number)],
        }
    }

    /// Whether the kernel's twin gets what would take `exit`: TCP, what nobody takes, and pieces,
    /// which it puts together itself.
    #[inline]
    pub fn is_kernels(&self, exit: ExitIndex, fragment: impl Into<ExitIndex>) -> bool {
        exit == self.taker(protocol::TCP, true) || exit == self.nobody || exit == fragment.into()
    }
}
