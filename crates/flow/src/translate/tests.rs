use super::*;
use crate::extract::{extract, tests::udp};
use crate::groups::Group;
use crate::snapshot::PortEntry;
use crate::track::Tracked;
use openflow::action::{
    ClearActions, CloneActions, DecTtl, Enqueue, Exit, GotoTable, Meter, Output, Resubmit,
    SetField, SetQueue, SetVlan, WriteActions,
};
use openflow::message::Bucket;

fn world(flows: Vec<(u8, u16, Match, Program)>) -> Snapshot {
    let mut it = Snapshot::default();
    let port = PortEntry::all();
    it.ports = Arc::new((1..5).map(|number| (number, port)).collect());
    for (table, priority, matching, program) in flows {
        it.table_mut(table).flows.insert(Flow::new(table, priority, matching, program));
    }
    it
}

fn packet() -> Key {
    let mut key = Key::default();
    extract(&udp(7, 53), 1, &mut key);
    key
}

fn steps(flows: Vec<(u8, u16, Match, Program)>) -> Vec<Step> {
    translate(&world(flows), &packet()).steps.to_vec()
}

fn to(port: u16) -> Action {
    Output::to(port).into()
}

#[test]
fn tables_lead_to_tables_and_metadata_decides() {
    let reg = Match::any().with(Field::Reg0, 5);
    let flows = vec![
        (
            0,
            1,
            Match::any(),
            vec![SetField::whole(Field::Reg0, 5).into(), GotoTable { table: 3 }.into()],
        ),
        (3, 9, reg, vec![to(2)]),
        (3, 1, Match::any(), vec![to(3)]),
    ];
    let verdict = translate(&world(flows), &packet());
    assert_eq!(*verdict.steps, [Step::Output(2)]);
    // What a table wrote does not decide about packets.
    assert_eq!((verdict.mask.get(Field::Reg0), verdict.counters.len()), (0, 2));
}

#[test]
fn floods_leave_out_where_it_came_in_and_in_port_does_not() {
    let all = steps(vec![(0, 1, Match::any(), vec![to(port::FLOOD)])]);
    assert_eq!(all, [2, 3, 4].map(Step::Output));
    assert_eq!(steps(vec![(0, 1, Match::any(), vec![to(1)])]), []);
    assert_eq!(steps(vec![(0, 1, Match::any(), vec![to(port::IN_PORT)])]), [Step::Output(1)]);
}

#[test]
fn a_clone_changes_nothing_for_what_follows() {
    let set = SetField::whole(Field::UdpDst, 9);
    let inside = vec![set.into(), to(2)];
    let found =
        steps(vec![(0, 1, Match::any(), vec![CloneActions { actions: inside }.into(), to(3)])]);
    let back = Step::Set(Field::UdpDst, 53, 0xffff);
    assert_eq!(
        found,
        [Step::Set(Field::UdpDst, 9, 0xffff), Step::Output(2), back, Step::Output(3)]
    );
}

#[test]
fn the_action_set_takes_place_at_the_end_in_its_own_order() {
    let write = WriteActions { actions: vec![to(2), SetVlan::Vid(5).into(), to(3)] };
    let flows = vec![
        (0, 1, Match::any(), vec![write.clone().into(), GotoTable { table: 1 }.into()]),
        (1, 1, Match::any(), vec![to(4)]),
    ];
    let tag = [Step::PushVlan(0x8100, 0x1000), Step::Set(Field::VlanTci, 5, 0xefff)];
    let [push, set] = tag;
    assert_eq!(steps(flows), [Step::Output(4), push, set, Step::Output(3)]);
    assert_eq!(steps(vec![(0, 1, Match::any(), vec![write.into(), ClearActions.into()])]), []);
}

#[test]
fn resubmissions_end_and_exit_ends_all() {
    let again = Resubmit { port: None, table: None };
    let verdict =
        translate(&world(vec![(0, 1, Match::any(), vec![again.into(), to(2)])]), &packet());
    assert!(verdict.is_cut);
    let two = Resubmit { port: None, table: Some(2) };
    let flows = vec![
        (0, 1, Match::any(), vec![two.into(), to(2)]),
        (2, 1, Match::any(), vec![to(3), Exit.into(), to(4)]),
    ];
    assert_eq!(steps(flows), [Step::Output(3)]);
    let as_port = Resubmit { port: Some(4), table: Some(2) };
    let flows = vec![
        (0, 1, Match::any(), vec![as_port.into(), to(2)]),
        (2, 1, Match::any().with(Field::InPort, 4), vec![to(3)]),
    ];
    assert_eq!(steps(flows), [3, 2].map(Step::Output));
}

