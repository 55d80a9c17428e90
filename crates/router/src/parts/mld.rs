//! Which groups of IPv6 we listen to, told to the switches of a link (RFC 3810): when, and in which
//! words.
//!
//! ```text
//!  an address comes ─▶ told at once ─▶ and a second later           (Robustness Variable 2)
//!  somebody asks ─▶ told once, within the time that the question leaves
//! ```
//! Owned by the control thread.

use crate::core::Core;
use crate::interfaces::OpenPort;
use crate::part::{Hears, Part};
use control::config::objects::port::PortName;
use control::engine::ApplyError;
use nodes::tables::ListenersWanted;
use std::collections::{BTreeSet, HashMap};
use std::net::Ipv6Addr;
use std::time::Instant;
use wire::icmp6::message::MLD2_REPORT;
use wire::{MacAddr, craft, ipv6};

/// Between two unsolicited reports (section 9.11).
const REPEAT_NS: u64 = 1_000_000_000;
/// How often a change is told (section 9.1).
const ROBUSTNESS: u8 = 2;

/// Where reports go: all routers that hear MLD, version 2 (section 5.2.14).
const REPORTS_TO: u128 = 0xff02 << 112 | 0x16;
/// The option that has routers look at a packet: alert, of MLD (RFC 2711).
const ROUTER_ALERT: [u8; 4] = [5, 2, 0, 0];
/// A record says: from nobody but these, who are none: from nobody excluded (section 5.2.12).
const EXCLUDES_NOBODY: [u8; 4] = [2, 0, 0, 0];

/// Records that fit into the least MTU of IPv6, behind 56 bytes of headers.
const MOST_RECORDS: usize = (1280 - 56) / 20;

/// When each interface tells.
#[derive(Default)]
pub(crate) struct Mld {
    timers: HashMap<u16, Timer>,
    told: HashMap<u16, BTreeSet<u128>>,
}

struct Timer {
    next_ns: u64,
    left: u8,
}

impl Part for Mld {
    /// Whoever tries an address listens where others ask for it (RFC 4862 section 5.4.2).
    fn follow(&mut self, core: &mut Core, name: &PortName) -> Result<(), ApplyError> {
        let Some(port) = core.ports.get(name) else { return Ok(()) };
        if !port.config.kind.is_point_to_point() {
            let addresses: Vec<u128> = port.used6().into_iter().map(|(own, _)| own).collect();
            self.set(core.now_ns(), port.id, groups_of(&addresses));
        }
        Ok(())
    }

    /// Tells switches which groups are listened to, where that is due.
    fn turn(&mut self, core: &mut Core, now: Instant) -> bool {
        self.beat(core, now);
        false
    }

    fn beat(&mut self, core: &mut Core, _: Instant) {
        for (id, groups) in self.due(core.now_ns()) {
            let Some((_, port)) = core.port_of(id) else { continue };
            let reports = reports(port, &groups);
            reports.iter().for_each(|report| core.neighborhood.send(id, report));
        }
    }

    fn next_due_ns(&self) -> Option<u64> {
        self.timers.values().map(|timer| timer.next_ns).min()
    }
}

impl Hears<ListenersWanted> for Mld {
    fn hear(&mut self, core: &mut Core, punt: ListenersWanted) {
        self.asked(core.now_ns(), punt.interface, punt.within_ms);
    }
}

impl Mld {
    /// `interface` listens to these groups: told if they are others than before.
    fn set(&mut self, now_ns: u64, interface: u16, groups: BTreeSet<u128>) {
        if groups.is_empty() {
            self.timers.remove(&interface);
            self.told.remove(&interface);
        } else if self.told.get(&interface) != Some(&groups) {
            self.timers.insert(interface, Timer { next_ns: now_ns, left: ROBUSTNESS });
            self.told.insert(interface, groups);
        }
    }

    /// Somebody on `interface` wants to know, within a time.
    fn asked(&mut self, now_ns: u64, interface: u16, within_ms: u32) {
        if !self.told.contains_key(&interface) {
            return;
        }
        // Half of the time: nobody else answers for us, so there is no crowd to be spread.
        let next_ns = now_ns + u64::from(within_ms) * 500_000;
        let timer = self.timers.entry(interface).or_insert(Timer { next_ns, left: 1 });
        timer.next_ns = timer.next_ns.min(next_ns);
    }

    /// The interfaces that are to tell now, and their groups.
    fn due(&mut self, now_ns: u64) -> Vec<(u16, BTreeSet<u128>)> {
        let mut due = Vec::new();
        for (&interface, timer) in
            self.timers.iter_mut().filter(|(_, timer)| timer.next_ns <= now_ns)
        {
            timer.left = timer.left.saturating_sub(1);
            timer.next_ns = now_ns + REPEAT_NS;
            due.extend(self.told.get(&interface).map(|groups| (interface, groups.clone())));
        }
        self.timers.retain(|_, timer| timer.left > 0);
        due.sort_unstable();
        due
    }
}

