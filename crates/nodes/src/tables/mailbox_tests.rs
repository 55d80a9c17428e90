//! Letters. Their interleavings are tried one by one in the crate `faults`.

use crate::tables::mailbox::Mailbox;

#[test]
fn letters_are_read_in_the_order_in_which_they_were_written() {
    let (mailbox, mut held) = (Mailbox::default(), vec![(1, 'a'), (2, 'b')]);
    mailbox.add((1, 'c'));
    mailbox.ask_back(1);
    mailbox.add((1, 'd'));
    assert!(!mailbox.is_read());
    mailbox.read(&mut held, |item: &(u16, char)| item.0);
    assert_eq!(held, [(2, 'b'), (1, 'd')]);
    assert_eq!(mailbox.take_returned(), [(1, 'a'), (1, 'c')]);
    assert!(mailbox.is_read() && mailbox.take_returned().is_empty());
}
