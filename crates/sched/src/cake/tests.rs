//! What CAKE promises, in virtual time: the rate, shares of tins, hosts and flows, and which
//! acknowledgements it leaves out.

use super::{CakeShape, Isolation, Tins};
use crate::testing::Bench;
use crate::units::{Rate, Size};
use crate::{ClassId, Config, DropReason, Hosts, LinkLayer, Next, Offer, Packet, Shape};

const MBIT: u64 = 1_000_000;
const S: u64 = 1_000_000_000;

fn cake(mbit: u64, change: impl FnOnce(&mut CakeShape)) -> Bench {
    let mut shape = CakeShape { bandwidth: Some(Rate(mbit * MBIT)), ..Default::default() };
    change(&mut shape);
    Bench::new(shape.into())
}

/// A flow that always has packets: its number is its handle.
fn flow(number: u64, source: u32, destination: u32, code_point: u8) -> Packet<u64> {
    let offer = Offer { hosts: Hosts { source, destination }, pure_ack: None };
    Packet { code_point, offer, ..Packet::new(number, 1000, 7919 * number as u32 + 1) }
}

/// Bytes that each of the flows got in so long, five packets of each waiting at any time.
fn shares(bench: &mut Bench, flows: &[Packet<u64>], time_ns: u64) -> Vec<u64> {
    for flow in flows {
        (0..5).for_each(|_| _ = bench.offer_packet(0, *flow));
    }
    let (mut now_ns, mut got) = (0, vec![0; flows.len()]);
    while now_ns < time_ns {
        match bench.dequeue(now_ns) {
            Next::Packet(sent) => {
                let of = flows.iter().position(|flow| flow.handle == sent.handle).unwrap();
                got[of] += u64::from(sent.length_bytes);
                bench.offer_packet(now_ns, flows[of]);
            }
            Next::Wait(until_ns) => {
                assert!(until_ns > now_ns, "a wait lies in the future");
                now_ns = until_ns;
            }
            Next::Empty => panic!("empty while packets wait"),
        }
        for dropped in bench.dropped.drain(..).map(|it| it.handle).collect::<Vec<_>>() {
            let again = flows.iter().find(|flow| flow.handle == dropped).unwrap();
            bench.offer_packet(now_ns, *again);
        }
    }
    got
}

fn within(got: u64, wanted: u64, percent: u64) -> bool {
    got.abs_diff(wanted) * 100 <= wanted * percent
}

#[test]
fn the_rate_has_no_burst_and_idle_time_is_worth_nothing() {
    let mut bench = cake(8, |_| {});
    for start_ns in [0, 5 * S] {
        for handle in 0..3 {
            bench.offer(start_ns, handle, 1000, 1);
        }
        assert_eq!(bench.take_all(start_ns), [0]);
        assert_eq!(bench.dequeue(start_ns), Next::Wait(start_ns + 1_000_000));
        assert_eq!(bench.take_all(start_ns + 1_000_000), [1]);
        assert_eq!(bench.take_all(start_ns + 2_000_000), [2]);
    }
}

#[test]
fn the_rate_holds_to_a_packet_over_ten_seconds() {
    let mut bench = cake(3, |_| {});
    let got: u64 = shares(&mut bench, &[flow(1, 1, 1, 0), flow(2, 2, 2, 0)], 10 * S).iter().sum();
    assert!(got.abs_diff(3_750_000) <= 1000, "{got}");
}

#[test]
fn a_late_worker_makes_good_for_20_ms_and_no_more() {
    let mut bench = cake(8, |_| {});
    for handle in 0..100 {
        bench.offer(0, handle, 1000, 1);
    }
    assert_eq!(bench.take_all(S).len(), 21);
}

#[test]
fn what_the_link_makes_of_a_frame_is_paid_for() {
    let mut bench = cake(8, |set| (set.overhead, set.linklayer) = (8, LinkLayer::Atm));
    (0..2).for_each(|handle| _ = bench.offer(0, handle, 1000, 0));
    assert_eq!(bench.take_all(0), [0]);
    // 1008 bytes are 21 cells of 53.
    assert_eq!(bench.dequeue(0), Next::Wait(1_113_000));
    let mut bench = cake(8, |set| (set.overhead, set.mpu) = (4, 64));
    (0..2).for_each(|handle| _ = bench.offer(0, handle, 20, 0));
    assert_eq!(bench.take_all(0), [0]);
    assert_eq!(bench.dequeue(0), Next::Wait(64_000));
}

