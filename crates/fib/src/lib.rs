//! Forwarding tables, stand-alone: IPv4, IPv6, MAC, routes, neighbours, adjacencies.
