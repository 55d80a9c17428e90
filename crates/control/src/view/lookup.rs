//! What becomes of a packet to an address.

use std::net::IpAddr;

use super::answer::*;
use super::route::Route;
use crate::config::objects::vrf::DEFAULT_NAME;

/// Which address, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct LookupFilter {
    /// The destination.
    #[param(value_type = String, format = "ipv4")]
    pub address: IpAddr,
    /// VRF that it is looked up in; `default` or nothing is the default one.
    #[serde(default)]
    #[param(format = "name")]
    pub vrf: Option<String>,
}

impl LookupFilter {
    /// The VRF that is meant.
    pub fn vrf(&self) -> &str {
        self.vrf.as_deref().unwrap_or(DEFAULT_NAME)
    }
}

/// What the table says about an address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Lookup {
    /// The address.
    pub address: String,
    /// The VRF that it was looked up in.
    pub vrf: String,
    /// The longest matching route, if there is one.
    pub route: Option<Route>,
    /// What happens to a packet, as in `via 192.0.2.9 port p0 (02:00:00:00:00:09)`.
    pub outcome: String,
    /// Steps the table took.
    pub depth: u32,
    /// Cache lines it touched.
    pub cache_lines: u32,
}

impl View for Lookup {
    view!("lookup", "/v1/lookup/{address}", LookupFilter => Self,
        "What becomes of a packet to an address");

    fn text(lookup: &Self, style: Style) -> String {
        let matched = match &lookup.route {
            Some(route) => route.line(),
            None => "no route".to_owned(),
        };
        format!(
            "{}  {}\n  route    {matched}\n  steps    {}, cache lines {}\n",
            style.bold(&lookup.address),
            lookup.outcome,
            lookup.depth,
            lookup.cache_lines,
        )
    }
}
