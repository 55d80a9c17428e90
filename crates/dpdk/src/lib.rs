//! DPDK behind a small C shim: the environment, ports, queues, memory pools.
