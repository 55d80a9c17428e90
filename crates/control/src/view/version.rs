//! The router as a program.

use super::answer::*;

/// What runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Version {
    /// Volley's version.
    pub volley: String,
    /// DPDK's version; absent when it is not in use.
    pub dpdk: Option<String>,
    /// The number of the daemon's process.
    pub pid: u32,
    /// Seconds since it started.
    pub uptime_s: u64,
    /// What it found it may do, as in `hugepages: no (2 MiB pages: 0)`.
    pub abilities: Vec<String>,
}

impl View for Version {
    view!("show version", "/v1/version", All => Self, "What runs");

    fn text(version: &Self, _: Style) -> String {
        let Self { volley, dpdk, pid, uptime_s, abilities } = version;
        let dpdk = dpdk.as_deref().unwrap_or("not in use");
        let abilities = abilities.iter().map(|ability| format!("  {ability}\n"));
        format!("volley {volley}, DPDK {dpdk}, process {pid}, up {uptime_s} s\n")
            + &abilities.collect::<String>()
    }
}
