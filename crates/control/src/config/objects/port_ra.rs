//! `[port.NAME.ra]`: routers advertise themselves to the hosts of a link (RFC 4861, 6.2.1), which
//! make addresses of the port's /64 networks (RFC 4862) and learn name servers (RFC 8106). Not
//! there: the port is silent. What radvd and FRR call each option stands in docs/ra.md.

use std::net::Ipv6Addr;
use std::time::Duration;

use super::domain_name::DomainName;
use crate::config::declare::{as_field, object};
use crate::config::field::{duration_text, word_field};
use crate::config::report::{Problem, Report};

/// Octets of an advertisement that has neither networks nor names: IPv6 header, the message, our
/// MAC, the MTU.
const BARE_BYTES: usize = 40 + 16 + 8 + 8;
/// Octets that each network takes.
const PREFIX_BYTES: usize = 32;
/// What every link takes in one piece (RFC 8200 section 5).
const MOST_BYTES: usize = 1_280;

word_field! {
    /// Whether hosts are to prefer a router to others (RFC 4191).
    Preference {
        /// To others of the same link, no.
        Low = "low",
        /// Neither.
        Medium = "medium",
        /// Yes.
        High = "high",
    }
}

object! {
    /// How a port advertises the router
    pub struct Ra {
        /// Longest time between two advertisements
        pub interval: Duration as "10s" = Duration::from_secs(600),
        /// How long hosts use the router after one; 0s: they do not, and only learn networks
        pub lifetime: Duration as "30m" = Duration::from_secs(1_800),
        /// Whether hosts are to prefer it to other routers of the link
        pub preference: Preference = Preference::Medium,
        /// Whether hosts ask DHCPv6 for addresses
        pub managed: bool = false,
        /// Whether hosts ask DHCPv6 for other settings
        pub other: bool = false,
        /// Hop limit of what hosts send; 0: as they please
        pub hop_limit: u8 [0..=255] = 64,
        /// How long hosts take a neighbour for reachable; 0s: as they please
        pub reachable: Duration as "30s" = Duration::ZERO,
        /// Between two questions of theirs for a neighbour; 0s: as they please
        pub retransmit: Duration as "1s" = Duration::ZERO,
        /// Longest packet that hosts send; the port's MTU when left out
        pub link_mtu: Option<u16> as "1400" [1_280..=9_216] = None,
        /// Whether hosts reach those of the port's networks without a router
        pub on_link: bool = true,
        /// Whether hosts make addresses of the port's /64 networks
        pub autonomous: bool = true,
        /// How long its networks are valid
        pub valid: Duration as "30d" = Duration::from_secs(30 * 24 * 3_600),
        /// How long hosts prefer addresses of them
        pub preferred: Duration as "7d" = Duration::from_secs(7 * 24 * 3_600),
        /// Name servers
        pub dns: Vec<Ipv6Addr> as "2001:db8::53" = Vec::new(),
        /// Domains in which hosts look for short names
        pub domains: Vec<DomainName> as "example.net" = Vec::new(),
        /// How long hosts use these; three intervals when left out
        pub dns_lifetime: Option<Duration> as "30m" = None,
    }
}
as_field!(Ra);

impl Ra {
    /// How long hosts use name servers and domains (RFC 8106 section 5.1).
    pub fn names_lifetime(&self) -> Duration {
        self.dns_lifetime.unwrap_or(self.interval * 3)
    }

    /// Octets of the option with the name servers.
    fn dns_bytes(&self) -> usize {
        if self.dns.is_empty() { 0 } else { 8 + 16 * self.dns.len() }
    }

    /// Octets of the option with the domains.
    fn domains_bytes(&self) -> usize {
        let names: usize = self.domains.iter().map(|name| name.encoded().len()).sum();
        if self.domains.is_empty() { 0 } else { (8 + names).next_multiple_of(8) }
    }