#[test]
fn hosts_get_the_same_however_many_flows_they_have() {
    // Source 1 has nine flows, source 2 one; all go to a host of their own.
    let flows: Vec<_> =
        (0..10).map(|it| flow(it, 1 + u32::from(it == 9), it as u32 + 50, 0)).collect();
    for (isolation, of_the_one) in [
        (Isolation::Flows, 10),
        (Isolation::DualSrchost, 50),
        (Isolation::TripleIsolate, 50),
        (Isolation::DualDsthost, 10),
        (Isolation::Srchost, 50),
    ] {
        let mut bench = cake(16, |set| set.isolation = isolation);
        let got = shares(&mut bench, &flows, 4 * S);
        let (one, all) = (got[9], got.iter().sum::<u64>());
        assert!(within(one, all * of_the_one / 100, 5), "{isolation}: {one} of {all}");
        if isolation != Isolation::Srchost {
            assert!(
                got[..9].iter().all(|&it| within(it, (all - one) / 9, 10)),
                "{isolation}: {got:?}"
            );
        }
    }
}

#[test]
fn the_other_end_is_looked_at_too() {
    // Everything comes from one server: whom it is for decides.
    let flows: Vec<_> = (0..10).map(|it| flow(it, 1, 1 + u32::from(it == 9), 0)).collect();
    for (isolation, of_the_one) in [(Isolation::DualDsthost, 50), (Isolation::DualSrchost, 10)] {
        let mut bench = cake(16, |set| set.isolation = isolation);
        let got = shares(&mut bench, &flows, 4 * S);
        let all = got.iter().sum::<u64>();
        assert!(within(got[9], all * of_the_one / 100, 5), "{isolation}: {got:?}");
    }
}

#[test]
fn a_tin_within_its_share_goes_first_and_one_beyond_it_takes_what_is_left() {
    let (best, background, voice) = (flow(1, 1, 1, 0), flow(2, 2, 2, 8), flow(3, 3, 3, 46));
    let mut bench = cake(16, |set| set.tins = Tins::Diffserv3);
    let got = shares(&mut bench, &[best, background, voice], 4 * S);
    // 16 Mbit/s for 4 s are 8,000,000 bytes: a sixteenth and a quarter, and the rest.
    assert!(within(got[1], 500_000, 3) && within(got[2], 2_000_000, 3), "{got:?}");
    assert!(within(got[0], 5_500_000, 3), "{got:?}");
    // What nobody else wants, anybody has.
    for alone in [best, background, voice] {
        let mut bench = cake(16, |set| set.tins = Tins::Diffserv3);
        let got = shares(&mut bench, &[alone], S);
        assert!(within(got[0], 2_000_000, 1), "{got:?}");
    }
    let mut bench = cake(16, |set| set.tins = Tins::Besteffort);
    let got = shares(&mut bench, &[best, background, voice], 3 * S);
    assert!(got.iter().all(|&it| within(it, 2_000_000, 2)), "{got:?}");
}

#[test]
fn a_packet_of_voice_waits_for_one_frame_at_most() {
    let mut bench = cake(8, |set| set.tins = Tins::Diffserv4);
    for handle in 0..50 {
        bench.offer(0, handle, 1000, 1);
    }
    assert_eq!(bench.take_all(0), [0]);
    bench.offer_packet(500_000, flow(99, 9, 9, 46));
    assert_eq!(bench.take_all(1_000_000), [99]);
}

