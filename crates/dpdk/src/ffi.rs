//! The calls into DPDK and the shim, declared by hand. `shim/shim.h` says the same in C; DPDK's own
//! functions here take numbers, strings and opaque pointers only.

use core::ffi::{c_char, c_int, c_uint, c_void};
use packet::Mbuf;

/// `struct rte_mempool`, never looked into from here.
#[repr(C)]
pub(crate) struct Mempool(c_void);

#[repr(C)]
#[derive(Clone, Debug)]
pub(crate) struct PortFacts {
    pub(crate) driver: [c_char; 64],
    pub(crate) if_index: u32,
    pub(crate) min_mtu: u16,
    pub(crate) max_mtu: u16,
    pub(crate) max_rx_queues: u16,
    pub(crate) max_tx_queues: u16,
    pub(crate) min_rx_descriptors: u16,
    pub(crate) max_rx_descriptors: u16,
    pub(crate) rx_descriptors_multiple: u16,
    pub(crate) min_tx_descriptors: u16,
    pub(crate) max_tx_descriptors: u16,
    pub(crate) tx_descriptors_multiple: u16,
    pub(crate) preferred_rx_descriptors: u16,
    pub(crate) preferred_tx_descriptors: u16,
    pub(crate) max_rx_frame_bytes: u32,
    pub(crate) rss_functions: u64,
    pub(crate) rx_offloads: u64,
    pub(crate) tx_offloads: u64,
    pub(crate) socket: i32,
}

#[repr(C)]
#[derive(Default)]
pub(crate) struct PortConfig {
    pub(crate) rx_queues: u16,
    pub(crate) tx_queues: u16,
    pub(crate) mtu: u32,
    pub(crate) rss_functions: u64,
    pub(crate) rx_offloads: u64,
    pub(crate) tx_offloads: u64,
}

#[repr(C)]
#[derive(Default)]
pub(crate) struct Link {
    pub(crate) speed_mbps: u32,
    pub(crate) up: u8,
    pub(crate) full_duplex: u8,
}

#[repr(C)]
#[derive(Default)]
pub(crate) struct Stats {
    pub(crate) rx_packets: u64,
    pub(crate) rx_bytes: u64,
    pub(crate) rx_missed: u64,
    pub(crate) rx_errors: u64,
    pub(crate) rx_no_buffers: u64,
    pub(crate) tx_packets: u64,
    pub(crate) tx_bytes: u64,
    pub(crate) tx_errors: u64,
}

