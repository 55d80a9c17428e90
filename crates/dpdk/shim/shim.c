/* DPDK's inline functions as real ones, and its calls with large structs in a flat shape, so that
 * the Rust side depends on no struct layout but rte_mbuf's, which is asserted here. */
#define _GNU_SOURCE
#include "shim.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_log.h>
#include <rte_mbuf.h>
#include <rte_mbuf_pool_ops.h>
#include <rte_mempool.h>

/* packet::Mbuf, field by field. */
#define SAME_OFFSET(field, offset) \
	_Static_assert(offsetof(struct rte_mbuf, field) == (offset), "rte_mbuf." #field " moved")
SAME_OFFSET(buf_addr, 0);
SAME_OFFSET(buf_iova, 8);
SAME_OFFSET(data_off, 16);
SAME_OFFSET(refcnt, 18);
SAME_OFFSET(nb_segs, 20);
SAME_OFFSET(port, 22);
SAME_OFFSET(ol_flags, 24);
SAME_OFFSET(packet_type, 32);
SAME_OFFSET(pkt_len, 36);
SAME_OFFSET(data_len, 40);
SAME_OFFSET(vlan_tci, 42);
SAME_OFFSET(hash.rss, 44);
SAME_OFFSET(vlan_tci_outer, 52);
SAME_OFFSET(buf_len, 54);
SAME_OFFSET(pool, 56);
SAME_OFFSET(next, 64);
SAME_OFFSET(tx_offload, 72);
SAME_OFFSET(shinfo, 80);
SAME_OFFSET(priv_size, 88);
SAME_OFFSET(timesync, 90);
SAME_OFFSET(dynfield1, 92);
_Static_assert(sizeof(struct rte_mbuf) == 128, "rte_mbuf is two cache lines");
_Static_assert(RTE_PKTMBUF_HEADROOM == 128, "packet::HEADROOM_BYTES");

/* Declared by hand in src/ffi.rs. */
_Static_assert(sizeof(struct rte_ether_addr) == 6, "a MAC address is six bytes");
_Static_assert(sizeof(struct rte_eth_xstat) == 16, "an xstat is an id and a value");
_Static_assert(sizeof(struct rte_eth_xstat_name) == 64, "an xstat name is 64 bytes");

int volley_errno(void)
{
	return rte_errno;
}

void volley_constants(struct volley_constants *out)
{
	out->rss_ip = RTE_ETH_RSS_IP;
	out->rss_l4 = RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_SCTP;
	out->rx_timestamp = RTE_ETH_RX_OFFLOAD_TIMESTAMP;
	out->rx_large = RTE_ETH_RX_OFFLOAD_TCP_LRO | RTE_ETH_RX_OFFLOAD_TCP_CKSUM |
			RTE_ETH_RX_OFFLOAD_UDP_CKSUM;
	out->tx_large = RTE_ETH_TX_OFFLOAD_TCP_TSO | RTE_ETH_TX_OFFLOAD_TCP_CKSUM |
			RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	out->rx_scatter = RTE_ETH_RX_OFFLOAD_SCATTER;
	out->max_ports = RTE_MAX_ETHPORTS;
	out->name_bytes = RTE_ETH_NAME_MAX_LEN;
}

static ssize_t log_write(void *sink, const char *text, size_t length)
{
	((volley_log_sink)sink)((uint32_t)rte_log_cur_msg_loglevel(), text, length);
	return (ssize_t)length;
}

/* DPDK prints to a FILE: give it one that ends in the sink, a line at a time. */
int volley_log_route(volley_log_sink sink)
{
	cookie_io_functions_t calls = {.write = log_write};
	FILE *stream = fopencookie((void *)sink, "w", calls);

	if (stream == NULL)
		return -1;
	setvbuf(stream, NULL, _IOLBF, 0);
	return rte_openlog_stream(stream);
}

/* Linked in (static), or else loaded by DPDK with its drivers. */
extern void *libbpf_set_print(void *print) __attribute__((weak));
extern void *libxdp_set_print(void *print) __attribute__((weak));

static void hush(void *(*linked)(void *), const char *library, const char *name)
{
	void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);

	if (linked == NULL && handle != NULL)
		linked = (void *(*)(void *))dlsym(handle, name);
	if (linked != NULL)
		linked(NULL);
}

/* Libraries of drivers that write to standard error by themselves. */
void volley_hush_libraries(void)
{
	hush(libbpf_set_print, "libbpf.so.1", "libbpf_set_print");
	hush(libxdp_set_print, "libxdp.so.1", "libxdp_set_print");
}

