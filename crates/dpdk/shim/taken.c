/* What a thread takes out of a pool and gives back, as long as it is watched: a driver that fails to
 * open a port keeps what it took for it, and tells nobody.
 *
 * Pools of packets have the usual operations with a look in front: whether this thread is watched.
 * Threads take some hundred buffers at once and keep them in caches of their own, so that the look is
 * rare. */
#include "shim.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <rte_mbuf_pool_ops.h>
#include <rte_mempool.h>

/* Objects that were taken out of the pool and not given back since. */
struct taken {
	struct rte_mempool *pool;
	void **objects;
	unsigned int count;
	unsigned int room;
};

static __thread struct taken taken;
static struct rte_mempool_ops usual;
static int error;

static void note_taken(void *const *objects, unsigned int count)
{
	unsigned int room = taken.count + count;
	void **more = taken.objects;

	if (room > taken.room) {
		more = realloc(more, 2 * room * sizeof(*more));
		if (more == NULL) {
			/* What is not known is not given back. */
			free(taken.objects);
			memset(&taken, 0, sizeof(taken));
			return;
		}
		taken.objects = more;
		taken.room = 2 * room;
	}
	memcpy(taken.objects + taken.count, objects, count * sizeof(*objects));
	taken.count = room;
}

static void note_given(void *const *objects, unsigned int count)
{
	unsigned int given, place;

	for (given = 0; given < count; given++) {
		for (place = 0; place < taken.count; place++) {
			if (taken.objects[place] == objects[given]) {
				taken.objects[place] = taken.objects[--taken.count];
				break;
			}
		}
	}
}

static int dequeue(struct rte_mempool *pool, void **objects, unsigned int count)
{
	int code = usual.dequeue(pool, objects, count);

	if (unlikely(taken.pool == pool) && code == 0)
		note_taken(objects, count);
	return code;
}

static int enqueue(struct rte_mempool *pool, void *const *objects, unsigned int count)
{
	if (unlikely(taken.pool == pool))
		note_given(objects, count);
	return usual.enqueue(pool, objects, count);
}

/* Those of memory of a card's own, which nobody here makes a pool of. */
static int are_of_hardware(const char *name)
{
	static const char *const plain[] = {"ring_", "stack", "lf_stack", "bucket", "volley"};
	unsigned int index;

	for (index = 0; index < RTE_DIM(plain); index++)
		if (strncmp(name, plain[index], strlen(plain[index])) == 0)
			return 0;
	return strcmp(name, rte_mbuf_best_mempool_ops()) != 0;
}

/* rte_mempool_register_ops, also where the drivers that DPDK has loaded left no room for more: 24.11 has
 * some more than 22.11, and the table is as long as it was. */
int volley_register_ops(const struct rte_mempool_ops *ops)
{
	unsigned int index = rte_mempool_ops_table.num_ops;

	if (index < RTE_MEMPOOL_MAX_OPS_IDX)
		return rte_mempool_register_ops(ops);
	while (index-- > 0) {
		if (are_of_hardware(rte_mempool_ops_table.ops[index].name)) {
			rte_mempool_ops_table.ops[index] = *ops;
			return (int)index;
		}
	}
	return -ENOSPC;
}

static void register_ops(void)
{
	const char *name = rte_mbuf_best_mempool_ops();
	struct rte_mempool_ops ours;
	unsigned int index;

	error = -ENOENT;
	for (index = 0; index < rte_mempool_ops_table.num_ops; index++) {
		if (strcmp(rte_mempool_ops_table.ops[index].name, name) != 0)
			continue;
		usual = rte_mempool_ops_table.ops[index];
		ours = usual;
		strcpy(ours.name, "volley");
		ours.dequeue = dequeue;
		ours.enqueue = enqueue;
		error = volley_register_ops(&ours);
		return;
	}
}

/* Before the pool has its objects. */
int volley_pool_set_ops(struct rte_mempool *pool)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, register_ops);
	return error < 0 ? error : rte_mempool_set_ops_byname(pool, "volley", NULL);
}

/* From here on what this thread takes and gives back is noted. */
void volley_pool_watch(struct rte_mempool *pool)
{
	volley_pool_unwatch(NULL);
	rte_mempool_cache_flush(NULL, pool);
	taken.pool = pool;
}

/* Up to here. What `pool` lacks goes back into it, and is counted. */
unsigned int volley_pool_unwatch(struct rte_mempool *pool)
{
	struct taken lacks;

	if (pool != NULL)
		rte_mempool_cache_flush(NULL, pool);
	lacks = taken;
	memset(&taken, 0, sizeof(taken));
	if (pool == NULL || lacks.pool != pool)
		lacks.count = 0;
	if (lacks.count != 0)
		usual.enqueue(pool, lacks.objects, lacks.count);
	free(lacks.objects);
	return lacks.count;
}
