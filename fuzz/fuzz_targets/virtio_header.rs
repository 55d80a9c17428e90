//! What a peer says of a frame's offloads, in front of any frame: none may panic, and what is taken
//! for a large frame is cut into packets that carry all of it, by headers that are read anew, and
//! that are the same packets when they were put together again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sockets::virtio::{Came, HEADER_BYTES, take_in, take_in_pieces, told_of};
use wire::cut::{Cut, Merge};

fuzz_target!(|bytes: &[u8]| {
    let Some((header, rest)) = bytes.split_first_chunk::<HEADER_BYTES>() else { return };
    let Some((&shift, frame)) = rest.split_first() else { return };
    let mut frame = frame.to_vec();
    // Frames as long as they come, out of few bytes.
    if shift & 0x80 != 0 {
        frame.resize(frame.len() + usize::from(shift & 0x7f) * 512, shift);
    }
    let before = frame.len();
    let _ = take_in_pieces(u16::from_ne_bytes([header[4], header[5]]), &mut frame.clone());
    let came = take_in(header, &mut frame, usize::from(shift & 7));
    assert_eq!(frame.len(), before);
    let Some(Came::Large(cut)) = came else { return };
    let size = u16::from_ne_bytes([header[4], header[5]]);
    let again = Cut::new(&frame, Some(cut.transport_at()), size.into()).expect("as it was");
    assert_eq!((again.packets(), again.longest()), (cut.packets(), cut.longest()));
    let (mut carried, mut room) = (0, vec![0; cut.longest()]);
    let mut packets = Vec::new();
    for number in 0..cut.packets() {
        let length = cut.write(&frame, number, &mut room).expect("there is such a packet");
        carried += length - cut.payload_at();
        // Each is a packet that needs no more cutting.
        let one = Cut::new(&room[..length], Some(cut.transport_at()), size.into());
        assert_eq!(one.map(|one| one.packets()), Some(1));
        packets.push(room[..length].to_vec());
    }
    assert_eq!(carried, frame.len() - cut.payload_at());
    if cut.is_plain() {
        let told = told_of(&cut, &frame);
        assert!(matches!(take_in(&told, &mut frame, 0), Some(Came::Large(_))));
    }
    put_together(&packets);
});

/// What packets are put together into is cut into them again.
fn put_together(packets: &[Vec<u8>]) {
    let Some(first) = packets.first() else { return };
    let Some(mut merge) = Merge::begin(first) else { return };
    let mut room = first.clone();
    room.resize(1 << 17, 0);
    for next in &packets[1..] {
        let follows = merge.is_followed_by(first, next) && merge.is_right(next);
        if !follows || !merge.append(&mut room, next) {
            break;
        }
    }
    let count = merge.packets();
    room.truncate(merge.length());
    let cut = merge.finish(&mut room);
    let mut again = vec![0; cut.longest()];
    for (number, packet) in packets[..count].iter().enumerate() {
        let length = cut.write(&room, number, &mut again).expect("there is such a packet");
        assert!(again[..length] == packet[..]);
    }
}
