//! Routes in bulk, as a routing protocol would bring them: from a file, or made up in a row. They
//! are no part of the configuration: what the router leaves to the next one (`[state]`) has them,
//! and `flush` removes them.
//!
//! ```text
//!  file ─▶ read ─▶ next hops by `via` ─▶ [ slice ][ slice ]… ─▶ engine, other work between slices
//! ```

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;

use fib::rib::{NextHop, Protocol, Route, Source, Target};
use fib::route_file::{FilePrefix, FileRoute, FileTarget};
use fib::{FibError, Ip4Prefix, Ip6Prefix};
use thiserror::Error;

/// Whose routes they are if nobody says.
const DEFAULT_SOURCE: Protocol = Protocol::Ebgp;

/// A route and its prefix.
pub type BulkRoute = (FilePrefix, Route);

/// Why routes are not made.
#[derive(Debug, Error)]
pub enum BulkError {
    /// Nobody of that name brings routes.
    #[error(
        "`{0}` brings no routes: expected ebgp, ospf, isis, rip or ibgp, and maybe a preference from 1 to 255, as in ospf/90"
    )]
    Source(String),
    /// A next hop is none.
    #[error("`{0}` is no next hop: expected addresses, as in 192.0.2.9,192.0.2.10")]
    Via(String),
    /// A file names next hops by number, and nobody says what they stand for.
    #[error("{prefix} leads to number {number}: say with `via` which next hops numbers stand for")]
    Number {
        /// The route.
        prefix: String,
        /// What it leads to.
        number: u32,
    },
    /// A next hop of the other family.
    #[error("{prefix} cannot lead to {hop}: an address of the other family")]
    Family {
        /// The route.
        prefix: String,
        /// Its next hop.
        hop: IpAddr,
    },
    /// Not a prefix.
    #[error(transparent)]
    Prefix(#[from] FibError),
    /// More routes than there are networks.
    #[error("{count} networks from {prefix} on run past the last address")]
    Range {
        /// The first one.
        prefix: String,
        /// How many were asked for.
        count: u32,
    },
}

/// Reads whose routes are meant.
pub fn source_of(text: Option<&str>) -> Result<Source, BulkError> {
    let Some(text) = text else { return Ok(DEFAULT_SOURCE.into()) };
    let wrong = || BulkError::Source(text.to_owned());
    let (name, preference) = match text.split_once('/') {
        Some((name, preference)) => (name, Some(preference)),
        None => (text, None),
    };
    let dynamic = Protocol::DYNAMIC.into_iter().find(|protocol| protocol.to_string() == name);
    let mut source = Source::from(dynamic.ok_or_else(wrong)?);
    if let Some(preference) = preference {
        let given = preference.parse().ok().filter(|preference| *preference > 0);
        source.preference = given.ok_or_else(wrong)?;
    }
    Ok(source)
}

/// As [`source_of`] reads it.
pub fn source_text(source: Source) -> String {
    let name = source.protocol.to_string();
    let usual = Source::from(source.protocol) == source;
    if usual { name } else { format!("{name}/{}", source.preference) }
}

/// Where routes lead.
pub enum Via {
    /// Where the file says.
    File,
    /// Each to one of these.
    OneOf(Vec<(IpAddr, Route)>),
    /// Each to all of these.
    All(Vec<(IpAddr, Route)>),
}

impl Via {
    /// Reads next hops; `share`: each route leads over all of them.
    pub fn of(text: Option<&str>, share: bool) -> Result<Self, BulkError> {
        let Some(text) = text else { return Ok(Self::File) };
        let parse = |word: &str| word.trim().parse().map_err(|_| BulkError::Via(text.to_owned()));
        let hops: BTreeSet<IpAddr> = text.split(',').map(parse).collect::<Result<_, _>>()?;
        let all: Arc<[NextHop]> = hops.iter().map(|hop| next_hop(*hop)).collect();
        let each = hops.iter().map(|hop| {
            let target = match share {
                true => Target::Via(Arc::clone(&all)),
                false => Target::Via([next_hop(*hop)].into()),
            };
            (*hop, Route { target })
        });
        let each = each.collect();
        Ok(if share { Self::All(each) } else { Self::OneOf(each) })
    }

    /// Where a route leads that a file has so, or that is the `number`th of a row.
    fn route(&self, prefix: FilePrefix, target: FileTarget) -> Result<Route, BulkError> {
        let (hop, route) = match (self, target) {
            (Self::File, FileTarget::Address(hop)) => (hop, Route::via(hop)),
            (Self::File, FileTarget::Number(number)) => {
                return Err(BulkError::Number { prefix: prefix.to_string(), number });
            }
            (Self::OneOf(hops) | Self::All(hops), target) => {
                let (hop, route) = &hops[number_of(target) as usize % hops.len()];
                (*hop, route.clone())
            }
        };
        let same_family = matches!(
            (prefix, hop),
            (FilePrefix::V4(_), IpAddr::V4(_)) | (FilePrefix::V6(_), IpAddr::V6(_))
        );
        let wrong = || BulkError::Family { prefix: prefix.to_string(), hop };
        if same_family { Ok(route) } else { Err(wrong()) }
    }
}

fn next_hop(address: IpAddr) -> NextHop {
    NextHop { address: Some(address), interface: None, weight: 1 }
}

