//! Connections that translations know, access lists, and flows.

use super::answer::*;

/// Which connections.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct ConnectionFilter {
    /// Only those of this translation.
    #[serde(default)]
    pub nat: Option<String>,
    /// Only those that access lists of this port keep.
    #[serde(default)]
    pub port: Option<String>,
    /// Only those with this address, on either side.
    #[serde(default)]
    pub address: Option<String>,
    /// At most so many.
    #[serde(default)]
    #[param(minimum = 1)]
    pub limit: Option<usize>,
}

/// Connections that are to end; without a translation, a port and an address, all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ConnectionClear {
    /// Those of this translation.
    #[serde(default)]
    pub nat: Option<String>,
    /// Those that access lists of this port keep.
    #[serde(default)]
    pub port: Option<String>,
    /// Those with this address, on either side.
    #[serde(default)]
    pub address: Option<String>,
}

/// How many connections ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ConnectionCount {
    /// How many.
    pub connections: usize,
}

/// The connections of a filter, and what was counted of all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Connections {
    /// Those that match, shown or not.
    pub total: usize,
    /// Entries that there is room for; 0 while nothing is translated, and no list and no flow keeps
    /// any.
    pub room: u64,
    /// Entries that are taken: connections, endpoints inside, packets in pieces.
    pub taken: u64,
    /// Entries that were made.
    pub begun: u64,
    /// Of them, those that made room for others.
    pub evicted: u64,
    /// Those that there was no room for.
    pub refused: u64,
    /// Those shown.
    pub connections: Vec<Connection>,
}

/// A connection.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
pub struct Connection {
    /// The translation that knows it; empty of one that others know.
    pub nat: String,
    /// The port whose access lists keep it; empty of one that others know.
    #[serde(default)]
    pub port: String,
    /// The zone, of one that flows know.
    pub zone: Option<u16>,
    /// Its protocol.
    pub protocol: String,
    /// Who began it, with its port.
    pub source: String,
    /// Whom it began it with.
    pub destination: String,
    /// Who that is for the other side.
    pub seen_source: String,
    /// Whom it reaches.
    pub seen_destination: String,
    /// Of TCP its state; of others `unanswered` or `answered`.
    pub state: String,
    /// Seconds until it ends, if nothing comes.
    pub expires_s: u32,
}

impl View for Connections {
    view!("show connections", "/v1/connections", ConnectionFilter => Self,
        "Connections that translations, lists and flows know, and what they are on the other side");
    counters!("begun", "evicted", "refused");
    const METRICS: Option<Metrics<Self>> = Some((ONE, |shown, out| {
        if shown.room == 0 {
            return;
        }
        out.one(shown)
            .gauge("connections", "Entries of connections that are taken.", |it| it.taken)
            .gauge("connections_room", "Entries of connections there is room for.", |it| it.room)
            .counter("connections_begun", "Entries of connections that were made.", |it| it.begun)
            .counter(
                "connections_evicted",
                "Connections that were not answered and made room for others.",
                |it| it.evicted,
            )
            .counter("connections_refused", "Connections that there was no room for.", |it| {
                it.refused
            });
    }));

    fn text(shown: &Self, style: Style) -> String {
        let Self { total, room, taken, evicted, refused, .. } = shown;
        let table = table!(&shown.connections, it => {
            "nat": it.nat, "port": it.port, "zone": it.zone.map_or_else(String::new, |zone| zone.to_string()),
            "protocol": it.protocol, "source": it.source,
            "destination": it.destination, "as": it.seen_source, "reaches": it.seen_destination,
            "state": it.state, "expires s": it.expires_s,
        });
        let note = match room {
            0 => "nothing is translated, and no list and no flow keeps connections\n".to_owned(),
            _ => format!("{taken} of {room} entries taken, {evicted} evicted, {refused} refused\n"),
        };
        let list = table.render(style);
        list + &shortened(shown.connections.len(), *total, "connections", style) + &note
    }
}

/// What metrics are made of: the counters, and one connection.
const ONE: ConnectionFilter =
    ConnectionFilter { nat: None, port: None, address: None, limit: Some(1) };

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_is_a_line_and_the_table_is_told_of() {
        let shown = Connections {
            total: 2,
            room: 64,
            taken: 5,
            begun: 9,
            evicted: 1,
            refused: 3,
            connections: vec![Connection {
                nat: "home".to_owned(),
                port: String::new(),
                zone: None,
                protocol: "tcp".to_owned(),
                source: "10.0.0.2:4000".to_owned(),
                destination: "192.0.2.7:80".to_owned(),
                seen_source: "203.0.113.1:4000".to_owned(),
                seen_destination: "192.0.2.7:80".to_owned(),
                state: "established".to_owned(),
                expires_s: 432_000,
            }],
        };
        let text = Connections::text(&shown, Style::new(false));
        let line = text.lines().nth(1).unwrap_or_default();
        for word in ["home", "tcp", "10.0.0.2:4000", "203.0.113.1:4000", "established", "432000"] {
            assert!(line.contains(word), "{text}");
        }
        assert!(text.contains("5 of 64 entries taken, 1 evicted, 3 refused"), "{text}");
        let (_, tell) = Connections::METRICS.unwrap();
        let mut out = crate::view::Exposition::default();
        tell(&shown, &mut out);
        let text = out.finish();
        assert!(text.contains("volley_connections_refused_total 3\n"), "{text}");
        assert!(text.contains("volley_connections 5\n"), "{text}");
    }
}
