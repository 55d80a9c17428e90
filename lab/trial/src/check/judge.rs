//! Holds what came out of a device against what had to. Pure: frames in, a verdict out.
//!
//! ```text
//! each frame ─┬─ no test frame of this check ────────────▶ stranger (ARP, errors by ICMP …)
//!             ├─ at the end that it was sent from ───────▶ wrong
//!             ├─ of a stream that must not come out ─────▶ wrong
//!             ├─ a second time ──────────────────────────▶ wrong
//!             └─ octets differ from those that must be ──▶ wrong, with the first of them
//!             ├─ after a later one of its stream ────────▶ wrong, where order is kept
//! each stream that must come out: fewer than were sent ───▶ wrong
//! ```
//! The first fault is told; what comes after it is counted.

use std::collections::HashSet;

use lab_record::{Checked, Fault};
use lab_traffic::sender::STREAM_SHIFT;
use lab_traffic::test_frame::Signature;

use crate::Error;
use crate::check::expected::Expected;
use crate::load::shape::Probe;

/// All that is to be said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Judgement {
    pub(super) streams: Vec<Checked>,
    pub(super) strangers: u64,
    pub(super) fault: Option<Fault>,
}

/// When the check began and ended, on the lab's clock: packets of other times are not of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub(super) from_ns: u64,
    pub(super) to_ns: u64,
}

/// Whether packets of a stream have to come out in the order in which they went in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// Not by what a function says: threads may overtake each other.
    Any,
    /// There is one queue, and nothing in it overtakes.
    Kept,
}

/// Holds the frames seen at each end against the probes, of each of which so many packets were
/// sent.
pub(super) fn judge(
    probes: &[Probe],
    sent: &[u64],
    seen: &[Vec<Vec<u8>>; 2],
    span: Span,
    order: Order,
) -> Result<Judgement, Error> {
    let expected = probes.iter().map(|probe| probe.emerges.as_ref().map(Expected::new).transpose());
    let expected = expected.collect::<Result<Vec<_>, _>>()?;
    let mut streams: Vec<Checked> = probes
        .iter()
        .zip(sent)
        .map(|(probe, &sent)| Checked {
            name: probe.sent.name.clone(),
            must_emerge: probe.emerges.is_some(),
            sent,
            came: 0,
        })
        .collect();
    let mut known = HashSet::new();
    let mut newest = vec![0; probes.len()];
    let (mut strangers, mut fault) = (0, None);
    for (side, frame) in
        seen.iter().enumerate().flat_map(|(side, frames)| frames.iter().map(move |it| (side, it)))
    {
        let Some((id, signature)) = recognise(frame, probes.len(), span) else {
            strangers += 1;
            continue;
        };
        let returned = probes[id].side == side;
        if returned && is_error(frame) {
            strangers += 1;
            continue;
        }
        let packet = signature.sequence & ((1 << STREAM_SHIFT) - 1);
        let twice = !known.insert(signature.sequence);
        let overtaken = order == Order::Kept && packet < newest[id];
        newest[id] = packet.max(newest[id]);
        if !returned {
            streams[id].came += u64::from(!twice);
        }
        if fault.is_some() {
            continue;
        }
        let wrong = |reason: &str, difference| {
            let (stream, reason) = (probes[id].sent.name.clone(), reason.to_owned());
            Some(Fault { stream, packet: Some(packet), reason, difference })
        };
        fault = match &expected[id] {
            _ if returned => wrong("came back to where it was sent", None),
            None => wrong("came out and must not", None),
            Some(_) if twice => wrong("came out twice", None),
            Some(_) if overtaken => wrong("came out after a later one", None),
            Some(expected) => expected
                .difference(&signature, frame)?
                .and_then(|difference| wrong("is not what it must be", Some(difference))),
        };
    }
    let lost = streams.iter().find(|it| it.sent == 0 || it.must_emerge && it.came < it.sent);
    let lost = lost.map(|Checked { name, sent, came, .. }| Fault {
        stream: name.clone(),
        packet: None,
        reason: match sent {
            0 => "nothing could be sent".into(),
            _ => format!("{} of {sent} packets did not come out", sent - came),
        },
        difference: None,
    });
    Ok(Judgement { strangers, fault: fault.or(lost), streams })
}

