//! What is seen beside the trials: idle cores, the counters of the processor, the nodes of a
//! device, and what valgrind makes of them.

pub(crate) mod device_time;
pub mod memory;
pub mod modelled;
pub mod perf;
pub mod probe;
pub mod telemetry;
