//! A port's link as it is now.

/// State of the link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Link {
    /// Packets can pass.
    pub up: bool,
    /// The Linux device behind the port was deleted; only a port opened anew will work.
    pub gone: bool,
    /// Opening the port anew would find a device.
    pub returned: bool,
    /// `None`: unknown.
    pub speed_mbps: Option<u32>,
    /// Both ways at once.
    pub full_duplex: bool,
}
