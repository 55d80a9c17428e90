//! Bits that have names: states of connections, flags of TCP.

/// Of `ct_state`, from the lowest bit on.
const STATES: &[&str] = &["new", "est", "rel", "rpl", "inv", "trk", "snat", "dnat"];
/// Of TCP.
const TCP: &[&str] = &["fin", "syn", "rst", "psh", "ack", "urg", "ece", "cwr", "ns"];

fn names(value: u128, names: &[&str]) -> String {
    let mut words: Vec<String> = Vec::new();
    for bit in (0..16).filter(|bit| value >> bit & 1 != 0) {
        words.push(names.get(bit).map_or_else(|| format!("[{}]", 1 << bit), |&it| it.to_owned()));
    }
    if words.is_empty() { "0".to_owned() } else { words.join("|") }
}

fn signed(value: u128, mask: u128, names: &[&str]) -> String {
    let mut text = String::new();
    for bit in (0..16).filter(|bit| mask >> bit & 1 != 0) {
        text.push(if value >> bit & 1 != 0 { '+' } else { '-' });
        match names.get(bit) {
            Some(name) => text.push_str(name),
            None => text.push_str(&format!("[{}]", 1 << bit)),
        }
    }
    text
}

/// A state of connection tracking, whole.
pub fn state_words(state: u8) -> String {
    names(state.into(), STATES)
}

/// The same under a mask.
pub(super) fn state(value: u128, mask: u128) -> String {
    if mask & 0xff == 0xff { names(value, STATES) } else { signed(value, mask, STATES) }
}

/// Every bit of a state that a mask has, set or not.
pub(super) fn signed_state(value: u128, mask: u128) -> String {
    signed(value, mask, STATES)
}

/// Flags of TCP under a mask.
pub(super) fn tcp(value: u128, mask: u128) -> String {
    if mask == 0xfff { names(value, TCP) } else { signed(value, mask, TCP) }
}

fn read(text: &str, names: &[&str], kind: &str) -> Result<u128, String> {
    let words = text.split([',', '|', '+', ' ']).filter(|word| !word.is_empty());
    let mut value = 0;
    for word in words {
        let at = names.iter().position(|name| *name == word);
        let at = at.ok_or_else(|| format!("{word}: unknown {kind}"))?;
        value |= 1 << at;
    }
    Ok(value)
}

/// States as `--ct-next` names them.
pub fn read_ct_state(text: &str) -> Result<u8, String> {
    let state = read(text, STATES, "connection tracking state flag")? as u8;
    let has = |bits: u8| state & bits != 0;
    let wrong = [
        (has(!0x20) && !has(0x20), "If \"trk\" is unset, no other flags are set"),
        (has(0x10) && has(!0x30), "when \"inv\" is set, only \"trk\" may also be set"),
        (has(1) && has(2), "\"new\" and \"est\" are mutually exclusive"),
        (has(1) && has(8), "\"new\" and \"rpy\" are mutually exclusive"),
    ];
    let told = wrong.iter().filter(|(is_so, _)| *is_so);
    let told =
        told.map(|(_, why)| format!("{}: invalid connection state: {why}", state_words(state)));
    let told: Vec<String> = told.collect();
    if told.is_empty() { Ok(state) } else { Err(told.join("\n")) }
}

/// A whole state of a flow's.
pub(super) fn read_state(text: &str) -> Result<u128, String> {
    read(text, STATES, "connection tracking state flag")
}

/// Flags of TCP, by their names or as a number.
pub(super) fn read_tcp(text: &str) -> Result<u128, String> {
    read(text, TCP, "TCP flag(s)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_told_and_read() {
        assert_eq!(state_words(0x21), "new|trk");
        assert_eq!((state(0x20, 0x21), state(0, 0xff)), ("-new+trk".to_owned(), "0".to_owned()));
        assert_eq!(read_ct_state("trk,est"), Ok(0x22));
        let why = "foo: unknown connection tracking state flag";
        assert_eq!(read_ct_state("trk,foo"), Err(why.to_owned()));
        assert!(read_ct_state("new").is_err());
        assert_eq!((tcp(2, 0xfff), tcp(2, 0x12)), ("syn".to_owned(), "+syn-ack".to_owned()));
        assert_eq!(read_tcp("syn|ack"), Ok(0x12));
    }
}