#[test]
fn a_packet_without_time_to_live_goes_to_controllers() {
    let dec = || Action::from(DecTtl { controllers: vec![] });
    let found = steps(vec![(0, 1, Match::any(), vec![dec(), to(2)])]);
    assert_eq!(found, [Step::Set(Field::IpTtl, 63, 0xff), Step::Output(2)]);
    let (mut key, flows) = (packet(), vec![(0, 1, Match::any(), vec![dec(), to(2)])]);
    key.set(Field::IpTtl, 1, 0xff);
    let verdict = translate(&world(flows), &key);
    let [Step::Tell(told)] = &*verdict.steps else { panic!("{:?}", verdict.steps) };
    assert!(matches!(**told, Told::Packet { reason: reason::INVALID_TTL, .. }));
    assert_eq!(verdict.mask.get(Field::IpTtl), 0xff);
}

#[test]
fn groups_send_to_all_one_or_the_first_alive() {
    let bucket = |id: u32, port: u16| Bucket {
        id,
        weight: 1,
        watch_port: port,
        watch_group: None,
        actions: vec![SetField::whole(Field::EthDst, id.into()).into(), to(port)],
    };
    let mut it =
        world(vec![(0, 1, Match::any(), vec![openflow::action::Group { group: 7 }.into()])]);
    let buckets = vec![bucket(0, 2), bucket(1, 3)];
    let set = |kind: GroupKind, it: &mut Snapshot| {
        let group = Arc::new(Group::new(kind, buckets.clone(), 0));
        it.groups = Arc::new([(7, group)].into());
    };
    let outputs = |it: &Snapshot, key: &Key| {
        let sent = |step: &Step| if let Step::Output(port) = step { Some(*port) } else { None };
        translate(it, key).steps.iter().filter_map(sent).collect::<Vec<_>>()
    };
    set(GroupKind::All, &mut it);
    assert_eq!(outputs(&it, &packet()), [2, 3]);
    // The second copy has the address that its own bucket says, the packet is whole before it.
    let steps = translate(&it, &packet()).steps.to_vec();
    assert!(matches!(steps[2], Step::Set(Field::EthDst, 0x0200_0000_0009, _)));
    set(GroupKind::FastFailover, &mut it);
    assert_eq!(outputs(&it, &packet()), [2]);
    Arc::make_mut(&mut it.ports).get_mut(&2).unwrap().is_live = false;
    assert_eq!(outputs(&it, &packet()), [3]);
    set(GroupKind::Select, &mut it);
    Arc::make_mut(&mut it.ports).get_mut(&2).unwrap().is_live = true;
    let (mut seen, mut key) = ([0; 5], packet());
    for port in 0..200 {
        key.set(Field::UdpDst, port, 0xffff);
        let [one] = outputs(&it, &key)[..] else { panic!() };
        seen[usize::from(one)] += 1;
        assert_eq!(outputs(&it, &key), [one]);
    }
    assert!(seen[2] > 50 && seen[3] > 50, "{seen:?}");
}

#[test]
fn what_is_set_for_nobody_is_not_done_and_meters_are() {
    let set = SetField::whole(Field::UdpDst, 9);
    assert_eq!(steps(vec![(0, 1, Match::any(), vec![to(2), set.into()])]), [Step::Output(2)]);
    assert_eq!(
        steps(vec![(0, 1, Match::any(), vec![Meter { meter: 3 }.into(), to(2)])]),
        [Step::Meter(3), Step::Output(2)]
    );
}

#[test]
fn whether_there_is_a_tag_decides_where_one_is_written() {
    let set = SetField { is_load: true, ..SetField::whole(Field::VlanTci, 0x1007) };
    let it = world(vec![(0, 1, Match::any(), vec![set.into(), to(2)])]);
    let (without, mut with) = (packet(), packet());
    with.set(Field::VlanTci, 0x1005, 0xffff);
    for (key, pushes) in [(without, true), (with, false)] {
        let verdict = translate(&it, &key);
        let first = verdict.steps.first();
        assert_eq!(matches!(first, Some(Step::PushVlan(..))), pushes, "{:?}", verdict.steps);
        assert_ne!(verdict.mask.get(Field::VlanTci) & 0x1000, 0);
    }
}

