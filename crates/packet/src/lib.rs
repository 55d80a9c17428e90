//! The packet buffer: its memory layout, pools, queues, and the safe view that nodes work through.