/// The stream of a test frame of this check, and what it ends with.
fn recognise(frame: &[u8], streams: usize, span: Span) -> Option<(usize, Signature)> {
    let signature = Signature::read(frame, false)?;
    let id = (signature.sequence >> STREAM_SHIFT) as usize;
    let of_ours = id < streams && (span.from_ns..=span.to_ns).contains(&signature.intended_ns);
    of_ours.then_some((id, signature))
}

/// Whether it is an error of ICMP, which ends as the packet does that it is about.
fn is_error(frame: &[u8]) -> bool {
    let Some((link, packet)) = frame.split_first_chunk::<14>() else { return false };
    match ([link[12], link[13]], packet) {
        ([0x08, 0x00], packet) => packet.get(9) == Some(&wire::ip::protocol::ICMP4),
        ([0x86, 0xdd], packet) => packet.get(6) == Some(&wire::ip::protocol::ICMP6),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::frames::Load;
    use crate::scenario::{Ethertype, FunctionKind, Traffic};
    use lab_traffic::arrivals::Imix;
    use lab_traffic::template::Template;
    use lab_traffic::{Rate, Stream};

    const SPAN: Span = Span { from_ns: 1_000, to_ns: 9_000 };
    /// Packets of each stream.
    const SENT: u64 = 3;

    fn probes(function: FunctionKind) -> Vec<Probe> {
        let sizes = Imix::parse("ab", 1_518).unwrap();
        let load = Load::new(function, Ethertype::Udp4, &Traffic::default(), sizes);
        load.probes(Rate::Pps(1.0))
    }

    /// What a device sends that does all as it must.
    fn faultless(probes: &[Probe]) -> [Vec<Vec<u8>>; 2] {
        let mut seen = [Vec::new(), Vec::new()];
        for (id, probe) in probes.iter().enumerate() {
            let Some(emerges) = &probe.emerges else { continue };
            for number in 0..SENT {
                let size = emerges.frame_bytes.frame_bytes(number);
                seen[1 - probe.side].push(packet(emerges, size, id, number));
            }
        }
        seen
    }

    fn packet(stream: &Stream, size: u16, id: usize, number: u64) -> Vec<u8> {
        let template = Template::new(stream, size).unwrap();
        let sequence = (id as u64) << STREAM_SHIFT | number;
        let signature = Signature { sequence, intended_ns: 5_000, flow: None };
        let mut frame = template.bytes().to_vec();
        template.write(&mut frame, number, &signature).unwrap();
        frame
    }

    fn judged(function: FunctionKind, change: impl Fn(&mut [Vec<Vec<u8>>; 2])) -> Judgement {
        let probes = probes(function);
        let mut seen = faultless(&probes);
        change(&mut seen);
        judge(&probes, &vec![SENT; probes.len()], &seen, SPAN, Order::Kept).unwrap()
    }

    fn fault(function: FunctionKind, change: impl Fn(&mut [Vec<Vec<u8>>; 2])) -> String {
        let fault = judged(function, change).fault.unwrap();
        let field = fault.difference.map_or(String::new(), |it| format!(", {}", it.field));
        format!("{} {}{field}", fault.stream, fault.reason)
    }

    const KINDS: [FunctionKind; 9] = [
        FunctionKind::CrossConnect,
        FunctionKind::Bridge,
        FunctionKind::Ip4,
        FunctionKind::VlanTagging,
        FunctionKind::VxlanEncap,
        FunctionKind::Gre,
        FunctionKind::Lisp,
        FunctionKind::SourceAllowList,
        FunctionKind::Acl,
    ];

    #[test]
    fn a_device_that_does_all_as_it_must_passes() {
        for function in KINDS {
            let judgement = judged(function, |_| {});
            assert_eq!(judgement.fault, None, "{function:?}");
            let came = |it: &Checked| it.came == if it.must_emerge { SENT } else { 0 };
            assert!(judgement.streams.iter().all(came), "{function:?}");
        }
    }

    /// Every octet that leaves the device counts, but for those that are a tunnel's own choice.
    #[test]
    fn any_octet_that_is_wrong_is_found_where_it_is() {
        for function in KINDS {
            let length = faultless(&probes(function))[1][0].len();
            for at in 0..length - lab_traffic::test_frame::SIGNATURE_BYTES {
                let judgement = judged(function, |seen| seen[1][0][at] ^= 0x10);
                let Some(fault) = judgement.fault else {
                    let tunnel = function.is_tunnel() && (15..36).contains(&at);
                    // A nonce of LISP's is its own, where it says that there is one.
                    let nonce = function == FunctionKind::Lisp && (43..46).contains(&at);
                    assert!(tunnel || nonce, "{function:?}: octet {at} is nobody's choice");
                    continue;
                };
                let found = fault.difference.map(|it| it.at);
                // A choice of the tunnel's brings the checksum that goes with it.
                let follows = function.is_tunnel() && at < 42 && found.is_some_and(|it| it < 42);
                assert!(found == Some(at) || follows, "{function:?}: octet {at}, not {found:?}");
            }
        }
    }

    #[test]
    fn a_tunnel_may_choose_what_is_its_own_as_long_as_its_checksums_hold() {
        let choose = |frame: &mut Vec<u8>| {
            // Class, identification, DF, TTL, source port.
            frame[15] = 0xb8;
            frame[18..21].copy_from_slice(&[1, 2, 0x40]);
            frame[22] = 9;
            frame[24..26].fill(0);
            let checksum = wire::checksum::of(&frame[14..34]);
            frame[24..26].copy_from_slice(&checksum.to_be_bytes());
            frame[34..36].copy_from_slice(&[0xc1, 0x23]);
        };
        let judgement = judged(FunctionKind::VxlanEncap, |seen| choose(&mut seen[1][0]));
        assert_eq!(judgement.fault, None);
        let expired = fault(FunctionKind::VxlanEncap, |seen| seen[1][0][22] = 0);
        assert!(expired.starts_with("there is not what it must be, outer ipv4"), "{expired}");
    }

    #[test]
    fn what_goes_wrong_is_told_in_words() {
        let said = |change: fn(&mut [Vec<Vec<u8>>; 2])| fault(FunctionKind::Ip4, change);
        assert_eq!(said(|seen| seen[1][0][22] += 1), "there is not what it must be, ipv4 TTL");
        assert_eq!(said(|seen| drop(seen[0].pop())), "back 1 of 3 packets did not come out");
        assert_eq!(
            said(|seen| {
                let copy = seen[1][0].clone();
                seen[1].push(copy);
            }),
            "there came out twice"
        );
        assert_eq!(
            said(|seen| {
                let frame = seen[1].remove(0);
                seen[0].push(frame);
            }),
            "there came back to where it was sent"
        );
        assert_eq!(said(|seen| seen[1].swap(0, 1)), "there came out after a later one");
        let shorter = said(|seen| {
            let tail = seen[1][1].split_off(100);
            seen[1][1].truncate(96);
            seen[1][1].extend(tail);
        });
        assert!(shorter.starts_with("there is not what it must be"), "{shorter}");
    }

    #[test]
    fn where_order_is_not_promised_overtaking_is_no_fault() {
        let probes = probes(FunctionKind::Ip4);
        let mut seen = faultless(&probes);
        seen[1].reverse();
        let sent = vec![SENT; probes.len()];
        let fault = |order| judge(&probes, &sent, &seen, SPAN, order).unwrap().fault;
        assert_eq!(fault(Order::Any), None);
        assert_eq!(fault(Order::Kept).unwrap().reason, "came out after a later one");
    }

    #[test]
    fn what_must_not_come_out_and_does_is_a_fault() {
        let kept_out = |function| {
            let probes = probes(function);
            let id = probes.iter().position(|probe| probe.emerges.is_none()).unwrap();
            let Probe { sent, side, .. } = &probes[id];
            let frame = packet(sent, sent.frame_bytes.frame_bytes(0), id, 0);
            let side = 1 - side;
            fault(function, move |seen| seen[side].push(frame.clone()))
        };
        assert_eq!(kept_out(FunctionKind::Acl), "denied came out and must not");
        assert_eq!(
            kept_out(FunctionKind::SourceAllowList),
            "from below the list came out and must not"
        );
        assert_eq!(
            kept_out(FunctionKind::VlanTagging),
            "back in another VLAN came out and must not"
        );
    }

    #[test]
    fn strangers_are_counted_and_an_error_that_comes_back_is_one() {
        let judgement = judged(FunctionKind::Ip4, |seen| {
            seen[0].push(vec![0xff; 60]);
            let mut error = seen[1][0].clone();
            error[23] = wire::ip::protocol::ICMP4;
            seen[0].push(error);
        });
        assert_eq!((judgement.fault, judgement.strangers), (None, 2));
    }
}