#[test]
fn samples_are_taken_where_somebody_collects_and_not_as_actions_of_sets() {
    use openflow::action::{Sample, sample};
    let sample = |set: u32, port: u16| Sample {
        probability: 9,
        set,
        domain: 1,
        point: 2,
        port,
        direction: sample::Direction::Egress,
        form: sample::Form::Third,
    };
    let steps = |actions: Vec<Action>| {
        let mut it = world(vec![(0, 1, Match::any(), actions)]);
        it.collectors = Arc::new([7].into());
        translate(&it, &packet()).steps.to_vec()
    };
    let ttl = Step::Set(Field::IpTtl, 9, 0xff);
    let set = SetField::whole(Field::IpTtl, 9);
    // What was done before is seen, and one that nothing comes behind is taken, too.
    let seen = steps(vec![set.into(), sample(7, 3).into()]);
    assert_eq!(seen, [ttl, Step::Sample(sample(7, 3))]);
    // Where it came in is nowhere else; of ports that are not there nothing is told.
    let here = steps(vec![sample(7, 1).into(), to(2)]);
    assert_eq!(here, [Step::Sample(sample(7, port::NONE)), Step::Output(2)]);
    assert_eq!(steps(vec![sample(7, 9).into(), to(2)]), [Step::Output(2)]);
    assert_eq!(steps(vec![sample(8, 3).into(), to(2)]), [Step::Output(2)]);
    let written = WriteActions { actions: vec![sample(7, 3).into(), to(2)] };
    assert_eq!(steps(vec![written.into()]), [Step::Output(2)]);
}

#[test]
fn a_queue_is_that_of_what_is_sent_until_there_is_another() {
    let set = |queue| Action::from(SetQueue { queue });
    let enqueue = Enqueue { port: 3, queue: 7 };
    let inside = vec![set(Some(9)), to(4)];
    let actions = vec![
        set(Some(1)),
        enqueue.into(),
        to(2),
        CloneActions { actions: inside }.into(),
        set(None),
        to(2),
    ];
    let queue = |queue| Step::Queue(queue);
    assert_eq!(
        steps(vec![(0, 1, Match::any(), actions)]),
        [
            queue(Some(1)),
            queue(Some(7)),
            Step::Output(3),
            queue(Some(1)),
            Step::Output(2),
            queue(Some(9)),
            Step::Output(4),
            queue(Some(1)),
            queue(None),
            Step::Output(2),
        ]
    );
}

/// `ct`, on in a table.
fn ct(table: Option<u8>, actions: Vec<Action>) -> Action {
    let zone = openflow::action::ct::Zone::Number(7);
    Ct { flags: 1, zone, table, helper: 0, actions }.into()
}

#[test]
fn a_packet_that_is_tracked_begins_again_with_what_tables_wrote_and_tracking_said() {
    let mark = SetField { field: Field::CtMark, value: 5, mask: 0xff, is_load: false };
    let reg = SetField::whole(Field::Reg1, 9);
    let est = Match::any().with(Field::Reg1, 9).with(Field::CtMark, 5);
    let mut inv = Match::any();
    inv.set(Field::CtState, 0x10, 0x10);
    let it = world(vec![
        (0, 1, Match::any(), vec![reg.into(), ct(Some(3), vec![mark.into()]), to(2)]),
        (3, 1, est.clone(), vec![to(3)]),
        (3, 9, inv, vec![to(4)]),
    ]);
    let verdict = translate(&it, &packet());
    let [Step::Track(track), Step::Recirculate(0, frozen), Step::Output(2)] = &*verdict.steps
    else {
        panic!("{:?}", verdict.steps)
    };
    assert_eq!((track.zone, track.commits, track.mark), (7, true, (5, 0xff)));
    // What no packet brings decides nothing.
    assert_eq!([16, 17, 18, 19, 8].map(|word| verdict.mask.words[word] & 0xff), [0xff, 0, 0, 0, 0]);
    let again = |state: u8, mark: u32| {
        let mut key = packet();
        key.begin_again(frozen, 77, &Tracked { state, zone: 7, mark, ..Tracked::default() });
        translate_again(&it, &key, frozen)
    };
    let verdict = again(0x22, 5);
    assert_eq!(*verdict.steps, [Step::Output(3)]);
    let seen = [Field::RecircId, Field::Reg1, Field::CtState, Field::CtMark];
    assert_eq!(seen.map(|field| verdict.mask.get(field)), [0xffff_ffff, 0, 0x10, 0xffff_ffff]);
    assert_eq!(*again(0x30, 5).steps, [Step::Output(4)]);
    assert_eq!(*again(0x22, 6).steps, []);
}

