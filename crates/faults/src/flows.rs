//! Flows that nothing may disturb: each packet of them arrives, once, in order and whole.

use crate::hosts::Host;
use std::collections::BTreeSet;
use wire::{craft, ipv4, ipv6};

const PORT: u16 = 7777;
/// Octets behind the ports: the flow, and the packet's number.
const MARK: [u8; 4] = *b"flow";

/// One way of one family between two hosts.
#[derive(Debug)]
pub(crate) struct Flow {
    from: Host,
    to: Host,
    router: [u8; 6],
    is_ip6: bool,
    sent: u32,
    arrived: u32,
    /// Forgiven, and not come yet: they may have waited for a neighbour that could not be asked.
    late: BTreeSet<u32>,
}

/// All of them.
#[derive(Debug)]
pub(crate) struct Flows(Vec<Flow>);

impl Flows {
    /// Both ways in both families; `routers` are the stations by which they leave.
    pub(crate) fn between(a: &Host, b: &Host, routers: [[u8; 6]; 2]) -> Self {
        let flow = |(from, to, router, is_ip6): (&Host, &Host, _, _)| Flow {
            from: from.clone(),
            to: to.clone(),
            router,
            is_ip6,
            sent: 0,
            arrived: 0,
            late: BTreeSet::new(),
        };
        let [ra, rb] = routers;
        Self(
            [(a, b, ra, false), (b, a, rb, false), (a, b, ra, true), (b, a, rb, true)]
                .map(flow)
                .into(),
        )
    }

    /// One packet more of each flow, and the link that it comes in by.
    pub(crate) fn send(&mut self) -> Vec<(usize, Vec<u8>)> {
        let each = self.0.iter_mut().enumerate();
        each.map(|(number, flow)| (flow.from.line, flow.next(number as u8))).collect()
    }

    /// Packets sent so far.
    pub(crate) fn sent(&self) -> u64 {
        self.0.iter().map(|flow| u64::from(flow.sent)).sum()
    }

    /// Takes a frame that came out by a link, if it is one of theirs; says what is wrong with it.
    pub(crate) fn take(&mut self, line: usize, frame: &[u8]) -> Result<bool, String> {
        let Some((number, index, told)) = read(frame) else { return Ok(false) };
        let Some(flow) = self.0.get_mut(usize::from(number)) else { return Ok(false) };
        if flow.to.line != line {
            // A mirror's copy, or what was flooded: it must not go astray among the two.
            return match line < 2 {
                true => Err(format!("packet {index} of flow {number} came back by d{line}")),
                false => Ok(false),
            };
        }
        if frame[..6] != flow.to.mac {
            return Err(format!("packet {index} of flow {number} is for {:02x?}", &frame[..6]));
        }
        if told != 63 {
            return Err(format!("packet {index} of flow {number} came with TTL {told}"));
        }
        if flow.late.remove(&index) {
            return Ok(true);
        }
        if index != flow.arrived {
            let due = flow.arrived;
            return Err(format!("packet {index} of flow {number} came where {due} was due"));
        }
        flow.arrived += 1;
        Ok(true)
    }

    /// What of them did not come, if anything.
    pub(crate) fn missing(&self) -> Option<String> {
        let lost = self.0.iter().enumerate().filter(|(_, flow)| flow.arrived != flow.sent);
        let lost: Vec<_> = lost
            .map(|(number, flow)| {
                let (count, family) = (flow.sent - flow.arrived, if flow.is_ip6 { 6 } else { 4 });
                format!(
                    "{count} of flow {number} (IPv{family} from d{} to d{})",
                    flow.from.line, flow.to.line
                )
            })
            .collect();
        (!lost.is_empty()).then(|| lost.join(", "))
    }

    /// What did not come so far is not waited for any more: it may come late, once.
    pub(crate) fn forgive(&mut self) {
        for flow in &mut self.0 {
            flow.late.extend(flow.arrived..flow.sent);
            flow.arrived = flow.sent;
        }
    }

    /// Packets that were forgiven and did not come.
    pub(crate) fn starved(&self) -> u64 {
        self.0.iter().map(|flow| flow.late.len() as u64).sum()
    }
}

impl Flow {
    fn next(&mut self, number: u8) -> Vec<u8> {
        let mut payload = MARK.to_vec();
        payload.push(number);
        payload.extend(self.sent.to_be_bytes());
        payload.resize(32, number);
        self.sent += 1;
        let link = craft::ethernet(self.from.mac, self.router);
        match self.is_ip6 {
            false => {
                link.ipv4(self.from.ip4, self.to.ip4).udp(PORT, PORT).payload(&payload).build()
            }
            true => link.ipv6(self.from.ip6, self.to.ip6).udp(PORT, PORT).payload(&payload).build(),
        }
    }
}

/// The flow, the number and the TTL of a packet of theirs that is whole.
fn read(frame: &[u8]) -> Option<(u8, u32, u8)> {
    let (told, payload) = match frame.get(12..14)? {
        [8, 0] => {
            let packet = ipv4::Packet::parse(&frame[14..]).ok()?;
            (packet.header.ttl(), frame.get(14 + packet.header.header_len()..)?)
        }
        [0x86, 0xdd] => {
            let packet = ipv6::Packet::parse(&frame[14..]).ok()?;
            (packet.header.hop_limit(), frame.get(54..)?)
        }
        _ => return None,
    };
    let marked = payload.get(8..)?.strip_prefix(&MARK)?;
    let (number, index) = (*marked.first()?, marked.get(1..5)?.try_into().ok()?);
    let is_whole = marked.get(5..23)?.iter().all(|byte| *byte == number);
    is_whole.then_some((number, u32::from_be_bytes(index), told))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forwarded(frame: &[u8], to: [u8; 6]) -> Vec<u8> {
        let mut frame = frame.to_vec();
        frame[..6].copy_from_slice(&to);
        match frame[12] {
            8 => ipv4::HeaderMut::new(&mut frame[14..]).unwrap().decrement_ttl(),
            _ => frame[21] -= 1,
        }
        frame
    }

    #[test]
    fn what_is_lost_reordered_or_astray_is_told() {
        let (a, b) = (Host::new(0, 2), Host::new(1, 2));
        let mut flows = Flows::between(&a, &b, [[2; 6], [4; 6]]);
        let (first, second) = (flows.send(), flows.send());
        assert_eq!(flows.sent(), 8);
        let ends = [b.mac, a.mac, b.mac, a.mac];
        let lines = [1, 0, 1, 0];
        for (at, (_, frame)) in first.iter().enumerate() {
            assert_eq!(flows.take(lines[at], &forwarded(frame, ends[at])), Ok(true));
        }
        assert!(flows.missing().unwrap().contains("1 of flow 3"));
        let next = forwarded(&second[0].1, b.mac);
        assert!(flows.take(0, &next).unwrap_err().contains("came back"));
        assert_eq!(flows.take(5, &next), Ok(false));
        assert!(flows.take(1, &second[0].1).unwrap_err().contains("is for"));
        assert_eq!(flows.take(1, &next), Ok(true));
        assert!(flows.take(1, &next).unwrap_err().contains("was due"));
        flows.forgive();
        assert_eq!((flows.missing(), flows.starved()), (None, 3));
        let late = forwarded(&second[3].1, a.mac);
        assert_eq!((flows.take(0, &late), flows.starved()), (Ok(true), 2));
        assert!(flows.take(0, &late).unwrap_err().contains("was due"), "twice");
        assert_eq!(flows.take(1, b"nothing"), Ok(false));
    }
}
