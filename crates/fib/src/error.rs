//! What can go wrong in the tables, each with the value that was wrong.

use thiserror::Error;

/// Every error of this crate. A call that returns one has changed nothing.
#[derive(Debug, Error)]
pub enum FibError {
    /// The table or pool has no room; what it held is still there.
    #[error("{table} is full: it holds {capacity} {unit} and may not grow")]
    Full {
        /// Which table.
        table: &'static str,
        /// What it counts.
        unit: &'static str,
        /// How many it may hold.
        capacity: usize,
    },
    /// The operating system gave no memory; what the table held is still there.
    #[error("no memory for {bytes} more bytes of {table}: {source}")]
    NoMemory {
        /// Which table.
        table: &'static str,
        /// How much was asked for.
        bytes: usize,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// A prefix longer than its address.
    #[error("prefix length {length} is longer than the {bits} bits of the address")]
    PrefixLength {
        /// The length given.
        length: u8,
        /// The longest allowed.
        bits: u8,
    },
    /// Text that is no prefix.
    #[error("`{text}` is no prefix: {expected}")]
    PrefixText {
        /// The text given.
        text: String,
        /// What was expected.
        expected: &'static str,
    },
    /// A route to [`Forward::NONE`](crate::Forward::NONE), which means "no route".
    #[error("{prefix} cannot forward to nothing: remove the route instead")]
    NothingToForwardTo {
        /// The route's prefix.
        prefix: String,
    },
    /// A MAC address that no station has, or a port that a MAC entry cannot hold.
    #[error("{key} on port {port}: a station has a unicast address, and ports go up to 1048575")]
    MacEntry {
        /// The address and its bridge domain.
        key: String,
        /// The port given.
        port: u32,
    },
    /// A line of a route file that is no route.
    #[error("line {line}, column {column}: `{text}`, where was expected: {expected}")]
    RouteLine {
        /// Which line, from 1.
        line: u64,
        /// Which byte of it, from 1.
        column: usize,
        /// What is there.
        text: String,
        /// What was expected.
        expected: &'static str,
    },
    /// A record of a table dump that is not whole.
    #[error("the record at byte {offset} is damaged: expected {expected}")]
    RouteRecord {
        /// Where it begins, in the file as it is when no longer compressed.
        offset: u64,
        /// What was expected.
        expected: &'static str,
    },
    /// A route file with more routes than there is room for.
    #[error("more than {most} routes, for which there is room")]
    TooManyRoutes {
        /// How many there is room for.
        most: usize,
    },
    /// A route file that cannot be read.
    #[error("cannot read the route file: {source}")]
    RouteFile {
        /// What the operating system or the decompressor said.
        source: std::io::Error,
    },
}
