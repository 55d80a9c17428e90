//! From a route file to forwarding, through the routing table, and how long each part takes.
//!
//! `cargo run --release -p fib --example route_load -- FILE`
//!
//! A number in the file stands for one of 64 neighbours on a connected network.

#![allow(unsafe_code)] // Reading the thread's clock.

use std::error::Error;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::time::{Duration, Instant};

use fib::ip4::{Ip4Layout, Ip4Nodes, Ip4Options, Ip4Table};
use fib::quiesce::Quiescence;
use fib::rib::{Change, Protocol, Resolved, Rib, Route};
use fib::route_file::{FilePrefix, FileTarget, OnWrong, load_routes};
use fib::{Forward, Ip4Prefix};

/// What this thread has had of a processor: on a busy machine less than has passed.
fn processor_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes one timespec.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

const NEIGHBORS: u32 = 64;

/// What a prefix forwards to; the neighbour's last octet stands for its adjacency.
fn forward_of(change: &Change<u32>) -> Option<(Ip4Prefix, Forward)> {
    match change.to.as_ref()? {
        Resolved::Paths(paths) => match paths.first()?.address? {
            IpAddr::V4(address) => {
                Some((change.prefix, Forward::new(1, address.octets()[3].into())))
            }
            IpAddr::V6(_) => None,
        },
        _ => None,
    }
}

fn load(path: &Path, layout: Ip4Layout) -> Result<(), Box<dyn Error>> {
    let nodes = Ip4Nodes::new(16 << 20, Ip4Options::default().page_size, &Quiescence::new())?;
    let table = Ip4Table::new(&nodes, Ip4Options { layout, ..Ip4Options::default() })?;
    let mut rib = Rib::<u32>::new();
    let mut changes = Vec::new();
    rib.add("10.0.0.0/24".parse()?, Protocol::Connected.into(), Route::connected(1), &mut changes);

    let (wall, start) = (Instant::now(), processor_time());
    let file = load_routes(path, OnWrong::Refuse, &mut |_| {})?;
    let read = processor_time() - start;
    let routes = file.routes.iter().filter_map(|route| {
        let FilePrefix::V4(prefix) = route.prefix else { return None };
        let target = match route.target {
            FileTarget::Address(address) => address,
            FileTarget::Number(n) => Ipv4Addr::from_bits(0x0a00_0001 + n % NEIGHBORS).into(),
        };
        Some((prefix, Route::via(target)))
    });
    rib.add_all(routes, Protocol::Ebgp.into(), &mut changes);
    let resolved = processor_time() - start;
    let forwards: Vec<_> = changes.iter().filter_map(forward_of).collect();
    table.insert_bulk(&forwards).map_err(|(_, error)| error)?;
    let forwarding = processor_time() - start;
    println!(
        "{layout:?}: {} routes; read {read:.2?}, resolved {:.2?}, forwarding {:.2?}: {forwarding:.2?} \
         of processor, {:.2?} in all",
        table.len(),
        resolved - read,
        forwarding - resolved,
        wall.elapsed(),
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("which file?")?;
    load(Path::new(&path), Ip4Layout::Wide)?;
    load(Path::new(&path), Ip4Layout::Compact)
}