#[test]
fn without_a_rate_tins_take_turns_by_their_shares() {
    let mut shape = CakeShape { tins: Tins::Diffserv3, ..Default::default() };
    shape.memory_limit = Some(Size(8 << 20));
    let mut bench = Bench::new(shape.into());
    let flows = [flow(1, 1, 1, 0), flow(2, 2, 2, 8), flow(3, 3, 3, 46)];
    for flow in &flows {
        (0..2000).for_each(|_| _ = bench.offer_packet(0, *flow));
    }
    let mut got = [0u64; 3];
    for _ in 0..2100 {
        got[bench.take_one(0).unwrap() as usize - 1] += 1;
    }
    // 16 : 1 : 4.
    assert!(
        within(got[0], 1600, 3) && within(got[1], 100, 20) && within(got[2], 400, 5),
        "{got:?}"
    );
    assert_eq!(bench.take_all(0).len(), 3900);
    assert_eq!(bench.dequeue(0), Next::Empty);
}

#[test]
fn a_filter_may_name_a_tin() {
    let shape = CakeShape {
        handle: Some(ClassId::new(1, 0)),
        bandwidth: Some(Rate(8 * MBIT)),
        ..Default::default()
    };
    let mut bench = Bench::new(shape.into());
    let of = |handle, class: &str| flow(handle, 1, 1, 0).in_class(class.parse().unwrap());
    let sent = |bench: &mut Bench, packet: Packet<u64>| {
        bench.offer_packet(0, packet);
        let report = bench.report();
        report.children.iter().position(|tin| tin.backlog.packets != 0).unwrap()
    };
    assert_eq!(sent(&mut bench, of(1, "1:3")), 2);
    bench.take_all(S);
    // No tin of its own, and one of something else above it.
    for other in ["1:4", "2:3"] {
        bench.offer_packet(2 * S, of(2, other));
        assert_eq!(bench.report().children[0].backlog.packets, 1, "{other}");
        bench.take_all(4 * S);
    }
}

#[test]
fn senders_hear_of_a_queue_that_stands_by_marks_or_by_drops() {
    for ecn_capable in [true, false] {
        let mut bench = cake(8, |_| {});
        let packet = Packet { ecn_capable, ..flow(1, 1, 1, 0) };
        (0..400).for_each(|_| _ = bench.offer_packet(0, packet));
        let sent: usize = (0..400).map(|ms| bench.take_all(ms * 1_000_000).len()).sum();
        let (marked, dropped) = (bench.marked.len(), bench.dropped.len());
        assert_eq!(sent + dropped + bench.waiting() as usize, 400);
        assert_eq!((marked > 0, dropped > 0), (ecn_capable, !ecn_capable));
        assert!(bench.dropped.iter().all(|it| it.reason == DropReason::Delay));
    }
}

#[test]
fn a_flood_drops_its_own_packets() {
    let mut bench = cake(8, |set| set.memory_limit = Some(Size(100_000)));
    bench.offer_packet(0, flow(1, 1, 1, 0));
    bench.offer_packet(0, flow(2, 2, 2, 46));
    (3..1003).for_each(|handle| {
        _ = bench.offer_packet(0, Packet { handle, length_bytes: 1500, ..flow(3, 3, 3, 0) })
    });
    assert!(bench.report().backlog.bytes <= 100_000);
    assert!(bench.dropped.iter().all(|it| it.handle > 2 && it.reason == DropReason::LongestQueue));
    assert!(bench.take_all(10 * S).starts_with(&[2, 1]));
    assert!(bench.report().gauge_value("drop_overmemory") > Some(0));
}

fn ack(handle: u64, number: u32) -> Packet<u64> {
    let offer = Offer { pure_ack: Some(number), ..Offer::default() };
    Packet { offer, ..Packet::new(handle, 66, 5) }
}

#[test]
fn a_later_acknowledgement_takes_the_place_of_the_one_before() {
    let mut bench = cake(1, |set| set.ack_filter = true);
    bench.offer_packet(0, flow(1, 1, 1, 0));
    assert_eq!(bench.take_all(0), [1]);
    for (handle, number) in [(10, u32::MAX - 9), (11, 90), (12, 190)] {
        bench.offer_packet(0, ack(handle, number));
    }
    bench.offer_packet(0, flow(2, 1, 1, 0));
    assert_eq!(bench.dropped_handles(), [10, 11]);
    assert!(bench.dropped.iter().all(|it| it.reason == DropReason::Acknowledged));
    assert_eq!((bench.waiting(), bench.report().backlog.bytes), (2, 1066));
    assert_eq!(bench.report().gauge_value("ack_drops"), Some(2));
    assert_eq!(bench.take_all(S), [12, 2], "it stands where the first one stood");
    assert_eq!(bench.report().backlog.bytes, 0);
    // The one that went is no more in the way.
    bench.offer_packet(2 * S, ack(13, 290));
    assert_eq!(bench.take_all(3 * S), [13]);
}