/// A number that differs where next hops do.
fn number_of(target: FileTarget) -> u32 {
    match target {
        FileTarget::Number(number) => number,
        FileTarget::Address(IpAddr::V4(address)) => address.to_bits(),
        FileTarget::Address(IpAddr::V6(address)) => {
            let bits = address.to_bits();
            (bits ^ bits >> 32 ^ bits >> 64 ^ bits >> 96) as u32
        }
    }
}

/// The routes of a file.
pub fn routes_of(file: &[FileRoute], via: &Via) -> Result<Vec<BulkRoute>, BulkError> {
    file.iter().map(|file| Ok((file.prefix, via.route(file.prefix, file.target)?))).collect()
}

/// Routes to `count` networks of a length, the first being `prefix`.
pub fn routes_in_a_row(prefix: &str, count: u32, via: &Via) -> Result<Vec<BulkRoute>, BulkError> {
    let first: FilePrefix = prefix.parse()?;
    let networks = row(first, count);
    let networks = networks.ok_or_else(|| BulkError::Range { prefix: prefix.to_owned(), count })?;
    let numbered = networks.into_iter().zip(0..);
    numbered.map(|(prefix, n)| Ok((prefix, via.route(prefix, FileTarget::Number(n))?))).collect()
}

/// None if they run past the last address.
fn row(first: FilePrefix, count: u32) -> Option<Vec<FilePrefix>> {
    let (address, host_bits, last) = match first {
        FilePrefix::V4(prefix) => {
            (prefix.address().into(), 32 - prefix.length(), u128::from(u32::MAX))
        }
        FilePrefix::V6(prefix) => (prefix.address(), 128 - prefix.length(), u128::MAX),
    };
    let nth = |n: u32| {
        let offset = u128::from(n).checked_mul(1_u128.checked_shl(host_bits.into())?)?;
        address.checked_add(offset).filter(|address| *address <= last)
    };
    let network = |n| match first {
        FilePrefix::V4(prefix) => {
            Ip4Prefix::new(nth(n)? as u32, prefix.length()).ok().map(FilePrefix::V4)
        }
        FilePrefix::V6(prefix) => Ip6Prefix::new(nth(n)?, prefix.length()).ok().map(FilePrefix::V6),
    };
    // The last one first: a row that is too long is refused before it is made.
    count.checked_sub(1).and_then(nth)?;
    (0..count).map(network).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(prefix: &str, count: u32, via: &str) -> Result<Vec<String>, BulkError> {
        let routes = routes_in_a_row(prefix, count, &Via::of(Some(via), false)?)?;
        let hop = |route: &Route| route.hops()[0].address.unwrap();
        Ok(routes.iter().map(|(prefix, route)| format!("{prefix} {}", hop(route))).collect())
    }

    #[test]
    fn a_row_takes_next_hops_in_turn() {
        let row = made("10.0.254.0/24", 3, "192.0.2.9,192.0.2.10").unwrap();
        let expected =
            ["10.0.254.0/24 192.0.2.9", "10.0.255.0/24 192.0.2.10", "10.1.0.0/24 192.0.2.9"];
        assert_eq!(row, expected);
        let row = made("2001:db8::/48", 2, "2001:db8::9").unwrap();
        assert_eq!(row[1], "2001:db8:1::/48 2001:db8::9");
    }

    #[test]
    fn a_row_past_the_last_address_is_refused() {
        assert!(made("255.255.254.0/24", 2, "192.0.2.9").is_ok());
        for (prefix, count) in [("255.255.254.0/24", 3), ("0.0.0.0/0", 2), ("::/0", 2)] {
            let error = made(prefix, count, "192.0.2.9").unwrap_err();
            assert!(matches!(error, BulkError::Range { .. }), "{error}");
        }
        assert!(made("10.0.0.0/24", 0, "192.0.2.9").is_err());
    }

    #[test]
    fn a_source_is_a_name_and_maybe_a_preference() {
        for (text, preference) in [("ebgp", 20), ("ospf/90", 90), ("ibgp/255", 255)] {
            let source = source_of(Some(text)).unwrap();
            assert_eq!((source.preference, source_text(source)), (preference, text.to_owned()));
        }
        assert_eq!(source_text(source_of(None).unwrap()), "ebgp");
        for text in ["static", "connected", "bgp", "ebgp/0", "ebgp/256", "ebgp/", "/20", ""] {
            assert!(source_of(Some(text)).is_err(), "{text}");
        }
    }

    #[test]
    fn a_file_leads_where_it_says_or_where_it_is_told() {
        let target = FileTarget::Number(64_501);
        let file = [FileRoute { prefix: "10.0.0.0/8".parse().unwrap(), target }];
        let error = routes_of(&file, &Via::File).unwrap_err().to_string();
        assert!(error.contains("10.0.0.0/8") && error.contains("64501"), "{error}");
        let hops = |via, share| {
            let via = Via::of(Some(via), share)?;
            let routes = routes_of(&file, &via)?;
            Ok::<_, BulkError>(routes[0].1.hops().iter().map(|hop| hop.address).collect::<Vec<_>>())
        };
        let (one, two) = (Some("192.0.2.1".parse().unwrap()), Some("192.0.2.2".parse().unwrap()));
        assert_eq!(hops("192.0.2.1,192.0.2.2", false).unwrap(), [two]);
        assert_eq!(hops("192.0.2.1,192.0.2.2", true).unwrap(), [one, two]);
        assert!(matches!(hops("2001:db8::1", false), Err(BulkError::Family { .. })));
        assert!(matches!(hops("192.0.2.1,", false), Err(BulkError::Via(_))));
    }
}
