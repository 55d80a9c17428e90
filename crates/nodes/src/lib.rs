//! The packet-processing nodes, one file each.
