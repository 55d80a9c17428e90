//! What a peer says of a frame's offloads, in front of any frame: none may panic, and what is taken
//! for a large frame is cut into packets that carry all of it, by headers that are read anew.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sockets::virtio::{Came, HEADER_BYTES, take_in, told_of};
use wire::cut::Cut;

fuzz_target!(|bytes: &[u8]| {
    let Some((header, rest)) = bytes.split_first_chunk::<HEADER_BYTES>() else { return };
    let Some((&shift, frame)) = rest.split_first() else { return };
    let mut frame = frame.to_vec();
    // Frames as long as they come, out of few bytes.
    if shift & 0x80 != 0 {
        frame.resize(frame.len() + usize::from(shift & 0x7f) * 512, shift);
    }
    let before = frame.len();
    let came = take_in(header, &mut frame, usize::from(shift & 7));
    assert_eq!(frame.len(), before);
    let Some(Came::Large(cut)) = came else { return };
    let size = u16::from_ne_bytes([header[4], header[5]]);
    let again = Cut::new(&frame, Some(cut.transport_at()), size.into()).expect("as it was");
    assert_eq!((again.packets(), again.longest()), (cut.packets(), cut.longest()));
    let (mut carried, mut room) = (0, vec![0; cut.longest()]);
    for number in 0..cut.packets() {
        let length = cut.write(&frame, number, &mut room).expect("there is such a packet");
        carried += length - cut.payload_at();
        // Each is a packet that needs no more cutting.
        let one = Cut::new(&room[..length], Some(cut.transport_at()), size.into());
        assert_eq!(one.map(|one| one.packets()), Some(1));
    }
    assert_eq!(carried, frame.len() - cut.payload_at());
    if cut.is_plain() {
        let told = told_of(&cut, &frame, size);
        assert!(matches!(take_in(&told, &mut frame, 0), Some(Came::Large(_))));
    }
});