static int foreign_alloc(struct rte_mempool *pool)
{
	(void)pool;
	return 0;
}

static int foreign_enqueue(struct rte_mempool *pool, void *const *objects, unsigned int count)
{
	(void)pool, (void)objects, (void)count;
	return 0;
}

static int foreign_dequeue(struct rte_mempool *pool, void **objects, unsigned int count)
{
	(void)pool, (void)objects, (void)count;
	return -ENOBUFS;
}

static unsigned int foreign_count(const struct rte_mempool *pool)
{
	(void)pool;
	return 0;
}

/* Makes a pool that forgets what is put into it: what buffers that are not DPDK's name as theirs. */
int volley_adopt_foreign_pool(void *place, size_t bytes)
{
	static const struct rte_mempool_ops ops = {
		.name = "volley_foreign",
		.alloc = foreign_alloc,
		.enqueue = foreign_enqueue,
		.dequeue = foreign_dequeue,
		.get_count = foreign_count,
	};
	struct rte_mempool *pool = place;
	int index = volley_register_ops(&ops);

	if (index < 0)
		return index;
	if (bytes < sizeof(*pool))
		return -EINVAL;
	snprintf(pool->name, sizeof(pool->name), "foreign");
	STAILQ_INIT(&pool->elt_list);
	STAILQ_INIT(&pool->mem_list);
	pool->ops_index = index;
	return 0;
}

static void release_zone(struct rte_mempool_memhdr *chunk, void *zone)
{
	(void)chunk;
	rte_memzone_free(zone);
}

/* Asks for all pages of a pool at once, where each will have a header written to it: one by one, as
 * that is done, they take longer. A kernel before 5.14 refuses, and gives them one by one. */
static void ask_for_pages(const struct rte_mempool *pool, const struct rte_memzone *zone)
{
#ifdef MADV_POPULATE_WRITE
	uintptr_t page = getpagesize();
	uintptr_t from = (uintptr_t)zone->addr & ~(page - 1);

	if (pool->header_size + pool->elt_size + pool->trailer_size <= page)
		madvise((void *)from, (uintptr_t)zone->addr + zone->len - from, MADV_POPULATE_WRITE);
#endif
}

/* One stretch of memory for all objects. Not rte_mempool_populate_default: of a pool whose objects may
 * cross pages that one tells devices no address at all, and what a card then writes goes astray. */
static int populate_in_one(struct rte_mempool *pool)
{
	char name[RTE_MEMZONE_NAMESIZE];
	size_t least, align;
	ssize_t bytes = rte_mempool_op_calc_mem_size_default(pool, pool->size, 0, &least, &align);
	const struct rte_memzone *zone;
	int count;

	if (bytes < 0)
		return bytes;
	snprintf(name, sizeof(name), "%s zone", pool->name);
	zone = rte_memzone_reserve_aligned(name, bytes, SOCKET_ID_ANY, RTE_MEMZONE_IOVA_CONTIG, align);
	if (zone == NULL)
		return -rte_errno;
	ask_for_pages(pool, zone);
	count = rte_mempool_populate_iova(pool, zone->addr, zone->iova, zone->len, release_zone,
					  (void *)(uintptr_t)zone);
	if (count < 0)
		rte_memzone_free(zone);
	return count;
}

/* rte_pktmbuf_pool_create, but with the buffers side by side where devices see virtual addresses.
 * Otherwise, on 4 KiB pages, each buffer gets a page of its own: all headers then fall into the same
 * few sets of the L1 cache, and the af_xdp driver, which counts on buffers side by side, hands the
 * kernel only the first part of the pool's memory. */
struct rte_mempool *volley_pool_create(const char *name, unsigned int count, unsigned int cache,
				       uint16_t private_bytes, uint16_t room_bytes)
{
	int side_by_side = rte_eal_iova_mode() == RTE_IOVA_VA;
	unsigned int flags = side_by_side ? RTE_MEMPOOL_F_NO_IOVA_CONTIG : 0;
	struct rte_pktmbuf_pool_private facts = {
		.mbuf_data_room_size = room_bytes,
		.mbuf_priv_size = private_bytes,
	};
	struct rte_mempool *pool =
		rte_mempool_create_empty(name, count, sizeof(struct rte_mbuf) + private_bytes + room_bytes,
					 cache, sizeof(facts), SOCKET_ID_ANY, flags);
	int error;

	if (pool == NULL)
		return NULL;
	error = volley_pool_set_ops(pool);
	if (error == 0) {
		rte_pktmbuf_pool_init(pool, &facts);
		error = side_by_side ? populate_in_one(pool) : rte_mempool_populate_default(pool);
	}
	if (error < 0) {
		rte_mempool_free(pool);
		rte_errno = -error;
		return NULL;
	}
	rte_mempool_obj_iter(pool, rte_pktmbuf_init, NULL);
	return pool;
}

