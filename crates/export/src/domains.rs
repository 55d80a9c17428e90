//! What flows of a switch have noted, told in the observation domains that they say: each counts
//! its records, and tells its templates, by itself (RFC 7011 sections 3.1 and 8).

use crate::Now;
use crate::cache::Ended;
use crate::records::Records;
use std::collections::BTreeMap;

/// Domains that are known at once; flows may say any.
const MOST: usize = 1_024;

/// See the module.
#[derive(Debug)]
pub struct Domains {
    known: BTreeMap<u32, Records>,
    refresh_ms: u64,
    /// Records told.
    pub told: u64,
}

impl Domains {
    /// Nothing was told yet; templates are told once in so long.
    pub fn new(refresh_ms: u64) -> Self {
        Self { known: BTreeMap::new(), refresh_ms, told: 0 }
    }

    /// The datagrams that tell of these flows, and of templates where it is time.
    pub fn write(&mut self, now: Now, flows: &[Ended]) -> Vec<Vec<u8>> {
        let mut by_domain: BTreeMap<u32, Vec<Ended>> = BTreeMap::new();
        for ended in flows {
            by_domain.entry(ended.key.observed.0).or_default().push(*ended);
        }
        for domain in by_domain.keys() {
            if !self.known.contains_key(domain) && self.known.len() >= MOST {
                // All are told from the beginning again, as by who was started anew.
                self.known.clear();
            }
            let refresh_ms = self.refresh_ms;
            let new = || Records::observed(*domain, refresh_ms);
            self.known.entry(*domain).or_insert_with(new);
        }
        self.told += flows.len() as u64;
        let known = self.known.iter_mut();
        known
            .flat_map(|(domain, records)| {
                let flows = by_domain.get(domain).map(Vec::as_slice).unwrap_or_default();
                records.write(now, flows)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::{End, Flow};
    use crate::flow::Key;

    const NOW: Now = Now { unix_ms: 1_700_000_000_500, uptime_ms: 90_000 };

    fn seen(domain: u32, point: u32) -> Ended {
        let mut words = [0; 7];
        words[0] = 4 << 48;
        words[6] = u64::from(domain) << 32 | u64::from(point);
        let flow = Flow { packets: 100, bytes: 2800, tcp_flags: 0, first_ms: 1, last_ms: 2 };
        Ended { key: Key::from_words(words), flow, end: End::Silent }
    }

    /// Domain and sequence of a datagram.
    fn head(datagram: &[u8]) -> (u32, u32) {
        let long = |at: usize| u32::from_be_bytes(datagram[at..at + 4].try_into().unwrap());
        (long(12), long(8))
    }

    #[test]
    fn each_domain_has_its_own_templates_and_sequence() {
        let mut domains = Domains::new(30_000);
        let all = domains.write(NOW, &[seen(7, 0xff00_0001), seen(9, 2), seen(7, 3)]);
        let heads: Vec<_> = all.iter().map(|it| head(it)).collect();
        assert_eq!(heads, [(7, 0), (9, 0)]);
        // The template names the point, and each record has it.
        let names = |it: &[u8]| it.windows(4).any(|octets| octets == [0, 138, 0, 4]);
        assert!(all.iter().all(|it| names(it)));
        let has = |point: [u8; 4]| all[0].windows(4).any(|octets| octets == point);
        assert!(has([0xff, 0, 0, 1]) && has([0, 0, 0, 3]));
        // Three records before in the one (two flows, one of sampling), two in the other.
        let next = domains.write(NOW, &[seen(9, 2), seen(7, 3)]);
        let heads: Vec<_> = next.iter().map(|it| head(it)).collect();
        assert_eq!((heads, domains.told), (vec![(7, 3), (9, 2)], 5));
        assert!(!next.iter().any(|it| names(it)));
    }

    #[test]
    fn domains_without_end_are_forgotten_and_told_anew() {
        let mut domains = Domains::new(30_000);
        let many: Vec<_> = (0..MOST as u32).map(|it| seen(it, 1)).collect();
        assert_eq!(domains.write(NOW, &many).len(), MOST);
        assert_eq!(domains.write(NOW, &[seen(u32::MAX, 1)]).len(), 1);
        assert_eq!(head(&domains.write(NOW, &[seen(5, 1)])[0]), (5, 0));
    }
}
