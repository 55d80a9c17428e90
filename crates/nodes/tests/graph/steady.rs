//! Once warm, a pass over the graph allocates nothing, whatever the packets.

use crate::rig::*;
use dataplane::PortQueues;
use packet::{MemorySink, MemorySource, Repeat};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::net::Ipv6Addr;
use wire::craft::{self, Craft, Ethernet};

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: passes everything on to the system's allocator.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promise, passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise, passed on.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn from_host() -> Craft<Ethernet> {
    craft::ethernet(HOST_MAC, our_mac(0))
}

/// One packet of every kind that has a way of its own.
fn kinds() -> Vec<Vec<u8>> {
    let to = |target: [u8; 4]| from_host().ipv4(HOST, target);
    let ask = craft::ethernet(HOST_MAC, [0xff; 6]).arp_request(HOST_MAC, HOST, US);
    vec![
        to(FAR).udp(1, 2).build(),
        to(FAR).ttl(1).udp(1, 2).build(),
        to(FAR).option(7, &[4, 0, 0, 0, 0]).udp(1, 2).build(),
        to(US).icmp_echo(1, 2).build(),
        to(US).tcp(1, 2).build(),
        to(US).udp(1, 2).build(),
        to([10, 1, 0, 1]).udp(1, 2).build(),
        to([10, 5, 0, 1]).udp(1, 2).payload_len(250).build(),
        to([10, 5, 0, 1]).dont_fragment().udp(1, 2).payload_len(250).build(),
        to([198, 51, 100, 77]).udp(1, 2).build(),
        to([10, 4, 0, 1]).udp(1, 2).build(),
        ask.build(),
        vec![0; 9],
    ]
}

/// The same of IPv6.
fn kinds6() -> Vec<Vec<u8>> {
    let to = |target: &str| from_host().ipv6(HOST6, target.parse::<Ipv6Addr>().unwrap());
    let us = || from_host().ipv6(HOST6, US6);
    vec![
        from_host().ipv6(HOST6, FAR6).udp(1, 2).build(),
        from_host().ipv6(HOST6, FAR6).hop_limit(1).udp(1, 2).build(),
        from_host().ipv6(HOST6, FAR6).hop_by_hop(&[5, 2, 0, 0]).udp(1, 2).build(),
        from_host().ipv6(LINK_HOST, FAR6).udp(1, 2).build(),
        from_host().ipv6(LINK_HOST, link_local(0)).icmp_echo(1, 2).build(),
        us().icmp_echo(1, 2).build(),
        us().destination_options(&[]).tcp(1, 2).build(),
        us().udp(1, 2).build(),
        us().neighbor_solicitation(US6.into(), HOST_MAC).build(),
        us().neighbor_advertisement(HOST6.into(), HOST_MAC, 0x60).build(),
        to("2001:db8:a:5::1").udp(1, 2).payload_len(1400).build(),
        to("2001:db8:1::77").udp(1, 2).build(),
        to("2001:db8:a:4::1").udp(1, 2).build(),
        to("ff02::1").icmp_echo(1, 2).build(),
        to("ff02::99").udp(1, 2).build(),
    ]
}

#[test]
fn a_warm_graph_allocates_nothing() {
    let mut rig = Rig::with_settings(8192, |_| ());
    for id in 0..4 {
        let rx = Box::new(MemorySource::new([kinds(), kinds6()].concat(), Repeat::Forever));
        let queues = PortQueues { rx: vec![rx], tx: vec![Box::new(MemorySink::new())] };
        rig.dataplane.attach_port(30 + id, id, queues).unwrap();
        rig.change_interface(id, |row| row.port = 30 + id);
    }
    rig.turn(200);
    let before = ALLOCATIONS.get();
    rig.turn(500);
    assert_eq!(ALLOCATIONS.get() - before, 0);
    assert!(rig.dataplane.interface_totals(1).tx_packets > 10_000);
}