int volley_pool_alloc(struct rte_mempool *pool, struct rte_mbuf **out, unsigned int count)
{
	return rte_pktmbuf_alloc_bulk(pool, out, count);
}

void volley_pool_facts(struct rte_mempool *pool, uint32_t *total, uint64_t *memory_bytes)
{
	struct rte_mempool_memhdr *chunk;

	*total = pool->size;
	*memory_bytes = 0;
	STAILQ_FOREACH(chunk, &pool->mem_list, next)
		*memory_bytes += chunk->len;
}

/* As the af_xdp driver computes the memory it hands to the kernel, and the mbuf in it. */
uintptr_t volley_pool_xdp_origin(struct rte_mempool *pool)
{
	uintptr_t chunk = (uintptr_t)STAILQ_FIRST(&pool->mem_list)->addr;

	return (chunk & ~((uintptr_t)getpagesize() - 1)) + pool->header_size;
}

/* Is that one of the pool's buffers? Looks at no memory outside the pool. */
int volley_pool_has(struct rte_mempool *pool, const void *mbuf)
{
	struct rte_mempool_memhdr *chunk;

	STAILQ_FOREACH(chunk, &pool->mem_list, next) {
		const char *start = chunk->addr;

		if ((const char *)mbuf < start + sizeof(struct rte_mempool_objhdr) ||
		    (const char *)mbuf + sizeof(struct rte_mbuf) > start + chunk->len)
			continue;
		return ((const struct rte_mbuf *)mbuf)->pool == pool &&
		       rte_mempool_from_obj((void *)(uintptr_t)mbuf) == pool;
	}
	return 0;
}

uint16_t volley_rx_burst(uint16_t port, uint16_t queue, struct rte_mbuf **out, uint16_t count)
{
	return rte_eth_rx_burst(port, queue, out, count);
}

static int lacks_checksum(const struct rte_mbuf *packet)
{
	return (packet->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK) == RTE_MBUF_F_RX_L4_CKSUM_NONE;
}

/* The same, and whether one of them is a chain, is large or lacks its checksum. */
uint16_t volley_rx_burst_seen(uint16_t port, uint16_t queue, struct rte_mbuf **out, uint16_t count,
			      uint64_t *unusual)
{
	uint16_t received = rte_eth_rx_burst(port, queue, out, count);
	uint16_t number;

	*unusual = 0;
	for (number = 0; number < received; number++)
		*unusual |= (out[number]->ol_flags & RTE_MBUF_F_RX_LRO) |
			    (uint64_t)(out[number]->nb_segs ^ 1) |
			    (uint64_t)lacks_checksum(out[number]);
	return received;
}

void volley_packet_told(const struct rte_mbuf *packet, struct volley_told *out)
{
	out->bytes = packet->pkt_len;
	out->piece_bytes = packet->ol_flags & RTE_MBUF_F_RX_LRO ? packet->tso_segsz : 0;
	out->is_chain = packet->nb_segs != 1;
	out->lacks_checksum = lacks_checksum(packet);
}

/* Copies a chain's bytes; says how many. */
size_t volley_packet_read(const struct rte_mbuf *packet, void *into, size_t most)
{
	size_t copied = 0;

	for (; packet != NULL; packet = packet->next) {
		size_t bytes = RTE_MIN((size_t)packet->data_len, most - copied);

		memcpy((char *)into + copied, rte_pktmbuf_mtod(packet, const void *), bytes);
		copied += bytes;
	}
	return copied;
}

void volley_packet_cut(struct rte_mbuf *packet, const struct volley_cut *how)
{
	packet->tx_offload = 0;
	packet->l2_len = how->link_bytes;
	packet->l3_len = how->network_bytes;
	packet->l4_len = how->transport_bytes;
	packet->tso_segsz = how->piece_bytes;
	packet->ol_flags |= RTE_MBUF_F_TX_TCP_SEG | RTE_MBUF_F_TX_TCP_CKSUM |
			    (how->is_ip6 ? RTE_MBUF_F_TX_IPV6 : RTE_MBUF_F_TX_IPV4);
}

