use super::*;

const MOST: usize = 3;

fn arp(interface: u16, is_reply: bool) -> Punt {
    Punt::Arp(ArpHeard {
        interface,
        address: 1,
        mac: [2; 6],
        is_reply,
        is_gratuitous: false,
        is_for_us: true,
    })
}

#[test]
fn a_flood_on_one_interface_leaves_others_their_share_of_a_lane() {
    let (path, punts) = slow_path(MOST, Arc::new(|| ()));
    let told =
        |interface| (0..MOST * 20).filter(|_| path.tell(arp(interface, true)).is_ok()).count();
    assert_eq!((told(1), told(2)), (MOST, MOST));
    assert!(punts.next().is_some());
    assert_eq!(told(1), 1, "what was heard makes room");
}

#[test]
fn answers_have_a_lane_of_their_own_and_are_heard_first() {
    let (path, punts) = slow_path(MOST, Arc::new(|| ()));
    while path.tell(arp(1, false)).is_ok() {}
    path.tell(arp(1, true)).unwrap();
    assert!(matches!(punts.next(), Some(Punt::Arp(heard)) if heard.is_reply));
    assert!(matches!(punts.next(), Some(Punt::Arp(heard)) if !heard.is_reply));
}

#[test]
fn a_lane_is_bounded_however_many_interfaces_fill_it() {
    let (path, punts) = slow_path(MOST, Arc::new(|| ()));
    let told = (0..200).filter(|it| path.tell(arp(*it, true)).is_ok()).count();
    assert_eq!(told, MOST * 16);
    assert_eq!(std::iter::from_fn(|| punts.next()).count(), told);
    assert!((0..200).all(|it| path.tell(arp(it % 16, true)).is_ok() == (it < 48)));
}

#[test]
fn what_is_injected_is_counted_until_the_worker_takes_it() {
    let (injector, queue) = Injector::new(4);
    let fence = || Injected::Fence(Arc::default());
    assert!(injector.has_room());
    (0..4).for_each(|_| injector.send(fence()).unwrap());
    assert!(injector.send(fence()).is_err() && !injector.has_room());
    (0..3).for_each(|_| drop(queue.next().unwrap()));
    assert!(injector.has_room());
}
