//! What a list says of one frame, for who wants to know by which rule.

use crate::filter::{AccessList, Question, more};
use crate::tables::Interface;
use acl::{Action, Key, Verdict};

/// What an interface's list says of a frame, from its header on: as the nodes ask it. None of what
/// lists say nothing about, or cannot judge.
pub fn verdict_on(list: &AccessList, row: &Interface, header: &[u8]) -> Option<Verdict> {
    let (has_packets, vlan) = (row.carries_packets(), row.outer_vlan());
    let question = match has_packets {
        true => Question::about_packet(header),
        false => Question::about_any(header, vlan),
    };
    let more = || match has_packets {
        true => more::of_packet(header),
        false => more::of_frame(header, vlan, row.inner_vlan()),
    };
    let mut verdicts = [Verdict::none(Action::Permit)];
    match (question, &list.wide) {
        (Question::Ip4(fields), None) => list.ip4.classify(&[Key::new(&fields)], &mut verdicts),
        (Question::Ip6(fields), None) => list.ip6.classify(&[Key::new(&fields)], &mut verdicts),
        (Question::Ip4(fields), Some(wide)) => {
            wide.ip4.classify(&[Key::wide(&fields, &more())], &mut verdicts);
        }
        (Question::Ip6(fields), Some(wide)) => {
            wide.ip6.classify(&[Key::wide(&fields, &more())], &mut verdicts);
        }
        (Question::NotIp | Question::Unreadable, _) => return None,
    }
    Some(verdicts[0])
}
