//! Tags and labels, put in front of what a frame carries, and taken away.

use flow::{MOST_GROWTH, Step, pop_mpls_from, push_mpls_into, push_vlan_into};
use packet::PacketView;

/// Does a step that moves headers. False where there is no room for more.
pub(super) fn change(packet: &mut PacketView<'_>, step: &Step) -> bool {
    match *step {
        Step::PushVlan(tpid, tci) => {
            if !packet.prepend(MOST_GROWTH) {
                return false;
            }
            push_vlan_into(packet.header_mut(), tpid, tci);
        }
        Step::PopVlan => {
            if let Some(head) = packet.header_mut().get_mut(..16) {
                head.copy_within(..12, 4);
                packet.advance(4);
                packet.start_here();
            }
        }
        // What is cut short stays as it is.
        Step::PushMpls { tags, .. } if packet.length() < 14 + 4 * usize::from(tags) => {}
        Step::PushMpls { kind, label, tags } => {
            if !packet.prepend(MOST_GROWTH) {
                return false;
            }
            push_mpls_into(packet.header_mut(), kind, label, tags);
        }
        Step::PopMpls { kind, tags } if pop_mpls_from(packet.header_mut(), kind, tags) => {
            packet.advance(4);
            packet.start_here();
        }
        _ => {}
    }
    true
}
