//! What actions can do: the switch's side of them.

use crate::action::{Action, Ct, Learn, Sample};
use crate::field::{Field, Sub};
use crate::port::PortNumber;

/// How addresses are translated.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Nat {
    /// `NX_NAT_F_*`: 1 source, 2 destination, 4 persistent, 8 by hash, 16 at random.
    pub flags: u16,
    /// IPv4 addresses, first and last.
    pub ip4: Option<(u32, Option<u32>)>,
    /// IPv6 addresses, first and last.
    pub ip6: Option<(u128, Option<u128>)>,
    /// Ports, first and last.
    pub ports: Option<(u16, Option<u16>)>,
}

/// A packet on its way through the tables, as an action sees it. What an action reads of a packet
/// decides for all packets that have the same there: the machine takes note.
pub trait Machine {
    /// Whether the packet has a field.
    fn has(&mut self, field: Field) -> bool;
    /// Bits of a field.
    fn read(&mut self, sub: Sub) -> u128;
    /// Sets bits of a field, `value` where they are in the field. Nothing where the packet has no
    /// such field.
    fn write(&mut self, field: Field, value: u128, mask: u128);
    /// To a port, real or reserved; to controllers with so many bytes.
    fn output(&mut self, port: PortNumber, max_len: u16);
    /// To controllers.
    fn controller(&mut self, max_len: u16, controller: u16, reason: u8);
    /// To a group.
    fn group(&mut self, group: u32);
    /// Through a meter, which may end it.
    fn meter(&mut self, meter: u32);
    /// The queue of what is sent next; none: the port's own. What it was before.
    fn queue(&mut self, queue: Option<u32>) -> Option<u32>;
    /// One to live less: false where it has none left, and the packet goes no further.
    fn dec_ttl(&mut self, controllers: &[u16]) -> bool;
    /// The same of an MPLS label.
    fn dec_mpls_ttl(&mut self) -> bool;
    /// A tag of this kind in front.
    fn push_vlan(&mut self, tpid: u16);
    /// The first tag away.
    fn pop_vlan(&mut self);
    /// A label of this kind in front.
    fn push_mpls(&mut self, ethertype: u16);
    /// The first label away; what is behind the last one is of this kind.
    fn pop_mpls(&mut self, ethertype: u16);
    /// Looks up in a table (the current one) as if it had come in by a port (its own), and goes on
    /// behind it.
    fn resubmit(&mut self, table: Option<u8>, port: Option<PortNumber>);
    /// Does these to a copy.
    fn on_copy(&mut self, actions: &[Action]);
    /// Adds a flow made of the packet.
    fn learn(&mut self, learn: &Learn);
    /// Through connection tracking.
    fn track(&mut self, ct: &Ct);
    /// Forgets what connection tracking said.
    fn untrack(&mut self);
    /// Has some packets noted for collectors.
    fn sample(&mut self, sample: &Sample);
    /// Puts bits of a field aside.
    fn push(&mut self, sub: Sub);
    /// Takes back what was put aside last.
    fn pop(&mut self, sub: Sub);
    /// These at the end of all tables, in the order of the standard.
    fn write_actions(&mut self, actions: &[Action]);
    /// None at the end.
    fn clear_actions(&mut self);
    /// Goes on in a table when the actions at hand are done.
    fn goto_table(&mut self, table: u8);
    /// The flow's idle and hard timeouts become these, at most, when a connection ends.
    fn end_timeouts(&mut self, idle: u16, hard: u16);
    /// Nothing behind this is done, of the list at hand.
    fn end_list(&mut self);
    /// Nothing behind this is done.
    fn exit(&mut self);
}
