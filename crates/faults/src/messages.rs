//! OpenFlow that a controller may say: flows of 1.0, packets, questions, and bytes that are none.

use crate::chance::Chance;
use crate::hosts::Host;

const VERSION: u8 = 1;
/// All fields are left out: those that a match names are taken from it.
const ANYTHING: u32 = 0x3f_ffff;
/// Ports that are no numbers: back, normal, all others, all, controllers, our own.
const SPECIAL: [u16; 6] = [0xfff8, 0xfffa, 0xfffb, 0xfffc, 0xfffd, 0xfffe];

/// A message, and what it is in words.
pub(crate) fn message(chance: &mut Chance, host: &Host) -> (&'static str, Vec<u8>) {
    match chance.below(12) {
        0..7 => ("a flow", flow(chance, host)),
        7 => ("flows go", whole(14, &delete(chance))),
        8 => ("a packet", packet(chance, host)),
        9 => ("what are the flows?", whole(16, &stats(1))),
        10 => {
            ("what are the ports?", whole(16, &[&[0, 4, 0, 0], &[0xff; 2][..], &[0; 6]].concat()))
        }
        _ => {
            let (kind, body) = (chance.byte(), (0..chance.below(90)).map(|_| chance.byte()));
            ("bytes", whole(kind, &body.collect::<Vec<_>>()))
        }
    }
}

/// The greeting.
pub(crate) fn greeting() -> Vec<u8> {
    whole(0, &[])
}

fn whole(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = (8 + body.len()) as u16;
    [&[VERSION, kind][..], &length.to_be_bytes(), &[0, 0, 0, 7], body].concat()
}

/// Of all packets, or of those with some fields.
fn matching(chance: &mut Chance, host: &Host) -> Vec<u8> {
    let mut wildcards = ANYTHING;
    let mut take = |chance: &mut Chance, bits: u32| {
        let takes = chance.one_in(3);
        wildcards &= if takes { !bits } else { u32::MAX };
        takes
    };
    let in_port = if take(chance, 1) { port(chance) } else { 0 };
    let source = if take(chance, 4) { host.mac } else { [0; 6] };
    let target = if take(chance, 8) { [6, 0, 0, 0, 0, chance.below(40) as u8] } else { [0; 6] };
    let vlan = if take(chance, 2) { *chance.pick(&[7, 8, 0xffff]) } else { 0_u16 };
    let kind = if take(chance, 0x10) { *chance.pick(&[0x0800, 0x0806, 0x86dd]) } else { 0_u16 };
    let to = if take(chance, 0x3f << 14) { [10, 12, 0, chance.byte()] } else { [0; 4] };
    let mut bytes = wildcards.to_be_bytes().to_vec();
    bytes.extend(in_port.to_be_bytes());
    bytes.extend(source);
    bytes.extend(target);
    bytes.extend(vlan.to_be_bytes());
    bytes.extend([0, 0]);
    bytes.extend(kind.to_be_bytes());
    // Class, protocol, sender.
    bytes.extend([0; 8]);
    bytes.extend(to);
    bytes.extend([0; 4]);
    bytes
}

fn port(chance: &mut Chance) -> u16 {
    if chance.one_in(3) { *chance.pick(&SPECIAL) } else { *chance.pick(&[1, 2, 3, 7]) }
}

fn actions(chance: &mut Chance, host: &Host) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..chance.below(5) {
        match chance.below(8) {
            0 => bytes.extend([0, 1, 0, 8, 0, 7, 0, 0]),
            1 => bytes.extend([0, 3, 0, 8, 0, 0, 0, 0]),
            2 => {
                bytes.extend([0, 5, 0, 16]);
                bytes.extend(host.mac);
                bytes.extend([0; 6]);
            }
            3 => bytes.extend([0, 7, 0, 8, 10, 12, 0, chance.byte()]),
            _ => {
                bytes.extend([0, 0, 0, 8]);
                bytes.extend(port(chance).to_be_bytes());
                bytes.extend([0, 64]);
            }
        }
    }
    bytes
}

fn flow(chance: &mut Chance, host: &Host) -> Vec<u8> {
    let mut body = matching(chance, host);
    let cookie = u64::from(chance.byte());
    // Added or changed; for some seconds, or as long as it is used, or for good.
    let command = *chance.pick(&[0, 0, 0, 1, 2]);
    let times = *chance.pick(&[[0, 0], [1, 0], [0, 2]]);
    body.extend(cookie.to_be_bytes());
    for word in [command, times[0], times[1], *chance.pick(&[1, 100, 0x8000_u16])] {
        body.extend(word.to_be_bytes());
    }
    body.extend([0xff; 4]);
    // Any port; tells when it goes, perhaps.
    body.extend([0xff, 0xff, 0, chance.below(2) as u8]);
    body.extend(actions(chance, host));
    whole(14, &body)
}

fn delete(chance: &mut Chance) -> Vec<u8> {
    let mut body = ANYTHING.to_be_bytes().to_vec();
    body.extend([0; 36]);
    body.extend([0; 8]);
    let command: u16 = *chance.pick(&[3, 4]);
    body.extend(command.to_be_bytes());
    body.extend([0; 6]);
    body.extend([0xff; 4]);
    let out = if chance.one_in(2) { 0xffff } else { port(chance) };
    body.extend(out.to_be_bytes());
    body.extend([0, 0]);
    body
}

fn packet(chance: &mut Chance, host: &Host) -> Vec<u8> {
    let actions = actions(chance, host);
    let mut body = vec![0xff; 4];
    body.extend(port(chance).to_be_bytes());
    body.extend((actions.len() as u16).to_be_bytes());
    body.extend(actions);
    let station = [6, 0, 0, 0, 0, chance.below(40) as u8];
    body.extend(
        wire::craft::ethernet(host.mac, station).ipv4(host.ip4, [10, 12, 0, 9]).udp(1, 2).build(),
    );
    whole(13, &body)
}

fn stats(kind: u8) -> Vec<u8> {
    let mut body = vec![0, kind, 0, 0];
    body.extend(ANYTHING.to_be_bytes());
    body.extend([0; 36]);
    // Of all tables, to any port.
    body.extend([0xff, 0, 0xff, 0xff]);
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_messages_are_understood_and_all_say_how_long_they_are() {
        let (mut chance, host) = (Chance::Seed(1), Host::new(2, 9));
        for _ in 0..2000 {
            let (what, message) = message(&mut chance, &host);
            let length = u16::from_be_bytes([message[2], message[3]]);
            assert_eq!(usize::from(length), message.len(), "{what}");
        }
        assert_eq!(matching(&mut chance, &host).len(), 40);
        assert_eq!((delete(&mut chance).len(), stats(1).len()), (64, 48));
    }
}
