//! The datapath, which all bridges share.

use control::view::{Port, PortCounters};

use super::command::{Asked, Said};
use super::dpif::{DATAPATH, looked_up};
use super::flows::megaflows;

/// What is said of a datapath that is none.
const NONE: &str = "ovs-vswitchd: datapath not found (Invalid argument)\n";

/// Whether a word names the datapath.
fn is_it(word: &str) -> bool {
    matches!(word, DATAPATH | "ovs-netdev")
}

/// What workers remember, of all bridges.
pub(super) fn dump_flows(asked: &Asked<'_>) -> Said {
    let mut names = false;
    let (mut worker, mut wanted) = (None, Vec::new());
    for word in asked.words {
        match word.split_once('=') {
            None if matches!(&word[..], "-m" | "--more" | "--names") => names = true,
            None if word == "--no-names" => names = false,
            None if is_it(word) => {}
            Some(("pmd", number)) => {
                let number = number.parse::<u16>();
                worker = Some(
                    number.map_err(|_| format!("ovs-vswitchd: Invalid pmd argument `{word}`\n"))?,
                );
            }
            // All flows are the datapath's own; none is a device's.
            Some(("type", "offloaded" | "partially-offloaded" | "dpdk" | "tc")) => {
                return Ok(String::new());
            }
            Some(("type", _)) => {}
            Some(("filter", fields)) => wanted.extend(fields.split(',').map(str::to_owned)),
            _ if word.starts_with('-') => {
                return Err(format!("ovs-vswitchd: unrecognized option '{word}'\n"));
            }
            _ => return Err(NONE.to_owned()),
        }
    }
    let shown = megaflows(asked, None, names)?;
    let mut text = String::new();
    let mut last = None;
    for it in shown.megaflows.iter().filter(|it| worker.is_none_or(|worker| it.worker == worker)) {
        if !wanted.iter().all(|field| meets(&it.flow, field)) {
            continue;
        }
        if last != Some(it.worker) {
            last = Some(it.worker);
            text.push_str(&format!("flow-dump from worker {}:\n", it.worker));
        }
        text.push_str(&format!("{}\n", it.line()));
    }
    Ok(text)
}

/// Whether packets of a flow may have a field, as far as words tell: `tcp`, `in_port=1`,
/// `nw_dst=10.0.0.1`.
fn meets(flow: &str, field: &str) -> bool {
    let protocols = [
        ("ip", "eth_type(0x0800)"),
        ("ipv6", "eth_type(0x86dd)"),
        ("arp", "eth_type(0x0806)"),
        ("tcp", "proto=6"),
        ("udp", "proto=17"),
        ("icmp", "proto=1,"),
        ("icmp6", "proto=58"),
        ("sctp", "proto=132"),
    ];
    match field.split_once('=') {
        Some(("in_port", port)) => flow.contains(&format!("in_port({port})")),
        Some((_, value)) => flow.contains(value),
        None => protocols.iter().find(|it| it.0 == field).is_none_or(|it| flow.contains(it.1)),
    }
}

/// The datapath's ports.
pub(super) fn show(asked: &Asked<'_>) -> Said {
    let mut counts = false;
    for word in asked.words {
        match &word[..] {
            "-s" | "--statistics" => counts = true,
            word if is_it(word) => {}
            word if word.starts_with('-') => {
                return Err(format!("ovs-vswitchd: unrecognized option '{word}'\n"));
            }
            _ => return Err(NONE.to_owned()),
        }
    }
    let (hit, missed) = looked_up(asked)?;
    let flows: usize = megaflows(asked, None, false)?.workers.iter().sum();
    let ports: Vec<Port> = asked.view("/v1/ports")?;
    let mut text =
        format!("{DATAPATH}:\n  lookups: hit:{hit} missed:{missed} lost:0\n  flows: {flows}\n");
    for bridge in asked.known().bridges.values() {
        for (number, port) in &bridge.ports {
            let kind = if matches!(&port.kind[..], "" | "system") {
                String::new()
            } else {
                format!(" ({})", port.kind)
            };
            text.push_str(&format!("  port {number}: {}{kind}\n", port.name));
            if let Some(port) = ports.iter().find(|it| it.name == port.name).filter(|_| counts) {
                text.push_str(&counters(port));
            }
        }
    }
    Ok(text)
}

fn counters(port: &Port) -> String {
    let PortCounters { packets: rx, bytes: rx_bytes, drops: rx_drops, errors: rx_errors } = port.rx;
    let PortCounters { packets: tx, bytes: tx_bytes, drops: tx_drops, errors: tx_errors } = port.tx;
    format!(
        "    RX packets:{rx} errors:{rx_errors} dropped:{rx_drops} overruns:? frame:?\n    \
         TX packets:{tx} errors:{tx_errors} dropped:{tx_drops} aborted:? carrier:?\n    \
         collisions:?\n    RX bytes:{rx_bytes}  TX bytes:{tx_bytes}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_words_of_flows() {
        let flow = "recirc_id(0),in_port(1),eth_type(0x0800),ipv4(dst=10.0.0.0/255.0.0.0,proto=6,frag=no),tcp(dst=80)";
        assert!(["ip", "tcp", "in_port=1", "tcp_dst=80"].iter().all(|it| meets(flow, it)));
        assert!(["arp", "udp", "in_port=2", "nw_dst=10.9.9.9"].iter().all(|it| !meets(flow, it)));
    }
}