    pub(super) fn check(&self, port: &str, networks: usize, mtu: u16, report: &mut Report) {
        let field = format!("{port}.ra");
        let mut refuse = |name: &str, message: String, expected: &str| {
            report.push(Problem::new(format!("{field}{name}"), message).expected(expected));
        };
        let longest = |name: &str, time: Duration, most: Duration| {
            let text = duration_text(time);
            (time > most).then(|| (format!(".{name}"), text, duration_text(most)))
        };
        if networks == 0 {
            let message = "it has no IPv6 address to advertise from".to_owned();
            refuse("", message, "an IPv6 address on the port");
        }
        let (shortest, most) = (Duration::from_secs(4), Duration::from_secs(1_800));
        if !(shortest..=most).contains(&self.interval) {
            let message = format!("an advertisement every {}", duration_text(self.interval));
            refuse(".interval", message, "\"4s\" to \"30m\"");
        }
        let most = Duration::from_secs(9_000);
        if !self.lifetime.is_zero() && !(self.interval..=most).contains(&self.lifetime) {
            let message = format!("a lifetime of {}", duration_text(self.lifetime));
            refuse(".lifetime", message, "\"0s\", or the interval to \"150m\"");
        }
        // RFC 4861 section 6.2.1 has an hour for the one, and as it does not say, for the other.
        let (hour, ever) = (Duration::from_secs(3_600), Duration::from_secs(u32::MAX.into()));
        let too_long = [
            longest("reachable", self.reachable, hour),
            longest("retransmit", self.retransmit, hour),
            longest("valid", self.valid, ever),
            longest("dns_lifetime", self.names_lifetime(), ever),
        ];
        for (name, text, most) in too_long.into_iter().flatten() {
            refuse(&name, format!("a time of {text}"), &format!("\"{most}\" at most"));
        }
        if self.preferred > self.valid {
            let (preferred, valid) = (duration_text(self.preferred), duration_text(self.valid));
            let message = format!("preferred for {preferred} and valid for {valid}");
            refuse(".preferred", message, "a time not longer than `valid`");
        }
        if let Some(link_mtu) = self.link_mtu.filter(|link_mtu| *link_mtu > mtu) {
            let message = format!("hosts are told {link_mtu}, and the port's MTU is {mtu}");
            refuse(".link_mtu", message, "the port's MTU at most");
        }
        if let Some(strange) = self.dns.iter().find(|it| it.is_multicast() || it.is_unspecified()) {
            refuse(".dns", format!("{strange} is no host's address"), "addresses of name servers");
        }
        let bytes = BARE_BYTES + networks * PREFIX_BYTES + self.dns_bytes() + self.domains_bytes();
        let names = self.dns_bytes().max(self.domains_bytes());
        if bytes > MOST_BYTES || names > 255 * 8 {
            let message = format!("an advertisement of {bytes} octets");
            let expected = format!("{MOST_BYTES} at most: fewer name servers or domains");
            refuse("", message, &expected);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::config::{Host, Source, parse};

    fn told(ra: &str) -> String {
        let text = format!(
            "[port.p0]\nkind = \"memory\"\naddresses = [\"2001:db8::1/64\"]\n[port.p0.ra]\n{ra}"
        );
        let parsed = parse(&Source::new("router.toml", text), &Host::any());
        parsed.map_or_else(|problems| problems.to_string(), |_| String::new())
    }

    #[test]
    fn what_cannot_be_advertised_is_refused() {
        let many: Vec<String> = (0..80).map(|n| format!("\"2001:db8::{n:x}:53\"")).collect();
        let many = format!("dns = [{}]", many.join(", "));
        for (ra, expected) in [
            ("reachable = \"61m\"", "a time of 61m"),
            ("retransmit = \"61m\"", "\"1h\" at most"),
            ("valid = \"1h\"", "preferred for 168h and valid for 1h"),
            ("link_mtu = 1600", "hosts are told 1600, and the port's MTU is 1500"),
            ("link_mtu = 1279", "link_mtu"),
            ("dns = [\"ff02::1\"]", "ff02::1 is no host's address"),
            ("dns = [\"192.0.2.1\"]", "an IPv6 address"),
            ("domains = [\"-x.example\"]", "a domain name"),
            ("preference = \"most\"", "low"),
            (&many, "an advertisement of 1392 octets"),
        ] {
            assert!(told(ra).contains(expected), "{ra}: {}", told(ra));
        }
        let all = "preference = \"high\"\nmanaged = true\nother = true\nhop_limit = 0\n\
                   reachable = \"1h\"\nretransmit = \"1s\"\nlink_mtu = 1500\non_link = false\n\
                   autonomous = false\nvalid = \"1h\"\npreferred = \"1h\"\n\
                   dns = [\"2001:db8::53\", \"fe80::53\"]\ndomains = [\"example.net\"]\n\
                   dns_lifetime = \"0s\"\n";
        assert_eq!(told(all), "");
    }
}
