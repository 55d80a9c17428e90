//! `volley show bridge` and `volley mac`.

use clap::Subcommand;
use control::view;

use crate::error::CliError;
use crate::output::Style;
use crate::run::Session;
use crate::show::query;
use crate::table::Table;

/// Stations of bridges.
#[derive(Debug, Subcommand)]
pub(crate) enum MacVerb {
    /// List the stations of bridges
    Show {
        /// Only those of this bridge
        #[arg(long)]
        bridge: Option<String>,
        /// Only those behind this port
        #[arg(long)]
        port: Option<String>,
        /// At most so many
        #[arg(long, value_name = "COUNT")]
        limit: Option<usize>,
    },
    /// Forget learned stations: all, or those of a bridge or port
    Flush {
        /// Only those of this bridge
        #[arg(long)]
        bridge: Option<String>,
        /// Only those behind this port
        #[arg(long)]
        port: Option<String>,
    },
    /// Have stations learned that nobody has heard, for measurements
    Fill {
        /// The bridge
        bridge: String,
        /// The port they are behind
        port: String,
        /// How many
        count: u32,
        /// The first address; each further one is one more
        #[arg(long, value_name = "MAC", default_value = "06:00:00:00:00:00")]
        first: String,
    },
}

/// Runs one verb of `mac`.
pub(crate) fn run(session: &Session, verb: MacVerb) -> Result<(), CliError> {
    let (client, output) = (&session.client, session.output);
    match verb {
        MacVerb::Show { bridge, port, limit } => {
            let limit = limit.map(|limit| limit.to_string());
            let query = query(&[("bridge", bridge), ("port", port), ("limit", limit)]);
            output.answer(client.get(&format!("/v1/stations?{query}"))?, stations)
        }
        MacVerb::Flush { bridge, port } => {
            let request = view::StationFlush { bridge, port };
            output.answer(
                client.post_json("/v1/stations/flush", &request)?,
                |count: view::StationCount, _| format!("{} stations forgotten\n", count.stations),
            )
        }
        MacVerb::Fill { bridge, port, count, first } => {
            let request = view::StationFill { bridge, port, first, count };
            output.answer(
                client.post_json("/v1/stations/fill", &request)?,
                |count: view::StationCount, _| format!("{} stations added\n", count.stations),
            )
        }
    }
}

fn stations(shown: view::Stations, style: Style) -> String {
    let mut table = Table::new(&["bridge", "mac", "port", "kind", "age s"]);
    for station in &shown.stations {
        table.row([
            station.bridge.clone(),
            station.mac.clone(),
            match &station.remote {
                Some(remote) => format!("{} to {remote}", station.port),
                None => station.port.clone(),
            },
            if station.is_static { "static" } else { "learned" }.to_owned(),
            station.age_s.to_string(),
        ]);
    }
    let mut text = table.render(style);
    if shown.stations.len() < shown.total {
        let note = format!("{} of {} stations", shown.stations.len(), shown.total);
        text.push_str(&style.dim(&note));
        text.push('\n');
    }
    text
}

fn answers(protocol: &str, bindings: Option<usize>) -> String {
    bindings.map_or_else(String::new, |count| format!("; answers {protocol} for {count}"))
}

/// Bridges, each with its ports.
pub(crate) fn bridges(bridges: &[view::Bridge], style: Style) -> String {
    let mut text = String::new();
    for bridge in bridges {
        text.push_str(&format!(
            "{}  {} stations of at most {}, remembered for {} s{}{}\n",
            style.bold(&bridge.name),
            bridge.stations,
            bridge.mac_limit,
            bridge.ageing_s,
            answers("ARP", bridge.bindings),
            answers("ND", bridge.nd_bindings),
        ));
        let heading =
            ["port", "state", "group", "isolated", "learned", "moved", "not learned", "may"];
        let mut table = Table::new(&heading);
        for port in &bridge.ports {
            table.row([
                port.port.clone(),
                if port.up { "up" } else { "down" }.to_owned(),
                port.group.map_or_else(|| "-".to_owned(), |group| group.to_string()),
                if port.isolated { "yes" } else { "no" }.to_owned(),
                port.learned.to_string(),
                port.moved.to_string(),
                port.not_learned.to_string(),
                port.flags.join(" "),
            ]);
        }
        text.push_str(&table.render(style));
    }
    text
}
