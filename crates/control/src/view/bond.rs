//! Bonds, their members, and what those know of the other end.

use super::answer::*;

/// Several ports that are one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Bond {
    /// Its name.
    pub name: String,
    /// Which members carry, as in `active-backup`.
    pub mode: String,
    /// Whether enough members carry.
    pub link_up: bool,
    /// Members that carry what it sends.
    pub carrying: u64,
    /// How often another member took over, or fewer carried than before.
    pub failovers: u64,
    /// How often stations were given another member for what they send, in balance-slb: 256 shares
    /// of them, of which each counts as one.
    pub shares_moved: u64,
    /// The other end, as LACP tells it: priority and address of the system; null where none is
    /// known.
    pub partner: Option<String>,
    /// The other end's key.
    pub partner_key: Option<u16>,
    /// Our own key.
    pub key: Option<u16>,
    /// Its members.
    pub members: Vec<BondMember>,
}

/// A member of a bond.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BondMember {
    /// The port.
    pub port: String,
    /// Whether its link is up.
    pub link_up: bool,
    /// What it does: `carries`, `active` (it carries, and by it frames for all are taken in, in
    /// balance-slb), `stands by`, `down`; with LACP the state of its mux machine, as in
    /// `distributing`.
    pub state: String,
    /// What was heard of the other end, with LACP: `current`, `expired`, `defaulted`, `disabled`.
    pub heard: Option<String>,
    /// The other end's port number.
    pub partner_port: Option<u16>,
    /// What the other end says of itself, as in `active fast in-sync`.
    pub partner_state: Option<String>,
    /// LACP messages received.
    pub lacp_received: u64,
    /// LACP messages sent.
    pub lacp_sent: u64,
}

impl View for Bond {
    view!("show bonds", "/v1/bonds", All => Vec<Self>,
        "Bonds, which of their members carry, and what LACP knows of the other end");
    counters!("failovers", "shares_moved", "lacp_received", "lacp_sent");
    const METRICS: Option<Metrics<Self>> = Some((All, |bonds, out| {
        out.of(bonds, |bond| [("bond", &bond.name[..])])
            .gauge("bond_carrying", "Members that carry.", |bond| bond.carrying as f64)
            .counter("bond_failovers", "Changes of the members that carry.", |bond| bond.failovers)
            .counter(
                "bond_shares_moved",
                "Shares of stations that were given another member.",
                |bond| bond.shares_moved,
            );
        let members = bonds.iter().flat_map(|bond| bond.members.iter().map(move |it| (bond, it)));
        out.of(members, |row| [("bond", &row.0.name[..]), ("member", &row.1.port[..])])
            .counter("bond_lacp_received", "LACP messages received.", |row| row.1.lacp_received)
            .counter("bond_lacp_sent", "LACP messages sent.", |row| row.1.lacp_sent);
    }));

    fn table(bonds: &Vec<Self>) -> Table {
        let rows = bonds.iter().flat_map(|bond| bond.members.iter().map(move |it| (bond, it)));
        table!(rows, (bond, member) => {
            "bond": bond.name, "mode": bond.mode, "link": if bond.link_up { "up" } else { "down" },
            "member": member.port, "member link": if member.link_up { "up" } else { "down" },
            "state": member.state, "partner": bond.partner.as_deref().unwrap_or("-"),
            "heard": member.heard.as_deref().unwrap_or("-"),
            "says": member.partner_state.as_deref().unwrap_or("-"),
            "lacp rx": member.lacp_received, "lacp tx": member.lacp_sent,
            "failovers": bond.failovers, "moved": bond.shares_moved,
        })
    }
}
