//! What tells flows apart.

use super::answer::*;

/// What tells flows apart, where several next hops share them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Flows {
    /// What of a packet, as the configuration names it.
    pub fields: Vec<String>,
    /// Whether packets of tunnels that only pass are told apart by what they carry.
    pub inner: bool,
    /// Whether both directions are one flow.
    pub symmetric: bool,
    /// UDP ports that VXLAN is looked for at.
    pub vxlan_ports: Vec<u16>,
    /// Groups of next hops that share flows.
    pub groups: u64,
}

impl View for Flows {
    view!("show flows", "/v1/flows", All => Self,
        "What tells flows apart, where several next hops share them");

    fn text(flows: &Self, style: Style) -> String {
        let ports: Vec<String> = flows.vxlan_ports.iter().map(u16::to_string).collect();
        let yes_or_no = |is_so| if is_so { "yes" } else { "no" };
        let table = table!([flows], flows => {
            "fields": flows.fields.join(", "), "inner": yes_or_no(flows.inner),
            "symmetric": yes_or_no(flows.symmetric), "vxlan ports": ports.join(", "),
            "groups": flows.groups,
        });
        table.render(style)
    }
}
