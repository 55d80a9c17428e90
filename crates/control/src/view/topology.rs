//! What stands on what: ports, VLANs, bonds, tunnels, and the bridges, VRFs and others that they
//! are in.

use super::answer::*;

/// What there is, and what it has to do with each other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Topology {
    /// What there is.
    pub places: Vec<Place>,
    /// Which of it belongs together; each leads from what is below to what stands on it.
    pub ties: Vec<Tie>,
}

/// Something that packets come through.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Place {
    /// Kind and name, by which ties call it, as in `bridge br0`.
    pub id: String,
    /// What it is.
    pub kind: PlaceKind,
    /// Its name.
    pub name: String,
    /// More of it, in words.
    pub about: String,
    /// Whether packets can pass; null where that is not asked.
    pub up: Option<bool>,
}

/// What a place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlaceKind {
    /// A port with a device of its own.
    Port,
    /// Several ports that are one.
    Bond,
    /// A VLAN of a port.
    Vlan,
    /// A tunnel's port.
    Tunnel,
    /// The router's own station in a bridge.
    Station,
    /// A bridge.
    Bridge,
    /// Two ports wired together.
    CrossConnect,
    /// A VRF.
    Vrf,
    /// A translation of addresses.
    Nat,
    /// A mirror.
    Mirror,
    /// The other end of tunnels.
    FarEnd,
}

/// That two places belong together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Tie {
    /// The place below.
    pub from: String,
    /// The place that stands on it.
    pub to: String,
    /// How, in words.
    pub what: String,
}

impl PlaceKind {
    /// As a person calls it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Port => "port",
            Self::Bond => "bond",
            Self::Vlan => "vlan",
            Self::Tunnel => "tunnel",
            Self::Station => "station",
            Self::Bridge => "bridge",
            Self::CrossConnect => "cross-connect",
            Self::Vrf => "VRF",
            Self::Nat => "NAT",
            Self::Mirror => "mirror",
            Self::FarEnd => "far end",
        }
    }

    /// Whether ports are in it, and it is none itself.
    fn is_group(self) -> bool {
        matches!(self, Self::Bridge | Self::CrossConnect | Self::Vrf | Self::Nat | Self::Mirror)
    }
}

impl View for Topology {
    view!("show topology", "/v1/topology", All => Self,
        "What stands on what: ports, VLANs, bonds, tunnels, bridges, VRFs");

    fn table(topology: &Self) -> Table {
        table!(topology.rows(), row => {
            "in": row.group, "port": row.place.name, "as": row.what, "link": match row.place.up {
                Some(true) => "up",
                Some(false) => "down",
                None => NOTHING,
            },
            "on": row.below, "far ends": row.far, "what": row.place.about,
        })
        .hide_where_all("on", NOTHING)
        .hide_where_all("far ends", NOTHING)
    }
}

/// A port in something.
struct Row<'a> {
    group: String,
    place: &'a Place,
    what: &'a str,
    below: String,
    far: String,
}

impl Topology {
    fn place(&self, id: &str) -> Option<&Place> {
        self.places.iter().find(|place| place.id == id)
    }

    /// Of each bridge, VRF and so on what is in it; at the end what is in none.
    fn rows(&self) -> Vec<Row<'_>> {
        let mut rows = Vec::new();
        for group in self.places.iter().filter(|place| place.kind.is_group()) {
            let named = format!("{} {}", group.kind.word(), group.name);
            for tie in &self.ties {
                // A mirror leads to its port, a bridge to its own station.
                let member = match (tie.to == group.id, tie.from == group.id) {
                    (true, _) => &tie.from,
                    (_, true) => &tie.to,
                    _ => continue,
                };
                if tie.what != OUTSIDE
                    && let Some(place) = self.place(member)
                {
                    rows.push(self.row(named.clone(), place, &tie.what));
                }
            }
        }
        let is_in = |place: &Place| rows.iter().any(|row: &Row<'_>| row.place.id == place.id);
        let alone = self.places.iter().filter(|place| {
            !place.kind.is_group() && place.kind != PlaceKind::FarEnd && !is_in(place)
        });
        let alone: Vec<_> = alone.collect();
        rows.extend(alone.into_iter().map(|place| self.row(NOTHING.to_owned(), place, NOTHING)));
        rows
    }

    fn row<'a>(&'a self, group: String, place: &'a Place, what: &'a str) -> Row<'a> {
        let listed = |ids: Vec<String>| match ids.is_empty() {
            true => NOTHING.to_owned(),
            false => ids.join(" "),
        };
        let others = |from_here: bool, wanted: &dyn Fn(&Place, &Tie) -> bool| {
            let ends = self.ties.iter().filter_map(|tie| {
                let (own, other) =
                    if from_here { (&tie.from, &tie.to) } else { (&tie.to, &tie.from) };
                let other = self.place(other).filter(|_| *own == place.id)?;
                wanted(other, tie).then(|| match other.kind.is_group() {
                    true => format!("{} {}", other.kind.word(), other.name),
                    false => other.name.clone(),
                })
            });
            ends.collect::<Vec<_>>()
        };
        let mut below = others(false, &|other, _| !other.kind.is_group());
        below.extend(others(true, &|_, tie| tie.what == OUTSIDE));
        let far = others(true, &|other, _| other.kind == PlaceKind::FarEnd);
        Row { group, place, what, below: listed(below), far: listed(far) }
    }
}

/// How a tunnel is tied to the VRF that its own packets are in.
pub const OUTSIDE: &str = "outside";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tunnel_is_a_row_of_its_bridge_with_what_it_stands_on_and_leads_to() {
        let place = |kind: PlaceKind, id: &str, name: &str| Place {
            id: id.to_owned(),
            kind,
            name: name.to_owned(),
            about: format!("about {name}"),
            up: (!kind.is_group() && kind != PlaceKind::FarEnd).then_some(true),
        };
        let tie = |from: &str, to: &str, what: &str| {
            let [from, to, what] = [from, to, what].map(str::to_owned);
            Tie { from, to, what }
        };
        let topology = Topology {
            places: vec![
                place(PlaceKind::Port, "port p1", "p1"),
                place(PlaceKind::Tunnel, "port vx", "vx"),
                place(PlaceKind::Bridge, "bridge br", "br"),
                place(PlaceKind::Vrf, "vrf default", "default"),
                place(PlaceKind::FarEnd, "far 192.0.2.9", "192.0.2.9"),
            ],
            ties: vec![
                tie("port vx", "bridge br", "member"),
                tie("port vx", "vrf default", OUTSIDE),
                tie("port vx", "far 192.0.2.9", "to"),
            ],
        };
        let wanted = "in         port  as      link  on            far ends  what\n\
                      bridge br  vx    member  up    VRF default  192.0.2.9  about vx\n\
                      -          p1    -       up    -                    -  about p1\n";
        let said = Topology::text(&topology, Style::new(false));
        assert_eq!(said, wanted);
    }
}
