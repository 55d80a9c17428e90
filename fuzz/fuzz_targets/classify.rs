//! Any bytes as a frame, and filters drawn from them: the first that fits decides, and a mark
//! changes no more than ECN. As a packet it has one flow, that of what it carries.
//!
//! ```text
//! input: filters: criteria from the first bytes ─┐
//!        frame: the rest ────────────────────────┴─▶ describe ─▶ class;  mark ─▶ describe ─▶ the same class
//! ```
#![no_main]

use libfuzzer_sys::fuzz_target;
use nodes::ip::{flow_by_rule, innermost};
use nodes::port::{Classifier, ForwardedIn, mark_congestion};
use nodes::tables::{FlowRule, flow_field};
use sched::{ClassId, Filter, Ports, Prefix};

fuzz_target!(|data: &[u8]| {
    let Some((&count, rest)) = data.split_first() else { return };
    let count = usize::from(count % 8);
    let Some((drawn, frame)) = rest.split_at_checked(count * 12) else { return };
    let filters: Vec<Filter> =
        drawn.chunks(12).zip(1..).map(|(bytes, minor)| filter(bytes, minor)).collect();
    let describe = |filters: &[Filter], frame: &[u8]| {
        let forwarded_in = || ForwardedIn { bridge: "blue", vrf: "blue" };
        Classifier::new(filters.to_vec()).describe(frame, forwarded_in, || None).0
    };
    let whole = describe(&filters, frame);
    let alone = filters
        .iter()
        .find(|filter| describe(std::slice::from_ref(filter), frame).class == filter.class);
    assert_eq!(whole.class, alone.map_or(ClassId::NONE, |filter| filter.class));
    let rule =
        FlowRule { bits: u32::from(count as u8) << 5 | flow_field::INNER, ..FlowRule::USUAL };
    assert!(frame.ends_with(innermost(frame, &rule)));
    assert_eq!(flow_by_rule(&rule, 7, frame, 0), flow_by_rule(&rule, 7, frame, 0));
    let mut marked = frame.to_vec();
    mark_congestion(&mut marked);
    let again = describe(&filters, &marked);
    assert_eq!(
        (again.class, again.flow_hash, again.priority),
        (whole.class, whole.flow_hash, whole.priority)
    );
});

/// A filter whose criteria are asked for by the bits of the first byte.
fn filter(bytes: &[u8], minor: u16) -> Filter {
    let asked = |bit: u8| bytes[0] >> bit & 1 == 1;
    let word = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
    let ports = |at: usize| Ports { first: word(at), last: word(at).saturating_add(1000) };
    let prefix = || Prefix {
        address: [bytes[7], bytes[8], bytes[9], bytes[10]].into(),
        length: bytes[11] % 33,
    };
    Filter {
        dscp: asked(0).then_some(bytes[1] % 64),
        priority: asked(1).then_some(bytes[2] % 16),
        vlan_pcp: asked(2).then_some(bytes[3] % 8),
        protocol: asked(3).then_some(bytes[4]),
        destination_port: asked(4).then(|| ports(5)),
        source: asked(5).then(prefix),
        bridge: asked(6).then(|| if asked(7) { "blue" } else { "red" }.to_owned()),
        vrf: asked(7).then(|| "blue".to_owned()),
        ..Filter::to(ClassId::new(1, minor))
    }
}
