//! What `ofproto/trace` says, read.

use openflow::{PortNumber, port};

/// The ports that a packet leaves by, controllers among them; none where the packet comes again
/// (`recirc`), which nobody can tell before its hash is known.
pub(crate) fn verdict(text: &str, ports: PortNumber) -> Option<Vec<PortNumber>> {
    let mut found = Vec::new();
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("Datapath actions: "));
    if lines.clone().any(|line| line.contains("recirc(")) {
        return None;
    }
    lines.by_ref().for_each(|line| read(line, ports, &mut found));
    found.sort_unstable();
    Some(found)
}

fn read(actions: &str, ports: PortNumber, found: &mut Vec<PortNumber>) {
    let (mut depth, mut start) = (0, 0);
    let mut parts = Vec::new();
    for (at, letter) in actions.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&actions[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&actions[start..]);
    for part in parts {
        if let Ok(number) = part.parse::<PortNumber>() {
            // Bridges share a datapath, each with as many of its numbers; their own are above.
            let is_own = number >= 100;
            found.push(if is_own { port::LOCAL } else { (number - 1) % ports + 1 });
        } else if let Some(inside) = part.strip_prefix("clone(") {
            read(inside.strip_suffix(')').unwrap_or(inside), ports, found);
        } else if part.starts_with("userspace(") {
            found.push(port::CONTROLLER);
        }
    }
}

/// Where the first object of JSON ends, if it does.
pub(crate) fn object_length(bytes: &[u8]) -> Option<usize> {
    let (mut depth, mut is_text, mut is_escaped) = (0, false, false);
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            b'{' if !is_text => depth += 1,
            b'}' if !is_text => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

#[test]
fn a_verdict_is_read() {
    let said = |text: &str| verdict(&format!("Megaflow: x\nDatapath actions: {text}\n"), 4);
    assert_eq!(said("drop"), Some(vec![]));
    assert_eq!(said("hash(sym_l4(0)),recirc(0x861)"), None);
    let all = "set(ipv4(tos=0x10/0xfc)),6,clone(push_vlan(vid=5,pcp=0),7),101,userspace(pid=0,controller(reason=1))";
    assert_eq!(said(all), Some(vec![2, 3, port::CONTROLLER, port::LOCAL]));
    assert_eq!(object_length(br#"{"id":1,"result":"a}\"b"}{"#), Some(25));
}