#[test]
fn a_table_that_tracks_its_own_packets_ends_somewhere() {
    let it = world(vec![(0, 1, Match::any(), vec![ct(Some(0), vec![])])]);
    let (mut key, mut verdict, mut times) = (packet(), translate(&it, &packet()), 0);
    while let Some(Step::Recirculate(_, frozen)) = verdict.steps.last() {
        let frozen = Arc::clone(frozen);
        key.begin_again(&frozen, 1, &Tracked::default());
        verdict = translate_again(&it, &key, &frozen);
        times += 1;
    }
    assert_eq!((times, verdict.is_cut, verdict.steps.len()), (6, true, 0));
}

#[test]
fn what_translates_inside_of_a_clone_is_done_to_a_copy() {
    let nat = openflow::action::Translate { nat: openflow::Nat { flags: 1, ..Default::default() } };
    let inside = vec![ct(None, vec![nat.into()]), to(2)];
    let steps =
        steps(vec![(0, 1, Match::any(), vec![CloneActions { actions: inside }.into(), to(3)])]);
    let [Step::Fork(4), Step::Track(_), Step::Output(2), Step::End, Step::Output(3)] = &steps[..]
    else {
        panic!("{steps:?}")
    };
}

#[test]
fn an_action_set_without_an_output_ends_in_a_table_or_in_tracking() {
    let resubmit = || Resubmit { port: None, table: Some(3) }.into();
    let set = |actions: Vec<Action>| {
        let it = vec![
            (0, 1, Match::any(), vec![WriteActions { actions }.into()]),
            (3, 1, Match::any(), vec![to(4)]),
        ];
        steps(it)
    };
    assert_eq!(set(vec![ct(None, vec![]), resubmit()]), [Step::Output(4)]);
    assert_eq!(set(vec![resubmit(), to(2)]), [Step::Output(2)]);
    let [Step::Track(_), Step::Recirculate(..)] = &set(vec![ct(Some(3), vec![])])[..] else {
        panic!()
    };
}

#[test]
fn who_asks_is_told_which_flow_each_table_had() {
    let flows = vec![
        (0, 7, Match::any(), vec![Resubmit { port: None, table: Some(5) }.into(), to(2)]),
        (5, 3, Match::any().with(Field::InPort, 9), vec![to(3)]),
    ];
    let world = world(flows);
    let (verdict, trail) = explain(&world, &packet());
    assert_eq!(*verdict.steps, *translate(&world, &packet()).steps);
    let told = |it: &Looked| (it.depth, it.table, it.flow.as_ref().map(|flow| flow.priority));
    assert_eq!(trail.iter().map(told).collect::<Vec<_>>(), [(0, 0, Some(7)), (1, 5, None)]);
}

#[test]
fn what_leads_on_is_not_counted_and_what_leads_back_is() {
    let on = |table: u8| Resubmit { port: None, table: Some(table) }.into();
    let told = |world: &Snapshot| {
        let verdict = translate(world, &packet());
        let tells = verdict.steps.iter().any(|it| matches!(it, Step::Tell(_)));
        (verdict.is_cut, tells, verdict.counters.len())
    };
    // Back and on again until a TTL of 64 is used up: 64 times here, 63 times there.
    let again = |controllers: Vec<u16>| {
        world(vec![
            (0, 1, Match::any(), vec![DecTtl { controllers }.into(), on(2)]),
            (2, 1, Match::any(), vec![on(0)]),
        ])
    };
    assert_eq!(told(&again(vec![0])), (false, true, 127));
    // One table more does not lead there.
    let back = world(vec![(0, 1, Match::any(), vec![on(0)])]);
    assert_eq!(told(&back), (true, false, 65));
    // 200 tables, each of which leads to the next.
    let chain = (0..200).map(|table| (table, 1, Match::any(), vec![on(table + 1)]));
    let chain = world(chain.chain([(200, 1, Match::any(), vec![to(2)])]).collect());
    assert_eq!(*translate(&chain, &packet()).steps, [Step::Output(2)]);
}

