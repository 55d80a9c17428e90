//! Traffic on real ports: a generator that tells the truth and a receiver that looks at everything.
//!
//! ```text
//! stream ─▶ template ─▶ sender ─paced─▶ end ══ device ══ end ─▶ receiver ─▶ result
//! (headers,  (bytes,     (when, what                      (each packet's
//!  sizes,     patches)    was late)                        latency, order)
//!  rate)                   └────────────── drive: one thread, all ends ─────┘
//! ```
//! Packets are paced one by one against one clock, and carry the time at which they were *meant* to
//! leave. With two cores the generator and the receiver share one thread, the device has the other.

pub mod arrivals;
pub mod clock;
pub mod clock_map;
pub mod dissect;
pub mod drive;
pub mod end;
pub mod file;
pub mod header;
pub mod memory;
mod own_time;
pub mod port_times;
pub mod ports;
pub mod queues;
pub mod rate;
pub mod receive;
pub mod receiver;
pub mod recording;
pub mod replay;
pub mod result;
pub mod sender;
pub mod speed;
pub mod stream;
pub mod template;
pub mod test_frame;
pub mod thread_account;
pub mod vary;

pub use drive::{Plan, Side, drive};
pub use end::End;
pub use header::Header;
pub use lab_record::Error;
pub use rate::Rate;
pub use result::{Away, StreamResult, TrafficResult};
pub use stream::Stream;
pub use vary::{FieldName, Vary};