#[test]
fn what_says_something_of_its_own_stays() {
    let data = Packet::new(20, 1000, 5);
    // Twice the same number tells of a loss; an earlier one came late; data goes between; another
    // flow is another's.
    let cases: [&[Packet<u64>]; 4] = [
        &[ack(10, 100), ack(11, 100)],
        &[ack(10, 100), ack(11, 99)],
        &[ack(10, 100), data, ack(11, 200)],
        &[ack(10, 100), Packet { flow_hash: 6, ..ack(11, 200) }],
    ];
    for packets in cases {
        let mut bench = cake(1, |set| set.ack_filter = true);
        packets.iter().for_each(|packet| _ = bench.offer_packet(0, *packet));
        assert!(bench.dropped.is_empty(), "{packets:?}");
        assert_eq!(bench.take_all(S).len(), packets.len());
    }
    let mut bench = cake(1, |_| {});
    [ack(10, 100), ack(11, 200)].iter().for_each(|it| _ = bench.offer_packet(0, *it));
    assert_eq!(bench.take_all(S).len(), 2, "nothing is left out unless it is asked for");
}

#[test]
fn packets_move_over_when_it_is_changed() {
    let mut bench = cake(8, |_| {});
    for number in 0..40 {
        bench.offer_packet(0, flow(number, number as u32 % 3, 1, [0, 8, 46][number as usize % 3]));
    }
    let changed = CakeShape { tins: Tins::Diffserv8, ..Default::default() };
    assert_eq!(bench.replace(0, &Config::of(changed.into())).kept, 40);
    assert_eq!(bench.take_all(0).len(), 40);
}

#[test]
fn as_tc_writes_it() {
    let lines = "qdisc add dev p2 root handle 1: cake bandwidth 50mbit diffserv4 dual-srchost \
                 ack-filter rtt 50ms atm overhead 22 memlimit 1mb";
    let ports = crate::tc::read(lines).unwrap_or_else(|errors| panic!("{errors:?}"));
    let [(_, Some(config))] = &ports[..] else { panic!("{ports:?}") };
    let Shape::Cake(cake) = &config.root else { panic!("{:?}", config.root) };
    assert_eq!(
        *cake,
        CakeShape {
            handle: Some(ClassId::new(1, 0)),
            bandwidth: Some(Rate(50 * MBIT)),
            tins: Tins::Diffserv4,
            isolation: Isolation::DualSrchost,
            ack_filter: true,
            rtt: crate::units::Time(50_000_000),
            overhead: 8,
            linklayer: LinkLayer::Atm,
            memory_limit: Some(Size(1 << 20)),
            ..Default::default()
        }
    );
    let shown = Bench::with(config).report().settings;
    assert_eq!(
        shown,
        "bandwidth 50Mbit diffserv4 dual-srchost nonat nowash ack-filter split-gso rtt 50ms atm \
         overhead 22 memlimit 1Mb"
    );
    // What it shows it reads again.
    let again = crate::tc::read(&format!("qdisc add dev p2 root handle 1: cake {shown}")).unwrap();
    assert_eq!(again, ports);
    for (line, overhead, mpu) in [("docsis", 4, 64), ("ethernet", 24, 84), ("raw", 0, 0)] {
        let ports = crate::tc::read(&format!("qdisc add dev p2 root cake {line}")).unwrap();
        let [(_, Some(config))] = &ports[..] else { panic!("{ports:?}") };
        let Shape::Cake(cake) = &config.root else { panic!("{:?}", config.root) };
        assert_eq!((cake.overhead, cake.mpu, cake.bandwidth), (overhead, mpu, None), "{line}");
    }
    for refused in ["nat", "wash", "ingress", "overhead 8", "diffserv5", "bandwidth"] {
        let line = format!("qdisc add dev p2 root cake {refused}");
        assert!(crate::tc::read(&line).is_err(), "{refused}");
    }
}