/// Port 4 is a tunnel whose packets have the number that flows say.
fn numbered(flows: Vec<(u8, u16, Match, Program)>) -> Snapshot {
    asking(Asks::Number, flows)
}

/// Port 4 is a tunnel that asks flows.
fn asking(asks: Asks, flows: Vec<(u8, u16, Match, Program)>) -> Snapshot {
    with_port_4(PortEntry { asks, ..PortEntry::all() }, flows)
}

fn with_port_4(entry: PortEntry, flows: Vec<(u8, u16, Match, Program)>) -> Snapshot {
    let mut it = world(flows);
    let mut ports = (*it.ports).clone();
    ports.insert(4, entry);
    it.ports = Arc::new(ports);
    it
}

/// What flows say of what leaves by a tunnel next.
fn in_tunnel(number: u32, remote: Option<&str>) -> Step {
    let remote = remote.map(|it| it.parse().unwrap());
    Step::Tunnel(InTunnel { remote, ..InTunnel::numbered(number) })
}

/// Has a tunnel's packets go to an end, or from one.
fn at_end(field: Field, end: &str) -> Action {
    let bits = match end.parse().unwrap() {
        IpAddr::V4(end) => u32::from(end).into(),
        IpAddr::V6(end) => end.into(),
    };
    SetField::whole(field, bits).into()
}

fn number(number: u64) -> Action {
    SetField::whole(Field::TunId, number.into()).into()
}

#[test]
fn what_leaves_by_a_tunnel_has_the_number_that_was_set_last() {
    let program =
        vec![to(4), number(5), to(2), to(4), number(0x0102_0304_0506), to(4), number(7), to(3)];
    let verdict = translate(&numbered(vec![(0, 1, Match::any(), program)]), &packet());
    let wanted = [
        in_tunnel(0, None),
        Step::Output(4),
        Step::Output(2),
        in_tunnel(5, None),
        Step::Output(4),
        in_tunnel(0x0304_0506, None),
        Step::Output(4),
        Step::Output(3),
    ];
    assert_eq!(*verdict.steps, wanted);
    // The first had the number that the packet brought, which then decides.
    assert_eq!(verdict.mask.get(Field::TunId), u64::MAX.into());
    let own = translate(&numbered(vec![(0, 1, Match::any(), vec![number(5), to(4)])]), &packet());
    assert_eq!((own.mask.get(Field::TunId), own.rewrite.unwrap().number), (0, Some(5)));
    let normal = vec![number(9), to(port::NORMAL)];
    let verdict = translate(&numbered(vec![(0, 1, Match::any(), normal)]), &packet());
    assert_eq!(*verdict.steps, [in_tunnel(9, None), Step::Normal]);
}

#[test]
fn what_leaves_by_a_tunnel_goes_to_the_end_that_was_set_last() {
    let end = at_end;
    let by = |program: Program| asking(Asks::Remote, vec![(0, 1, Match::any(), program)]);
    let program = vec![
        to(4),
        end(Field::TunDst, "192.0.2.8"),
        to(4),
        end(Field::TunDst, "192.0.2.9"),
        number(5),
        to(port::NORMAL),
        end(Field::TunDst, "0.0.0.0"),
        end(Field::TunIp6Dst, "2001:db8::9"),
        to(4),
        to(3),
    ];
    let verdict = translate(&by(program), &packet());
    let wanted = [
        in_tunnel(0, Some("0.0.0.0")),
        Step::Output(4),
        in_tunnel(0, Some("192.0.2.8")),
        Step::Output(4),
        in_tunnel(5, Some("192.0.2.9")),
        Step::Normal,
        in_tunnel(5, Some("2001:db8::9")),
        Step::Output(4),
        Step::Output(3),
    ];
    assert_eq!(*verdict.steps, wanted);
    // The first went where the packet said, which decides; of one that flows set, that does not.
    assert_eq!(verdict.mask.get(Field::TunDst), u32::MAX.into());
    let set = translate(&by(vec![end(Field::TunDst, "192.0.2.8"), to(4)]), &packet());
    assert_eq!((set.mask.get(Field::TunDst), set.rewrite), (0, None));
    // A tunnel with an end of its own is told none.
    let own = vec![end(Field::TunDst, "192.0.2.8"), number(5), to(4)];
    let own = translate(&numbered(vec![(0, 1, Match::any(), own)]), &packet());
    assert_eq!(*own.steps, [in_tunnel(5, None), Step::Output(4)]);
}

