/* DPDK's tables behind plain calls. Pointers are opaque to the caller; a null is a refusal. */

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <rte_eal.h>
#include <rte_fib.h>
#include <rte_fib6.h>
#include <rte_hash.h>
#include <rte_lpm.h>
#include <rte_malloc.h>
#include <rte_memory.h>

static int advise(const struct rte_memseg_list *list, void *advice)
{
	/* The kernel may have no huge pages to give: then these are ordinary ones. */
	(void)madvise(list->base_va, list->len, *(int *)advice);
	return 0;
}

int reference_start(unsigned int megabytes, int huge_pages)
{
	char memory[16];
	char *arguments[] = { "fib-bench", "--no-huge", "--no-shconf", "--no-pci", "--no-telemetry",
		"--iova-mode=va", "--log-level=lib.*:1",
		"--force-max-simd-bitwidth=512", "-l", "0", "-m", memory };
	int advice = huge_pages ? MADV_HUGEPAGE : MADV_NOHUGEPAGE;

	snprintf(memory, sizeof(memory), "%u", megabytes);
	if (rte_eal_init(sizeof(arguments) / sizeof(arguments[0]), arguments) < 0)
		return -1;
	return rte_memseg_list_walk(advise, &advice);
}

size_t reference_bytes(void)
{
	struct rte_malloc_socket_stats stats;
	size_t bytes = 0;

	for (int socket = 0; socket < RTE_MAX_NUMA_NODES; socket++)
		if (rte_malloc_get_socket_stats(socket, &stats) == 0)
			bytes += stats.heap_allocsz_bytes;
	return bytes;
}

void *reference_fib_new(unsigned int routes, unsigned int tables)
{
	struct rte_fib_conf conf = { .type = RTE_FIB_DIR24_8, .max_routes = (int)routes };

	conf.dir24_8.nh_sz = RTE_FIB_DIR24_8_4B;
	conf.dir24_8.num_tbl8 = tables;
	return rte_fib_create("fib", SOCKET_ID_ANY, &conf);
}

int reference_fib_kernel(void *fib, int vector)
{
	return rte_fib_select_lookup(fib, vector ? RTE_FIB_LOOKUP_DIR24_8_VECTOR_AVX512 :
		RTE_FIB_LOOKUP_DIR24_8_SCALAR_MACRO);
}

int reference_fib_add(void *fib, uint32_t address, uint8_t length, uint32_t to)
{
	return rte_fib_add(fib, address, length, to);
}

int reference_fib_delete(void *fib, uint32_t address, uint8_t length)
{
	return rte_fib_delete(fib, address, length);
}

void reference_fib_lookup(void *fib, uint32_t *addresses, uint64_t *to, unsigned int count)
{
	rte_fib_lookup_bulk(fib, addresses, to, (int)count);
}

void *reference_lpm_new(unsigned int routes, unsigned int tables)
{
	struct rte_lpm_config conf = { .max_rules = routes, .number_tbl8s = tables };

	return rte_lpm_create("lpm", SOCKET_ID_ANY, &conf);
}

int reference_lpm_add(void *lpm, uint32_t address, uint8_t length, uint32_t to)
{
	return rte_lpm_add(lpm, address, length, to);
}

int reference_lpm_delete(void *lpm, uint32_t address, uint8_t length)
{
	return rte_lpm_delete(lpm, address, length);
}

void reference_lpm_lookup(void *lpm, const uint32_t *addresses, uint32_t *to, unsigned int count)
{
	rte_lpm_lookup_bulk(lpm, addresses, to, count);
}

void *reference_fib6_new(unsigned int routes, unsigned int tables)
{
	struct rte_fib6_conf conf = { .type = RTE_FIB6_TRIE, .max_routes = (int)routes };

	conf.trie.nh_sz = RTE_FIB6_TRIE_4B;
	conf.trie.num_tbl8 = tables;
	return rte_fib6_create("fib6", SOCKET_ID_ANY, &conf);
}

int reference_fib6_kernel(void *fib, int vector)
{
	return rte_fib6_select_lookup(fib, vector ? RTE_FIB6_LOOKUP_TRIE_VECTOR_AVX512 :
		RTE_FIB6_LOOKUP_TRIE_SCALAR);
}

/* Addresses are 16 octets, in a type of their own since DPDK 24.11. */
int reference_fib6_add(void *fib, const uint8_t address[16], uint8_t length, uint32_t to)
{
	return rte_fib6_add(fib, (const void *)address, length, to);
}

int reference_fib6_delete(void *fib, const uint8_t address[16], uint8_t length)
{
	return rte_fib6_delete(fib, (const void *)address, length);
}

void reference_fib6_lookup(void *fib, uint8_t addresses[][16], uint64_t *to, unsigned int count)
{
	rte_fib6_lookup_bulk(fib, (void *)addresses, to, (int)count);
}

void *reference_hash_new(unsigned int entries)
{
	struct rte_hash_parameters parameters = { .name = "hash", .entries = entries,
		.key_len = sizeof(uint64_t), .socket_id = SOCKET_ID_ANY };

	return rte_hash_create(&parameters);
}

int reference_hash_add(void *hash, uint64_t key, uint32_t port)
{
	return rte_hash_add_key_data(hash, &key, (void *)(uintptr_t)port);
}

int reference_hash_delete(void *hash, uint64_t key)
{
	return rte_hash_del_key(hash, &key) < 0 ? -1 : 0;
}

void reference_hash_lookup(void *hash, const uint64_t *keys, uint64_t *ports, unsigned int count)
{
	const void *pointers[RTE_HASH_LOOKUP_BULK_MAX];
	uint64_t hits;

	for (unsigned int first = 0; first < count; first += RTE_HASH_LOOKUP_BULK_MAX) {
		unsigned int some = RTE_MIN(count - first, (unsigned int)RTE_HASH_LOOKUP_BULK_MAX);

		for (unsigned int i = 0; i < some; i++)
			pointers[i] = &keys[first + i];
		rte_hash_lookup_bulk_data(hash, pointers, some, &hits, (void **)&ports[first]);
	}
}
