//! What becomes of LISP's datagrams where there is no LISP: what becomes of those to any port that
//! nobody listens at.

use crate::tables::Interfaces;
use packet::PacketView;
use wire::ip;

/// The ways that such a datagram goes. `refusals!` makes an exit of each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Off {
    /// To the kernel, which may listen.
    Twin,
    /// Back, over IPv4.
    Unreachable4,
    /// Back, over IPv6.
    Unreachable6,
}

impl Off {
    pub(super) fn of(packet: &PacketView<'_>, interfaces: &Interfaces) -> Self {
        match ip::version(packet.header()) {
            _ if interfaces.has_twin(packet.rx()) => Self::Twin,
            6 => Self::Unreachable6,
            _ => Self::Unreachable4,
        }
    }
}

/// Declares the exits of a node that takes LISP's datagrams: those of [`Off`], and the node's own
/// ones.
macro_rules! refusals {
    ($(#[$meta:meta])* pub enum $name:ident { $($own:tt)* }) => {
        graph::exits! {
            $(#[$meta])*
            pub enum $name {
                $($own)*
                /// There is no LISP here, and the interface has a twin: the kernel may have some.
                Twin => node "twin-output" cause $crate::local::twin_output::PACKET,
                /// RFC 1122 section 4.1.3.1: there is no LISP here.
                Unreachable4 => answer "icmp4-error"
                    "Nothing, where somebody tries what is there; `volley port add NAME lisp` has \
                    LISP here."
                    cause $crate::local::icmp_cause(
                    wire::icmp4::message::UNREACHABLE,
                    wire::icmp4::unreachable::PORT,
                ),
                /// RFC 4443 section 3.1: there is no LISP here.
                Unreachable6 => answer "icmp6-error"
                    "Nothing, where somebody tries what is there; `volley port add NAME lisp` has \
                    LISP here."
                    cause $crate::local::icmp_cause(
                    wire::icmp6::message::UNREACHABLE,
                    wire::icmp6::unreachable::PORT,
                ),
            }
        }

        impl From<$crate::tunnel::lisp_off::Off> for $name {
            fn from(off: $crate::tunnel::lisp_off::Off) -> Self {
                use $crate::tunnel::lisp_off::Off;
                match off {
                    Off::Twin => Self::Twin,
                    Off::Unreachable4 => Self::Unreachable4,
                    Off::Unreachable6 => Self::Unreachable6,
                }
            }
        }
    };
}
pub(super) use refusals;
