//! What `show runtime` of VPP tells: clocks of each node, those of the source apart.
//!
//! ```text
//!  Name             State        Calls    Vectors   Suspends   Packet-Clocks   Vectors/Call
//!  l2-fwd           active          40      10240          0          2.31e1         256.00
//! ```

/// The node whose cycles are the packet generator's own.
const SOURCE: &str = "pg-input";
/// What VPP does beside packets is in nodes of these states; their vectors are not packets.
const BESIDE: [&str; 3] = ["event", "time", "done"];

/// Cycles of a packet behind the source, and in it; none where it brought no packet.
pub(super) fn cycles_per_packet(text: &str) -> Option<(f64, f64)> {
    let (mut cycles, mut receiving, mut brought) = (0.0, 0.0, 0);
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [name, state, .., packets, _suspends, clocks, _per_call] = words[..] else { continue };
        let (Ok(packets), Ok(clocks)) = (packets.parse::<u64>(), clocks.parse::<f64>()) else {
            continue;
        };
        match name {
            SOURCE => (brought, receiving) = (packets, clocks),
            _ if BESIDE.iter().any(|it| state.trim_start_matches('"').starts_with(it)) => {}
            _ => cycles += clocks * packets as f64,
        }
    }
    (brought > 0).then(|| (cycles / brought as f64, receiving))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOLD: &str = "Time 50.7, 10.0 sec internal node vector rate 0.00 loops/sec 1568352.62\n\
        \x20            Name                 State         Calls          Vectors        Suspends      Packet-Clocks   Vectors/Call  \n\
        bfd-process                   \"event wait\"               0               7               1          3.00e4            0.00\r\n\
        l2-fwd                           active                 10            2560               0          2.50e1          256.00\r\n\
        pg1-tx                           active                 10            2560               0          5.00e0          256.00\r\n\
        unix-epoll-input                 polling                90               0               0          9.00e2            0.00\r\n\
        pg-input                         polling                10            2560               0          4.00e1          256.00\r\n";

    #[test]
    fn nodes_add_up_without_the_source_and_what_is_no_packets() {
        assert_eq!(cycles_per_packet(TOLD), Some((30.0, 40.0)));
    }

    #[test]
    fn without_packets_there_is_no_cost() {
        assert_eq!(cycles_per_packet(&TOLD.replace("2560", "0")), None);
        assert_eq!(cycles_per_packet("no such command"), None);
    }
}
