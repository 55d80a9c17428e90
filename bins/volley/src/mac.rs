//! `volley mac`: stations of bridges.

use clap::Subcommand;
use control::view::{self, Fields, StationsFill, StationsFlush};

use crate::error::CliError;
use crate::session::Session;

/// Stations of bridges.
#[derive(Debug, Subcommand)]
pub(crate) enum MacVerb {
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
    match verb {
        MacVerb::Flush { bridge, port } => {
            let which = view::StationFlush { bridge, port };
            session.make::<StationsFlush>(Fields(which), |count, _| {
                format!("{} stations forgotten\n", count.stations)
            })
        }
        MacVerb::Fill { bridge, port, count, first } => {
            let which = view::StationFill { bridge, port, first, count };
            session.make::<StationsFill>(Fields(which), |count, _| {
                format!("{} stations added\n", count.stations)
            })
        }
    }
}
