//! Spanning trees of the database's bridges: `rstp/show` and `stp/show`, as Open vSwitch prints
//! them.

use control::view::{SpanningPort, SpanningTree};

use super::super::rstp::capital;
use super::command::{Asked, Said};

/// What differs between both.
struct Words {
    /// What the router calls the protocol that the database asks for.
    is_old: bool,
    missing: &'static str,
    priority: &'static str,
    head: &'static str,
}

const RAPID: Words = Words {
    is_old: false,
    missing: "No such RSTP object\n",
    priority: "stp-priority    ",
    head: "  Interface  Role       State      Cost     Pri.Nbr \n  ---------- ---------- ---------- -------- -------\n",
};

const OLD: Words = Words {
    is_old: true,
    missing: "no such stp object\n",
    priority: "stp-priority  ",
    head: "  Interface  Role       State      Cost  Pri.Nbr \n  ---------- ---------- ---------- ----- -------\n",
};

pub(super) fn rapid(asked: &Asked<'_>) -> Said {
    show(asked, &RAPID)
}

pub(super) fn old(asked: &Asked<'_>) -> Said {
    show(asked, &OLD)
}

fn show(asked: &Asked<'_>, words: &Words) -> Said {
    let mut trees: Vec<SpanningTree> = asked.view("/v1/spanning-tree")?;
    let known = asked.known();
    trees.retain(|it| known.trees.get(&it.bridge) == Some(&words.is_old));
    if let Some(name) = asked.words.first() {
        trees.retain(|it| it.bridge == *name);
        if trees.is_empty() {
            return Err(words.missing.to_owned());
        }
    }
    Ok(trees.iter().map(|tree| shown(tree, words)).collect())
}

/// A bridge's identifier and times.
fn identity(id: &str, max_age: u8, delay: u8, words: &Words) -> String {
    // As in `8.000.020000000001`: the priority in steps of 4096, the rest of it, the address.
    let mut parts = id.split('.');
    let mut number = || u16::from_str_radix(parts.next().unwrap_or_default(), 16).unwrap_or(0);
    let priority = number() << 12 | number();
    let address = parts.next().unwrap_or_default();
    let octets: Vec<&str> = (0..6).filter_map(|at| address.get(2 * at..2 * at + 2)).collect();
    format!(
        "  {}{priority}\n  stp-system-id   {}\n  stp-hello-time  2s\n  stp-max-age     {max_age}s\n  \
         stp-fwd-delay   {delay}s\n",
        words.priority,
        octets.join(":")
    )
}

fn shown(tree: &SpanningTree, words: &Words) -> String {
    let mut text = format!("---- {} ----\nRoot ID:\n", tree.bridge);
    text.push_str(&identity(&tree.root_id, tree.max_age_s, tree.forward_delay_s, words));
    match &tree.root_port {
        Some(port) => {
            let cost = tree.root_cost;
            text.push_str(&format!("  root-port       {port}\n  root-path-cost  {cost}\n"));
        }
        None => text.push_str("  This bridge is the root\n"),
    }
    text.push_str("\nBridge ID:\n");
    let (age, delay) = (tree.own_max_age_s, tree.own_forward_delay_s);
    text.push_str(&identity(&tree.bridge_id, age, delay, words));
    text.push('\n');
    text.push_str(words.head);
    for port in tree.ports.iter().filter(|port| port.role != "disabled") {
        text.push_str(&line(port, words));
    }
    text.push('\n');
    text
}

fn line(port: &SpanningPort, words: &Words) -> String {
    let SpanningPort { cost, .. } = port;
    let (priority, number) = ((port.port_id >> 12) << 4, port.port_id & 0xfff);
    let name: String = port.port.chars().take(10).collect();
    match words.is_old {
        // What discards is blocking, or listens whether it may forward.
        true => {
            let role = if port.role == "backup" { "alternate" } else { &port.role };
            let state = match (&port.state[..], role) {
                ("discarding", "alternate") => "blocking",
                ("discarding", _) => "listening",
                (state, _) => state,
            };
            format!("  {name:<10} {role:<10} {state:<10} {cost:<5} {priority}.{number}\n")
        }
        false => {
            let (role, state) = (capital(&port.role), capital(&port.state));
            format!("  {name:<10} {role:<10} {state:<10} {cost:<8} {priority}.{number}\n")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(root_port: Option<&str>) -> SpanningTree {
        let port = |name: &str, port_id: u16, role: &str, state: &str, cost: u32| SpanningPort {
            port: name.into(),
            port_id,
            role: role.into(),
            state: state.into(),
            cost,
            ..SpanningPort::default()
        };
        SpanningTree {
            bridge: "br0".into(),
            bridge_id: "8.000.fec0f476e249".into(),
            root_id: if root_port.is_some() { "1.002.020000000001" } else { "8.000.fec0f476e249" }
                .into(),
            root_cost: 200,
            root_port: root_port.map(str::to_owned),
            max_age_s: 20,
            forward_delay_s: 15,
            own_max_age_s: 12,
            own_forward_delay_s: 10,
            ports: vec![
                port("p1", 0x8001, "root", "forwarding", 200),
                port("averylongname", 0x1012, "alternate", "discarding", 20_000),
                port("p3", 0x8003, "designated", "discarding", 2),
                port("p4", 0x8004, "disabled", "discarding", 2),
            ],
            ..SpanningTree::default()
        }
    }

    #[test]
    fn a_tree_is_shown_as_open_vswitch_shows_it() {
        assert_eq!(
            shown(&tree(Some("p1")), &RAPID),
            "---- br0 ----\nRoot ID:\n  stp-priority    4098\n  stp-system-id   02:00:00:00:00:01\n  \
             stp-hello-time  2s\n  stp-max-age     20s\n  stp-fwd-delay   15s\n  root-port       p1\n  \
             root-path-cost  200\n\nBridge ID:\n  stp-priority    32768\n  \
             stp-system-id   fe:c0:f4:76:e2:49\n  stp-hello-time  2s\n  stp-max-age     12s\n  \
             stp-fwd-delay   10s\n\n  Interface  Role       State      Cost     Pri.Nbr \n  \
             ---------- ---------- ---------- -------- -------\n  \
             p1         Root       Forwarding 200      128.1\n  \
             averylongn Alternate  Discarding 20000    16.18\n  \
             p3         Designated Discarding 2        128.3\n\n"
        );
        let old = shown(&tree(None), &OLD);
        assert!(old.starts_with("---- br0 ----\nRoot ID:\n  stp-priority  32768\n"), "{old}");
        assert!(old.contains("  This bridge is the root\n\nBridge ID:\n  stp-priority  32768\n"));
        let ports = "  ---------- ---------- ---------- ----- -------\n  \
                     p1         root       forwarding 200   128.1\n  \
                     averylongn alternate  blocking   20000 16.18\n  \
                     p3         designated listening  2     128.3\n\n";
        assert!(old.ends_with(ports), "{old}");
    }
}
