//! The fault plan: the whole router in a world of seeds, under virtual time, held to what must
//! always be so.
//!
//! ```text
//!  chance ──▶ play: packets, links, peers, buffers, devices, changes, calls, time
//!  (a seed,       │            ▲
//!   or bytes)     ▼            │ answers
//!              router ◀─ line ─▶ hosts        blocks: what configurations are drawn from
//!                 │
//!                 └──▶ check: conservation, flows, tables; picture: two routers compared
//! ```
//! One thread does all, nothing reads a clock, so a seed that finds something finds it again:
//! `volley-faults --seed N` tells what was thrown. The same runs are a fuzz target.

mod blocks;
mod call;
mod chance;
mod change;
mod check;
mod flows;
mod hosts;
mod line;
mod messages;
mod noise;
mod picture;
mod play;
mod process;
mod throw;
mod time;
mod world;

pub use chance::Chance;
pub use play::{Finding, Played, play};
pub use process::Footprint;
