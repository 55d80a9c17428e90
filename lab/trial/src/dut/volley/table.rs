//! The table of a job: what the router must have room for, and how it is filled.
//!
//! ```text
//! up to 1,000 entries   stand in the configuration, as somebody would write them
//! more                  volley route add-range, volley mac fill ─▶ counted back by GET /v1/memory
//! ```
//! Stations told so are as if they had been heard: they are forgotten when their time is up.

use std::fmt::Write as _;

use serde::Deserialize;

use crate::Error;
use crate::dut::device::Job;
use crate::load::frames;
use crate::scenario::FunctionKind;

use super::configuration::{LINK, PORTS, TUNNEL};

/// Entries that stand in the configuration.
const WRITTEN: u64 = 1_000;
/// What there is room for unless it is said.
const USUAL_ROUTES: u64 = 1 << 20;
const USUAL_MACS: u64 = 1 << 16;
const USUAL_MACS_OF_BRIDGE: u64 = 16_384;
/// Entries beside those of the table: its own addresses, hosts that are heard.
const BESIDE: u64 = 1_000;
/// Whose the routes are: not those of changes, which are flushed.
const SOURCE: &str = "ospf";

/// What a table is of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    Ip4,
    Ip6,
    Stations,
}

/// None of functions whose entries are not in a table that can be filled in bulk.
fn table_of(job: &Job) -> Option<Of> {
    match job.function.kind {
        FunctionKind::Ip4 | FunctionKind::Gre => Some(Of::Ip4),
        FunctionKind::Ip6 => Some(Of::Ip6),
        FunctionKind::Bridge | FunctionKind::VxlanEncap => Some(Of::Stations),
        _ => None,
    }
}

/// Entries that stand in the configuration.
pub(super) fn written(job: &Job) -> u64 {
    let bulk = job.entries > WRITTEN && table_of(job).is_some();
    if bulk { 0 } else { job.entries }
}

/// Keys of `[memory]`, where the usual is too small.
pub(super) fn room(job: &Job) -> String {
    let needed = job.entries + BESIDE;
    match table_of(job) {
        Some(Of::Ip4) if needed > USUAL_ROUTES => format!("routes = {needed}\n"),
        Some(Of::Ip6) if needed > USUAL_ROUTES => format!("ip6_routes = {needed}\n"),
        Some(Of::Stations) if needed > USUAL_MACS => format!("macs = {needed}\n"),
        _ => String::new(),
    }
}

/// Keys of the bridge, where the usual is too small.
pub(super) fn room_of_bridge(job: &Job) -> String {
    let needed = job.entries + BESIDE;
    match needed > USUAL_MACS_OF_BRIDGE {
        true => format!("mac_limit = {needed}\n"),
        false => String::new(),
    }
}

/// The command that fills the table of a running router, if it was not written.
pub(super) fn fill(job: &Job) -> Option<String> {
    let (of, count) = (table_of(job)?, job.entries);
    if written(job) == count {
        return None;
    }
    let mut command = String::new();
    let _ = match of {
        Of::Ip4 | Of::Ip6 => {
            let first = frames::routes(of == Of::Ip6, count).next()?;
            let via = match job.function.kind {
                FunctionKind::Gre => LINK[1].to_owned(),
                _ => first.via.to_string(),
            };
            let prefix = first.prefix;
            write!(
                command,
                "route add-range {prefix} --count {count} --via {via} --source {SOURCE}"
            )
        }
        Of::Stations => {
            let first = frames::macs(count).next()?;
            let port = match job.function.kind {
                FunctionKind::VxlanEncap => TUNNEL,
                _ => PORTS[1],
            };
            write!(command, "mac fill lan {port} {count} --first {first}")
        }
    };
    Some(command)
}

/// Checks that the router has all of it, by what it says of its memory.
pub(super) fn counted(job: &Job, told: &str) -> Result<(), Error> {
    #[derive(Deserialize)]
    struct Memory {
        parts: Vec<Part>,
    }
    #[derive(Deserialize)]
    struct Part {
        name: String,
        used: u64,
    }
    let Some(of) = table_of(job) else { return Ok(()) };
    let name = match of {
        Of::Ip4 => "IPv4 routes of all sources",
        Of::Ip6 => "IPv6 routes of all sources",
        Of::Stations => "stations",
    };
    let memory: Memory = serde_json::from_str(told)
        .map_err(|error| Error::Contradiction(format!("GET /v1/memory: {error}")))?;
    let used = memory.parts.iter().find(|part| part.name == name).map_or(0, |part| part.used);
    // A single station is heard, not told.
    let told = if of == Of::Stations && job.entries == 1 { 0 } else { job.entries };
    match used >= told {
        true => Ok(()),
        false => Err(Error::Contradiction(format!(
            "volley has {used} of {} entries ({name})",
            job.entries
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dut::testing::job;

    #[test]
    fn small_tables_are_written_and_large_ones_told_in_bulk_with_room_for_them() {
        let of = |kind, entries| job(kind, entries);
        let small = of(FunctionKind::Ip4, 1_000);
        assert_eq!((written(&small), fill(&small), room(&small)), (1_000, None, String::new()));
        let ip4 = of(FunctionKind::Ip4, 1 << 24);
        assert_eq!((written(&ip4), room(&ip4).as_str()), (0, "routes = 16778216\n"));
        assert_eq!(
            fill(&ip4).unwrap(),
            "route add-range 16.0.0.0/28 --count 16777216 --via 198.18.1.2 --source ospf"
        );
        let ip6 = of(FunctionKind::Ip6, 1 << 22);
        assert_eq!(room(&ip6), "ip6_routes = 4195304\n");
        assert!(fill(&ip6).unwrap().starts_with("route add-range 2a00::/48 --count 4194304"));
        let bridge = of(FunctionKind::Bridge, 1 << 23);
        assert_eq!(
            room(&bridge) + &room_of_bridge(&bridge),
            "macs = 8389608\nmac_limit = 8389608\n"
        );
        assert_eq!(fill(&bridge).unwrap(), "mac fill lan right 8388608 --first 06:00:00:00:00:00");
        // Lists are written, whatever their length.
        assert_eq!(written(&of(FunctionKind::Acl, 50_000)), 50_000);
    }

    #[test]
    fn a_table_that_is_not_whole_is_told() {
        let job = job(FunctionKind::Bridge, 100_000);
        let told = |used| format!("{{\"parts\": [{{\"name\": \"stations\", \"used\": {used}}}]}}");
        assert!(counted(&job, &told(100_001)).is_ok());
        let error = counted(&job, &told(65_536)).unwrap_err().to_string();
        assert!(error.contains("65536 of 100000 entries"), "{error}");
        assert!(counted(&job, "{}").is_err());
        assert!(counted(&Job { entries: 1, ..job }, &told(0)).is_ok());
    }
}