#[test]
fn what_leaves_by_a_tunnel_comes_from_the_end_that_was_set_last() {
    let program = vec![
        at_end(Field::TunDst, "192.0.2.9"),
        to(4),
        at_end(Field::TunSrc, "192.0.2.1"),
        to(4),
        at_end(Field::TunSrc, "0.0.0.0"),
        at_end(Field::TunIp6Src, "2001:db8::1"),
        to(4),
    ];
    let flows = |asks| asking(asks, vec![(0, 1, Match::any(), program.clone())]);
    let verdict = translate(&flows(Asks::Ends), &packet());
    let said = |local: &str| {
        let [remote, local] = ["192.0.2.9", local].map(|it| Some(it.parse().unwrap()));
        Step::Tunnel(InTunnel { number: 0, remote, local })
    };
    let wanted = [
        said("0.0.0.0"),
        Step::Output(4),
        said("192.0.2.1"),
        Step::Output(4),
        said("2001:db8::1"),
        Step::Output(4),
    ];
    assert_eq!(*verdict.steps, wanted);
    // The first came from where the packet said, which decides.
    assert_eq!(verdict.mask.get(Field::TunSrc), u32::MAX.into());
    // One with an end of its own is told none, and nothing of it decides.
    let verdict = translate(&flows(Asks::Remote), &packet());
    assert_eq!(verdict.steps[0], in_tunnel(0, Some("192.0.2.9")));
    assert_eq!(verdict.mask.get(Field::TunSrc), 0);
}

#[test]
fn where_each_packet_tells_its_ends_a_copy_for_a_controller_is_of_those_alone() {
    let told = vec![to(port::CONTROLLER)];
    let by = |asks| translate(&asking(asks, vec![(0, 1, Match::any(), told.clone())]), &of_4());
    fn of_4() -> Key {
        let mut key = Key::default();
        extract(&udp(7, 53), 4, &mut key);
        key
    }
    let seen = |asks| by(asks).mask.get(Field::TunSrc);
    assert_eq!((seen(Asks::Number), seen(Asks::Remote)), (0, u32::MAX.into()));
    for tells_local in [false, true] {
        let entry = PortEntry { tells_local, ..PortEntry::all() };
        let flows = with_port_4(entry, vec![(0, 1, Match::any(), told.clone())]);
        let seen = translate(&flows, &of_4()).mask.get(Field::TunDst);
        assert_eq!(seen, if tells_local { u32::MAX.into() } else { 0 });
    }
}

#[test]
fn a_tunnels_number_is_matched_moved_and_taken_along() {
    use openflow::Sub;
    use openflow::action::MoveField;
    let from = Sub { field: Field::TunId, offset: 0, bits: 24 };
    let into = Sub { field: Field::Reg3, offset: 0, bits: 24 };
    let world = numbered(vec![
        (
            0,
            1,
            Match::any().with(Field::TunId, 100),
            vec![MoveField { from, to: into }.into(), number(6), GotoTable { table: 1 }.into()],
        ),
        (
            1,
            1,
            Match::any().with(Field::TunId, 6).with(Field::Reg3, 100),
            vec![Action::Ct(openflow::action::Ct {
                flags: 0,
                zone: openflow::action::ct::Zone::Number(0),
                table: Some(2),
                helper: 0,
                actions: vec![],
            })],
        ),
        (2, 1, Match::any().with(Field::TunId, 6), vec![to(4)]),
    ]);
    let mut key = Key::default();
    extract(&udp(7, 53), 4, &mut key);
    assert_eq!(*translate(&world, &key).steps, []);
    key.set(Field::TunId, 100, u128::MAX);
    let verdict = translate(&world, &key);
    let [Step::Track(_), Step::Recirculate(_, frozen)] = &*verdict.steps else {
        panic!("{:?}", verdict.steps)
    };
    assert_eq!(verdict.mask.get(Field::TunId), u64::MAX.into());
    let mut again = Key::default();
    again.begin_again(frozen, 1, &Tracked::default());
    extract(&udp(7, 53), 1, &mut again);
    let steps = translate_again(&world, &again, frozen).steps;
    assert_eq!(*steps, [in_tunnel(6, None), Step::Output(4)]);
}
