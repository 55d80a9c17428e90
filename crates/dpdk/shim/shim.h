/* What Rust calls: see src/ffi.rs, which says the same in Rust. */
#ifndef VOLLEY_DPDK_SHIM_H
#define VOLLEY_DPDK_SHIM_H

#include <stddef.h>
#include <stdint.h>

struct rte_mbuf;
struct rte_mempool;
struct rte_mempool_ops;

/* What a driver says of its port, of what we care for. */
struct volley_port_facts {
	char driver[64];
	uint32_t if_index;
	uint16_t min_mtu;
	uint16_t max_mtu;
	uint16_t max_rx_queues;
	uint16_t max_tx_queues;
	uint16_t min_rx_descriptors;
	uint16_t max_rx_descriptors;
	uint16_t rx_descriptors_multiple;
	uint16_t min_tx_descriptors;
	uint16_t max_tx_descriptors;
	uint16_t tx_descriptors_multiple;
	uint16_t preferred_rx_descriptors;
	uint16_t preferred_tx_descriptors;
	uint32_t max_rx_frame_bytes;
	uint64_t rss_functions;
	uint64_t rx_offloads;
	uint64_t tx_offloads;
	int32_t socket;
};

struct volley_port_config {
	uint16_t rx_queues;
	uint16_t tx_queues;
	uint32_t mtu; /* 0: as it is */
	uint64_t rss_functions; /* 0: no RSS */
	uint64_t rx_offloads;
	uint64_t tx_offloads;
};

struct volley_link {
	uint32_t speed_mbps;
	uint8_t up;
	uint8_t full_duplex;
};

struct volley_port_stats {
	uint64_t rx_packets;
	uint64_t rx_bytes;
	uint64_t rx_missed;
	uint64_t rx_errors;
	uint64_t rx_no_buffers;
	uint64_t tx_packets;
	uint64_t tx_bytes;
	uint64_t tx_errors;
};

struct volley_constants {
	uint64_t rss_ip;
	uint64_t rss_l4;
	uint64_t rx_timestamp;
	uint64_t rx_large;
	uint64_t tx_large;
	uint64_t rx_scatter;
	uint32_t max_ports;
	uint32_t name_bytes;
};

/* What a driver says of a packet beside its bytes. */
struct volley_told {
	uint32_t bytes;
	uint16_t piece_bytes; /* 0: it is not large */
	uint8_t is_chain;
	uint8_t lacks_checksum;
};

/* How a driver is to cut a packet, or have it cut. */
struct volley_cut {
	uint16_t link_bytes;
	uint16_t network_bytes;
	uint16_t transport_bytes;
	uint16_t piece_bytes;
	uint8_t is_ip6;
};

/* Who hears of a port's link, in a thread of the driver's. */
struct volley_link_watch {
	void (*heard)(void *argument, uint8_t is_up);
	void *argument;
};

typedef void (*volley_log_sink)(uint32_t level, const char *text, size_t length);

int volley_errno(void);
void volley_constants(struct volley_constants *out);
int volley_log_route(volley_log_sink sink);
void volley_hush_libraries(void);
int volley_adopt_foreign_pool(void *place, size_t bytes);

struct rte_mempool *volley_pool_create(const char *name, unsigned int count, unsigned int cache,
				       uint16_t private_bytes, uint16_t room_bytes);
int volley_pool_alloc(struct rte_mempool *pool, struct rte_mbuf **out, unsigned int count);
uintptr_t volley_pool_xdp_origin(struct rte_mempool *pool);
int volley_pool_has(struct rte_mempool *pool, const void *mbuf);
int volley_pool_set_ops(struct rte_mempool *pool);
int volley_register_ops(const struct rte_mempool_ops *ops);
void volley_pool_watch(struct rte_mempool *pool);
unsigned int volley_pool_unwatch(struct rte_mempool *pool);
void volley_pool_facts(struct rte_mempool *pool, uint32_t *total, uint64_t *memory_bytes);

uint16_t volley_rx_burst(uint16_t port, uint16_t queue, struct rte_mbuf **out, uint16_t count);
uint16_t volley_rx_burst_seen(uint16_t port, uint16_t queue, struct rte_mbuf **out, uint16_t count,
			      uint64_t *unusual);
void volley_packet_told(const struct rte_mbuf *packet, struct volley_told *out);
size_t volley_packet_read(const struct rte_mbuf *packet, void *into, size_t most);
void volley_packet_cut(struct rte_mbuf *packet, const struct volley_cut *how);
uint16_t volley_tx_burst(uint16_t port, uint16_t queue, struct rte_mbuf **packets, uint16_t count);

int volley_port_facts(uint16_t port, struct volley_port_facts *out);
int volley_port_configure(uint16_t port, const struct volley_port_config *config);
int volley_port_scatters(uint16_t port);
int volley_port_link(uint16_t port, struct volley_link *out);
int volley_watch_link(uint16_t port, struct volley_link_watch *watch);
int volley_unwatch_link(uint16_t port, struct volley_link_watch *watch);
int volley_port_stats(uint16_t port, struct volley_port_stats *out);

#endif
