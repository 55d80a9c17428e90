//! Groups of bridges, and who listens to them.

use super::answer::*;

/// Which groups.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct GroupFilter {
    /// Only those of this bridge.
    #[serde(default)]
    pub bridge: Option<String>,
    /// Only this one.
    #[serde(default)]
    pub group: Option<String>,
    /// At most so many.
    #[serde(default)]
    #[param(minimum = 1)]
    pub limit: Option<usize>,
}

/// The groups of a filter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Groups {
    /// Those that match, shown or not: each with each of its ports.
    pub total: usize,
    /// Those shown.
    pub groups: Vec<Group>,
}

/// A port behind which somebody listens to a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Group {
    /// The bridge.
    pub bridge: String,
    /// The group.
    pub group: String,
    /// The port.
    pub port: String,
    /// Of a tunnel with several remotes, the one that it is behind.
    pub remote: Option<String>,
    /// The version of IGMP or MLD that it was told in; none: it is configured.
    pub version: Option<u8>,
    /// Seconds until it is forgotten if it is not heard again; none: it is not.
    pub left_s: Option<u64>,
}

impl View for Groups {
    view!("show groups", "/v1/groups", GroupFilter => Self,
        "Groups of bridges that know who listens, and the ports that do");

    fn text(shown: &Self, style: Style) -> String {
        let behind = |it: &Group| match &it.remote {
            Some(remote) => format!("{} to {remote}", it.port),
            None => it.port.clone(),
        };
        let told = |it: &Group| match it.version {
            Some(version) => format!("version {version}"),
            None => "configured".to_owned(),
        };
        let table = table!(&shown.groups, it => {
            "bridge": it.bridge, "group": it.group, "port": behind(it), "told": told(it),
            "left s": it.left_s.map_or("-".to_owned(), |left| left.to_string()),
        });
        table.render(style) + &shortened(shown.groups.len(), shown.total, "groups", style)
    }
}
