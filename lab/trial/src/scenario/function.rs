//! What a device is asked to do, in words that every switch's adapter can translate.

use serde::{Deserialize, Serialize};

/// The kinds of forwarding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FunctionKind {
    /// What comes in at one port goes out at the other.
    CrossConnect,
    /// A bridge over both ports.
    Bridge,
    /// IPv4 routing.
    Ip4,
    /// IPv6 routing.
    Ip6,
    /// L2 frames into VXLAN.
    VxlanEncap,
    /// VLAN tags pushed and popped.
    VlanTagging,
    /// IP in GRE.
    Gre,
    /// A list of sources that may pass.
    SourceAllowList,
    /// Stateless filter rules.
    Acl,
    /// Addresses by DHCPv4.
    Dhcp4,
    /// IP between locators, which a table of endpoints tells (RFC 9300).
    Lisp,
}

impl FunctionKind {
    /// Whether it looks packets up in a table whose size can be varied.
    pub fn has_table(self) -> bool {
        !matches!(self, Self::CrossConnect | Self::Dhcp4 | Self::VlanTagging)
    }

    /// Whether what it sends on has been routed: a hop less, the addresses of the next link.
    pub fn is_routed(self) -> bool {
        matches!(
            self,
            Self::Ip4 | Self::Ip6 | Self::Gre | Self::Lisp | Self::SourceAllowList | Self::Acl
        )
    }

    /// Whether what it sends on is in a tunnel that begins at the second link.
    pub fn is_tunnel(self) -> bool {
        matches!(self, Self::VxlanEncap | Self::Gre | Self::Lisp)
    }

    /// Octets by which frames at the second link are larger than at the first: a tag, or a tunnel's
    /// headers over IPv4.
    pub fn overhead_bytes(self) -> u16 {
        match self {
            Self::VlanTagging => 4,
            Self::VxlanEncap => 50,
            Self::Gre => 24,
            Self::Lisp => 36,
            _ => 0,
        }
    }

    /// Its name, as in scenario files.
    pub fn name(self) -> &'static str {
        match self {
            Self::CrossConnect => "cross-connect",
            Self::Bridge => "bridge",
            Self::Ip4 => "ip4",
            Self::Ip6 => "ip6",
            Self::VxlanEncap => "vxlan-encap",
            Self::VlanTagging => "vlan-tagging",
            Self::Gre => "gre",
            Self::SourceAllowList => "source-allow-list",
            Self::Acl => "acl",
            Self::Dhcp4 => "dhcp4",
            Self::Lisp => "lisp",
        }
    }
}

/// A function with its switches. Switches that are not given are at the device's own default.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Function {
    /// What it does.
    pub kind: FunctionKind,
    /// Name in reports, where the kind alone does not tell functions apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Bridge: learn source addresses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learning: Option<bool>,
    /// Bridge: forget addresses not seen for a while.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ageing: Option<bool>,
    /// Bridge: send frames to unknown unicast addresses to all ports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown_unicast_flood: Option<bool>,
    /// Bridge: send broadcast and multicast frames to all ports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flood: Option<bool>,
    /// Entries in its table, where no axis varies them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entries: Option<u64>,
    /// Egress port is limited to this rate: a real bottleneck for schedulers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bottleneck_mbps: Option<u64>,
    /// Endpoints' wires are limited to this rate, as by a slower switch on the way: what waits
    /// waits there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wire_mbps: Option<u64>,
}

/// Names of a bridge's switches.
pub const LEARNING: &str = "learning";
/// See [`Function::ageing`].
pub const AGEING: &str = "ageing";
/// See [`Function::unknown_unicast_flood`].
pub const UNKNOWN_UNICAST_FLOOD: &str = "unknown_unicast_flood";
/// See [`Function::flood`].
pub const FLOOD: &str = "flood";

impl Function {
    /// The switches of a bridge that are given, by name.
    pub fn switches(&self) -> impl Iterator<Item = (&'static str, bool)> + use<> {
        let all = [
            (LEARNING, self.learning),
            (AGEING, self.ageing),
            (UNKNOWN_UNICAST_FLOOD, self.unknown_unicast_flood),
            (FLOOD, self.flood),
        ];
        all.into_iter().filter_map(|(name, on)| Some((name, on?)))
    }

    /// Its name in reports.
    pub fn name(&self) -> &str {
        self.label.as_deref().unwrap_or(self.kind.name())
    }

    /// A switch that the kind does not have.
    pub(super) fn misplaced(&self) -> Option<&'static str> {
        let bridge = self.kind == FunctionKind::Bridge;
        let entries = self.entries.is_some() && !self.kind.has_table();
        let of_bridges = self.switches().next().filter(|_| !bridge).map(|(name, _)| name);
        of_bridges.or(entries.then_some("entries"))
    }
}
