/*
 * DPDK's scheduler under the same load as ours: a link, one subport, a pipe for each class, all in the best-effort
 * traffic class; a token bucket a pipe, round robin among them. It looks at the clock by itself, so the link is made
 * too fast to be waited for, and a pipe's bucket as fast as the link: there is no borrowing.
 */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_mbuf.h>
#include <rte_sched.h>

#define BURST 32
#define LENGTH_BYTES 700
#define LINK_BYTES_PER_SECOND 100000000000ull
#define ARRIVALS 65536

static struct rte_mempool *pool;

int reference_start(void)
{
	char *arguments[] = { "sched-bench", "--no-huge", "--no-shconf", "--no-pci", "--no-telemetry",
		"--iova-mode=va", "--log-level=lib.*:1", "-l", "0", "-m", "2048" };

	if (rte_eal_init(sizeof(arguments) / sizeof(arguments[0]), arguments) < 0)
		return -1;
	pool = rte_pktmbuf_pool_create("packets", 131071, 256, 0, RTE_PKTMBUF_HEADROOM + 64, 0);
	return pool ? 0 : -1;
}

struct reference {
	struct rte_sched_port *port;
	uint32_t classes;
	uint32_t next;
	uint32_t arrivals[ARRIVALS];
	struct rte_mbuf *out[BURST];
};

static void offer(struct reference *reference, struct rte_mbuf **packets, uint32_t count)
{
	for (uint32_t at = 0; at < count; at++) {
		uint32_t pipe = reference->arrivals[reference->next++ % ARRIVALS];

		rte_sched_port_pkt_write(reference->port, packets[at], 0, pipe, RTE_SCHED_TRAFFIC_CLASS_BE, 0,
			RTE_COLOR_GREEN);
	}
	rte_sched_port_enqueue(reference->port, packets, count);
}

struct reference *reference_new(uint32_t classes, uint16_t queue_packets)
{
	struct rte_sched_pipe_params pipe = { .tb_rate = LINK_BYTES_PER_SECOND, .tb_size = 1000000,
		.tc_period = 10, .tc_ov_weight = 1, .wrr_weights = { 1, 1, 1, 1 } };
	struct rte_sched_subport_profile_params profile = { .tb_rate = LINK_BYTES_PER_SECOND,
		.tb_size = 1000000, .tc_period = 10 };
	uint32_t pipes = rte_align32pow2(classes);
	struct rte_sched_subport_params subport = { .n_pipes_per_subport_enabled = pipes,
		.pipe_profiles = &pipe, .n_pipe_profiles = 1, .n_max_pipe_profiles = 1 };
	struct rte_sched_port_params port = { .name = "bench", .rate = LINK_BYTES_PER_SECOND, .mtu = 1522,
		.frame_overhead = 0, .n_subports_per_port = 1, .subport_profiles = &profile,
		.n_subport_profiles = 1, .n_max_subport_profiles = 1, .n_pipes_per_subport = pipes };
	struct reference *reference = calloc(1, sizeof(*reference));
	uint32_t fill = 2 * classes < 1000 ? 1000 : 2 * classes;
	uint64_t seed = 1;

	for (int class = 0; class < RTE_SCHED_TRAFFIC_CLASSES_PER_PIPE; class++) {
		/* The strict-priority classes are not there. */
		pipe.tc_rate[class] = class == RTE_SCHED_TRAFFIC_CLASS_BE ? LINK_BYTES_PER_SECOND : 0;
		profile.tc_rate[class] = LINK_BYTES_PER_SECOND;
		subport.qsize[class] = class == RTE_SCHED_TRAFFIC_CLASS_BE ? queue_packets : 0;
	}
	if (!reference)
		return NULL;
	reference->classes = classes;
	for (uint32_t at = 0; at < ARRIVALS; at++) {
		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		reference->arrivals[at] = (seed >> 33) % classes;
	}
	reference->port = rte_sched_port_config(&port);
	if (!reference->port || rte_sched_subport_config(reference->port, 0, &subport, 0) != 0)
		return NULL;
	for (uint32_t at = 0; at < pipes; at++)
		if (rte_sched_pipe_config(reference->port, 0, at, 0) != 0)
			return NULL;
	for (uint32_t at = 0; at < fill; at++) {
		struct rte_mbuf *packet = rte_pktmbuf_alloc(pool);

		if (!packet)
			return NULL;
		packet->pkt_len = packet->data_len = LENGTH_BYTES;
		offer(reference, &packet, 1);
	}
	return reference;
}

/* Takes so many packets through; returns cycles of the time-stamp counter. */
uint64_t reference_run(struct reference *reference, uint32_t packets)
{
	uint32_t sent = 0;
	uint64_t start = rte_rdtsc();

	while (sent < packets) {
		int count = rte_sched_port_dequeue(reference->port, reference->out, BURST);

		if (count > 0)
			offer(reference, reference->out, count);
		sent += count;
	}
	return rte_rdtsc() - start;
}
