//! Who was it that did not go on?

use serde::{Deserialize, Serialize};

/// Who was away while packets waited, by the kernel's account of processor time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Who {
    /// The device neither ran nor waited for a core: it slept, or was stopped.
    Device,
    /// The same of the generator.
    Generator,
    /// The host: others had the core that was wanted, or a hypervisor had it.
    Host,
}

impl Who {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Device, Self::Generator, Self::Host];

    /// In results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::Generator => "generator",
            Self::Host => "host",
        }
    }

    /// Of a time that somebody did not run: himself where he slept, the host where he waited, or
    /// where he was neither in the kernel's queue nor gave the core away. None where he ran for
    /// most of it.
    pub fn of(himself: Self, away_ns: u64, account: Account) -> Option<Self> {
        let Account { missing_ns, waited_ns, slept } = account;
        let off_ns = missing_ns + waited_ns;
        match () {
            () if 2 * off_ns < away_ns => None,
            () if waited_ns >= missing_ns => Some(Self::Host),
            () if slept => Some(himself),
            () => Some(Self::Host),
        }
    }
}

/// What became of the time in which somebody should have run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Account {
    /// He neither ran nor waited.
    pub missing_ns: u64,
    /// He waited for a core.
    pub waited_ns: u64,
    /// Whether he gave the core away himself meanwhile.
    pub slept: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_was_away_follows_from_where_the_time_went() {
        let of = |missing_ns, waited_ns, slept| {
            Who::of(Who::Device, 1_000, Account { missing_ns, waited_ns, slept })
        };
        assert_eq!(of(900, 50, true), Some(Who::Device));
        assert_eq!(of(50, 900, true), Some(Who::Host), "others had the core");
        assert_eq!(of(900, 50, false), Some(Who::Host), "a hypervisor had it");
        assert_eq!(of(100, 100, true), None, "it ran");
        assert_eq!(serde_json::to_string(&Who::Device).unwrap(), "\"device\"");
        assert_eq!(Who::ALL.map(Who::name), ["device", "generator", "host"]);
    }
}