uint16_t volley_tx_burst(uint16_t port, uint16_t queue, struct rte_mbuf **packets, uint16_t count)
{
	return rte_eth_tx_burst(port, queue, packets, count);
}

int volley_port_facts(uint16_t port, struct volley_port_facts *out)
{
	struct rte_eth_dev_info info;
	int error = rte_eth_dev_info_get(port, &info);

	if (error != 0)
		return error;
	memset(out, 0, sizeof(*out));
	if (info.driver_name != NULL)
		snprintf(out->driver, sizeof(out->driver), "%s", info.driver_name);
	out->if_index = info.if_index;
	out->min_mtu = info.min_mtu;
	out->max_mtu = info.max_mtu;
	out->max_rx_queues = info.max_rx_queues;
	out->max_tx_queues = info.max_tx_queues;
	out->min_rx_descriptors = info.rx_desc_lim.nb_min;
	out->max_rx_descriptors = info.rx_desc_lim.nb_max;
	out->rx_descriptors_multiple = info.rx_desc_lim.nb_align;
	out->min_tx_descriptors = info.tx_desc_lim.nb_min;
	out->max_tx_descriptors = info.tx_desc_lim.nb_max;
	out->tx_descriptors_multiple = info.tx_desc_lim.nb_align;
	out->preferred_rx_descriptors = info.default_rxportconf.ring_size;
	out->preferred_tx_descriptors = info.default_txportconf.ring_size;
	out->max_rx_frame_bytes = info.max_rx_pktlen;
	out->rss_functions = info.flow_type_rss_offloads;
	out->rx_offloads = info.rx_offload_capa;
	out->tx_offloads = info.tx_offload_capa;
	out->socket = rte_eth_dev_socket_id(port);
	return 0;
}

int volley_port_configure(uint16_t port, const struct volley_port_config *config)
{
	struct rte_eth_conf conf;

	memset(&conf, 0, sizeof(conf));
	conf.rxmode.mtu = config->mtu;
	conf.rxmode.offloads = config->rx_offloads;
	conf.txmode.offloads = config->tx_offloads;
	if (config->rss_functions != 0) {
		conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
		conf.rx_adv_conf.rss_conf.rss_hf = config->rss_functions;
	}
	return rte_eth_dev_configure(port, config->rx_queues, config->tx_queues, &conf);
}

/* Whether the driver, which has started, cuts frames into several buffers; -1: it does not say. */
int volley_port_scatters(uint16_t port)
{
	struct rte_eth_rxq_info info;

	return rte_eth_rx_queue_info_get(port, 0, &info) == 0 ? info.scattered_rx : -1;
}

int volley_port_link(uint16_t port, struct volley_link *out)
{
	struct rte_eth_link link;
	int error = rte_eth_link_get_nowait(port, &link);

	if (error != 0)
		return error;
	out->speed_mbps = link.link_speed;
	out->up = link.link_status == RTE_ETH_LINK_UP;
	out->full_duplex = link.link_duplex == RTE_ETH_LINK_FULL_DUPLEX;
	return 0;
}

static int link_changed(uint16_t port, enum rte_eth_event_type event, void *watch, void *unused)
{
	const struct volley_link_watch *it = watch;
	struct rte_eth_link link;

	(void)event, (void)unused;
	if (rte_eth_link_get_nowait(port, &link) == 0)
		it->heard(it->argument, link.link_status == RTE_ETH_LINK_UP);
	return 0;
}

int volley_watch_link(uint16_t port, struct volley_link_watch *watch)
{
	return rte_eth_dev_callback_register(port, RTE_ETH_EVENT_INTR_LSC, link_changed, watch);
}

int volley_unwatch_link(uint16_t port, struct volley_link_watch *watch)
{
	return rte_eth_dev_callback_unregister(port, RTE_ETH_EVENT_INTR_LSC, link_changed, watch);
}

int volley_port_stats(uint16_t port, struct volley_port_stats *out)
{
	struct rte_eth_stats stats;
	int error = rte_eth_stats_get(port, &stats);

	if (error != 0)
		return error;
	out->rx_packets = stats.ipackets;
	out->rx_bytes = stats.ibytes;
	out->rx_missed = stats.imissed;
	out->rx_errors = stats.ierrors;
	out->rx_no_buffers = stats.rx_nombuf;
	out->tx_packets = stats.opackets;
	out->tx_bytes = stats.obytes;
	out->tx_errors = stats.oerrors;
	return 0;
}