#[repr(C)]
#[derive(Default)]
pub(crate) struct Constants {
    pub(crate) rss_ip: u64,
    pub(crate) rss_l4: u64,
    pub(crate) rx_timestamp: u64,
    pub(crate) rx_large: u64,
    pub(crate) tx_large: u64,
    pub(crate) rx_scatter: u64,
    pub(crate) max_ports: u32,
    pub(crate) name_bytes: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct Told {
    pub(crate) bytes: u32,
    pub(crate) piece_bytes: u16,
    pub(crate) is_chain: u8,
    pub(crate) lacks_checksum: u8,
}

#[repr(C)]
pub(crate) struct Cut {
    pub(crate) link_bytes: u16,
    pub(crate) network_bytes: u16,
    pub(crate) transport_bytes: u16,
    pub(crate) piece_bytes: u16,
    pub(crate) is_ip6: u8,
}

#[repr(C)]
pub(crate) struct LinkWatch {
    pub(crate) heard: extern "C" fn(argument: *mut c_void, is_up: u8),
    pub(crate) argument: *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Xstat {
    pub(crate) id: u64,
    pub(crate) value: u64,
}

pub(crate) type XstatName = [c_char; 64];
pub(crate) type LogSink = extern "C" fn(level: u32, text: *const c_char, length: usize);

// The shim.
unsafe extern "C" {
    pub(crate) safe fn volley_errno() -> c_int;
    pub(crate) fn volley_constants(out: *mut Constants);
    pub(crate) safe fn volley_log_route(sink: LogSink) -> c_int;
    pub(crate) safe fn volley_hush_libraries();
    pub(crate) fn volley_adopt_foreign_pool(place: *mut core::ffi::c_void, bytes: usize) -> i32;
    pub(crate) fn volley_pool_create(
        name: *const c_char,
        count: c_uint,
        cache: c_uint,
        private_bytes: u16,
        room_bytes: u16,
    ) -> *mut Mempool;
    pub(crate) fn volley_pool_alloc(
        pool: *mut Mempool,
        out: *mut *mut Mbuf,
        count: c_uint,
    ) -> c_int;
    pub(crate) fn volley_pool_xdp_origin(pool: *mut Mempool) -> usize;
    pub(crate) fn volley_pool_has(pool: *mut Mempool, mbuf: *const Mbuf) -> c_int;
    pub(crate) fn volley_pool_facts(pool: *mut Mempool, total: *mut u32, memory_bytes: *mut u64);
    pub(crate) fn volley_pool_watch(pool: *mut Mempool);
    pub(crate) fn volley_pool_unwatch(pool: *mut Mempool) -> c_uint;
    pub(crate) fn volley_rx_burst(port: u16, queue: u16, out: *mut *mut Mbuf, count: u16) -> u16;
    pub(crate) fn volley_rx_burst_seen(
        port: u16,
        queue: u16,
        out: *mut *mut Mbuf,
        count: u16,
        unusual: *mut u64,
    ) -> u16;
    pub(crate) fn volley_packet_told(packet: *const Mbuf, out: *mut Told);
    pub(crate) fn volley_packet_read(packet: *const Mbuf, into: *mut c_void, most: usize) -> usize;
    pub(crate) fn volley_packet_cut(packet: *mut Mbuf, how: *const Cut);
    pub(crate) fn volley_tx_burst(
        port: u16,
        queue: u16,
        packets: *mut *mut Mbuf,
        count: u16,
    ) -> u16;
    pub(crate) fn volley_port_facts(port: u16, out: *mut PortFacts) -> c_int;
    pub(crate) fn volley_port_configure(port: u16, config: *const PortConfig) -> c_int;
    pub(crate) fn volley_port_scatters(port: u16) -> c_int;
    pub(crate) fn volley_port_link(port: u16, out: *mut Link) -> c_int;
    pub(crate) fn volley_watch_link(port: u16, watch: *mut LinkWatch) -> c_int;
    pub(crate) fn volley_unwatch_link(port: u16, watch: *mut LinkWatch) -> c_int;
    pub(crate) fn volley_port_stats(port: u16, out: *mut Stats) -> c_int;
}

// DPDK.
unsafe extern "C" {
    pub(crate) fn rte_eal_init(argc: c_int, argv: *mut *mut c_char) -> c_int;
    pub(crate) fn rte_version() -> *const c_char;
    pub(crate) fn rte_strerror(error: c_int) -> *const c_char;
    pub(crate) fn rte_eal_iova_mode() -> c_uint;
    pub(crate) fn rte_thread_register() -> c_int;
    pub(crate) fn rte_thread_unregister();

    pub(crate) fn rte_mempool_free(pool: *mut Mempool);
    pub(crate) fn rte_mempool_avail_count(pool: *const Mempool) -> c_uint;
    pub(crate) fn rte_pktmbuf_free_bulk(packets: *mut *mut Mbuf, count: c_uint);

    pub(crate) fn rte_eal_hotplug_add(
        bus: *const c_char,
        name: *const c_char,
        arguments: *const c_char,
    ) -> c_int;
    pub(crate) fn rte_eal_hotplug_remove(bus: *const c_char, name: *const c_char) -> c_int;

    pub(crate) fn rte_eth_dev_get_port_by_name(name: *const c_char, port: *mut u16) -> c_int;
    pub(crate) fn rte_eth_rx_queue_setup(
        port: u16,
        queue: u16,
        descriptors: u16,
        socket: c_uint,
        config: *const c_void,
        pool: *mut Mempool,
    ) -> c_int;
    pub(crate) fn rte_eth_tx_queue_setup(
        port: u16,
        queue: u16,
        descriptors: u16,
        socket: c_uint,
        config: *const c_void,
    ) -> c_int;
    pub(crate) fn rte_mbuf_dyn_rx_timestamp_register(offset: *mut c_int, flag: *mut u64) -> c_int;
    pub(crate) fn rte_eth_read_clock(port: u16, ticks: *mut u64) -> c_int;
    pub(crate) fn rte_eth_timesync_enable(port: u16) -> c_int;
    pub(crate) fn rte_eth_timesync_read_time(port: u16, time: *mut libc::timespec) -> c_int;
    pub(crate) fn rte_eth_dev_rx_intr_enable(port: u16, queue: u16) -> c_int;
    pub(crate) fn rte_eth_dev_rx_intr_disable(port: u16, queue: u16) -> c_int;
    pub(crate) fn rte_eth_dev_start(port: u16) -> c_int;
    pub(crate) fn rte_eth_dev_stop(port: u16) -> c_int;
    pub(crate) fn rte_eth_dev_close(port: u16) -> c_int;
    pub(crate) fn rte_eth_macaddr_get(port: u16, address: *mut [u8; 6]) -> c_int;
    pub(crate) fn rte_eth_dev_default_mac_addr_set(port: u16, address: *mut [u8; 6]) -> c_int;
    pub(crate) fn rte_eth_dev_get_mtu(port: u16, mtu: *mut u16) -> c_int;
    pub(crate) fn rte_eth_dev_set_mtu(port: u16, mtu: u16) -> c_int;
    pub(crate) fn rte_eth_promiscuous_enable(port: u16) -> c_int;
    pub(crate) fn rte_eth_promiscuous_disable(port: u16) -> c_int;
    pub(crate) fn rte_eth_allmulticast_enable(port: u16) -> c_int;
    pub(crate) fn rte_eth_allmulticast_disable(port: u16) -> c_int;
    pub(crate) fn rte_eth_xstats_get_names(port: u16, names: *mut XstatName, size: c_uint)
    -> c_int;
    pub(crate) fn rte_eth_xstats_get(port: u16, values: *mut Xstat, size: c_uint) -> c_int;
}