/// The groups of addresses: those on which others ask for them, and all routers. All nodes is never
/// told (section 6).
fn groups_of(addresses: &[u128]) -> BTreeSet<u128> {
    let asked_on = addresses.iter().map(|own| ipv6::solicited_node(*own));
    let routers = addresses.first().map(|_| ipv6::ALL_ROUTERS);
    asked_on.chain(routers).collect()
}

/// A port's reports. Without a valid link-local address they come from nobody (section 5.2.13).
///
/// ```text
///  Ethernet │ IPv6, hop limit 1 │ router alert │ report │ group, 20 bytes each
/// ```
fn reports(port: &OpenPort, groups: &BTreeSet<u128>) -> Vec<Vec<u8>> {
    let own = port.valid6.iter().find(|&&(own, _)| ipv6::is_link_local(own));
    let from = own.map_or(Ipv6Addr::UNSPECIFIED, |&(own, _)| own.into());
    frames(port.mac, from, groups)
}

fn frames(mac: [u8; 6], from: Ipv6Addr, groups: &BTreeSet<u128>) -> Vec<Vec<u8>> {
    let groups: Vec<u128> = groups.iter().copied().collect();
    groups.chunks(MOST_RECORDS).map(|some| frame(mac, from, some)).collect()
}

fn frame(mac: [u8; 6], from: Ipv6Addr, groups: &[u128]) -> Vec<u8> {
    let record = |group: &u128| [&EXCLUDES_NOBODY[..], &group.to_be_bytes()].concat();
    let records: Vec<u8> = groups.iter().flat_map(record).collect();
    let [high, low] = (groups.len() as u16).to_be_bytes();
    let packet = craft::ethernet(mac, MacAddr::of_ip6_group(REPORTS_TO))
        .ipv6(from, Ipv6Addr::from(REPORTS_TO))
        .hop_limit(1)
        .hop_by_hop(&ROUTER_ALERT);
    packet.icmp6(MLD2_REPORT, 0, [0, 0, high, low]).payload(&records).build()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: u128 = 0x2001_0db8 << 96 | 0x00ab_cdef;
    const GROUP: u128 = 0xff02 << 112 | 0x1_ffab_cdef;

    #[test]
    fn a_change_is_told_twice_and_a_question_answered_once() {
        let mut listening = Mld::default();
        let groups = groups_of(&[OWN]);
        assert_eq!(groups, BTreeSet::from([GROUP, ipv6::ALL_ROUTERS]));
        listening.asked(0, 4, 1000);
        assert_eq!(listening.next_due_ns(), None);
        listening.set(5, 4, groups.clone());
        assert_eq!(listening.due(5), [(4, groups.clone())]);
        listening.set(6, 4, groups.clone());
        assert_eq!(listening.due(REPEAT_NS), []);
        assert_eq!(listening.due(5 + REPEAT_NS), [(4, groups.clone())]);
        assert_eq!((listening.due(u64::MAX / 2), listening.next_due_ns()), (vec![], None));
        listening.asked(0, 4, 1000);
        listening.asked(1, 4, 9000);
        assert_eq!((listening.due(499_999_999), listening.due(500_000_000).len()), (vec![], 1));
        assert_eq!(listening.next_due_ns(), None);
        listening.set(0, 4, BTreeSet::new());
        listening.asked(0, 4, 1);
        assert_eq!(listening.due(u64::MAX / 2), []);
    }

    #[test]
    fn a_report_has_its_alert_and_a_record_for_each_group() {
        let frame = frame([2, 0, 0, 0, 0, 9], Ipv6Addr::UNSPECIFIED, &[GROUP]);
        let to = [0x33, 0x33, 0, 0, 0, 0x16, 2, 0, 0, 0, 0, 9, 0x86, 0xdd];
        let ip = [0x60, 0, 0, 0, 0, 36, 0, 1];
        assert_eq!((&frame[..14], &frame[14..22]), (&to[..], &ip[..]));
        assert_eq!((&frame[22..38], &frame[38..54]), (&[0; 16][..], &REPORTS_TO.to_be_bytes()[..]));
        assert_eq!(frame[54..62], [58, 0, 5, 2, 0, 0, 1, 0]);
        assert_eq!((frame[62], &frame[66..74]), (143, &[0, 0, 0, 1, 2, 0, 0, 0][..]));
        assert_eq!(frame[74..], GROUP.to_be_bytes());
        let sound = wire::icmp6::Header::parse(&frame[62..], 0, REPORTS_TO);
        assert!(sound.is_ok(), "{sound:?}");
    }

    #[test]
    fn many_groups_are_told_in_several_reports() {
        let groups: BTreeSet<u128> = (0..62).map(|number| GROUP + number).collect();
        let frames = frames([2, 0, 0, 0, 0, 9], Ipv6Addr::UNSPECIFIED, &groups);
        let lengths: Vec<usize> = frames.iter().map(Vec::len).collect();
        assert_eq!(lengths, [14 + 56 + 61 * 20, 14 + 56 + 20]);
        assert_eq!(frames[1][74..], (GROUP + 61).to_be_bytes());
    }
}
