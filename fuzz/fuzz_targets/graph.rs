//! The whole router, on any frames: it never panics, accounts for every packet, and what it sends
//! is whole.
//!
//! ```text
//! input: ( choice │ length │ frame … )*
//! choice: interface (see INTERFACES) 0..2 │ 3: to our MAC │ 4: right lengths and checksums │ 5..7: an address
//!         255, and no frame: what came so far is forwarded first
//!         255, and an octet: the same, and then so many seconds pass (of 64 at most)
//!         255, and two octets: the next frame has so many octets more, zeros (up to a link's longest)
//! ```
//! The router stays from one input to the next, and so does what it learned. One that fails may
//! have been helped by those before: a panic leaves them all, it among them, as one input that
//! fails alone.
#![no_main]

use acl::{Acl4, Acl6, Action, Icmp, More, Pieces, Ports, Rule, RuleCounters, Wide4, Wide6};
use dataplane::{Dataplane, PortQueues, Settings};
use fib::{Address, Forward, ip4::Ip4Layout, pages::PageSize};
use graph::{GraphCounters, Idle, Worker};
use libfuzzer_sys::fuzz_target;
use nodes::filter::{
    Access, AccessList, Ranges, WideList,
    acl_input::AclInput,
    acl_output::AclOutput,
    allow_input::{AllowInput, Allowed},
    urpf_input::{Reverse, Urpf, UrpfInput},
};
use nodes::interface::{
    ForCopies, MirrorPart, MirrorParts, MirrorTo, mirror_input::MirrorInput,
    mirror_output::MirrorOutput,
};
use nodes::ip::DirectedBroadcasts;
use nodes::ip::redirect_input::{RedirectInput, Redirects};
use nodes::ip::{Policy, PolicyWay};

use nodes::local::{ProxyNd, sum_icmp};
use nodes::tables::{
    BondMember, BondWays, BridgeId, BridgePort, Collects, Ends, Erspan, ErspanVersion, FlowRule,
    Heeds, Inside, Interface, InterfaceId, Kind, Link, Mode, Punt, Tunnel, Vlan, VlanTags, VrfId,
    Wrap, flow_field, link_key,
};
use packet::{Burst, HeapPool, PacketBuf, PacketCache, Pool, RxQueue, TxQueue};
use std::{
    cell::RefCell,
    collections::VecDeque,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
};
use wire::{checksum, ip::protocol, ipv4, ipv6};

#[path = "graph/crossing.rs"]
mod crossing;
#[path = "../../crates/nodes/src/testing/topology.rs"]
mod topology;
#[path = "graph/tree.rs"]
mod tree;

use crossing::Crossing;
use tree::Tree;

fuzz_target!(|bytes: &[u8]| {
    thread_local! {
        static ROUTER: RefCell<Router> = RefCell::new(Router::new());
    }
    RECENT.with_borrow_mut(|recent| remember(recent, bytes));
    ROUTER.with_borrow_mut(|router| router.play(bytes));
});

/// Of an input: no frame, but what is done before what follows.
const ORDER: u8 = 0xff;
/// What came so far is forwarded.
const FORWARD: (u8, &[u8]) = (ORDER, &[]);
/// More seconds than pass at once.
const SECONDS: u8 = 64;
/// Octets of the longest frame.
const LONGEST: usize = 1514;

/// The frames of an input, each with its choice.
fn frames(mut input: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    std::iter::from_fn(move || {
        let [choice, length, rest @ ..] = input else { return None };
        let (frame, next) = rest.split_at(usize::from(*length).min(rest.len()));
        input = next;
        Some((*choice, frame))
    })
}

/// So many inputs are remembered: more than anything that the router learns lasts.
const REMEMBERED: usize = 4096;

thread_local! {
    static RECENT: RefCell<VecDeque<Vec<u8>>> = RefCell::default();
}

fn remember(recent: &mut VecDeque<Vec<u8>>, input: &[u8]) {
    let place = if recent.len() < REMEMBERED { None } else { recent.pop_front() };
    let mut place = place.unwrap_or_default();
    place.clear();
    place.extend_from_slice(input);
    recent.push_back(place);
}

/// These inputs as one.
fn as_one(inputs: &VecDeque<Vec<u8>>) -> Vec<u8> {
    let mut one = Vec::new();
    for input in inputs {
        for (choice, frame) in frames(input).chain([FORWARD]) {
            one.extend([choice, frame.len() as u8]);
            one.extend(frame);
        }
    }
    one
}

/// Has a panic leave them where libFuzzer leaves its own input.
fn leave_recent_at_a_panic() {
    let prefix = |it: String| Some(it.strip_prefix("-artifact_prefix=")?.to_owned());
    let Some(prefix) = std::env::args().find_map(prefix) else { return };
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let path = format!("{prefix}recent-{}", std::process::id());
        match std::fs::write(&path, RECENT.with_borrow(as_one)) {
            Ok(()) => eprintln!("INFO: with the inputs before it, as one: {path}"),
            Err(error) => eprintln!("INFO: the inputs before it are lost: {path}: {error}"),
        }
        usual(panic);
    }));
}

/// Where frames come in: routed, cross-connected, bridged, a trunk, beside tunnels, a member of a
/// bond.
const INTERFACES: [usize; 8] = [
    0,
    1,
    2,
    6,
    topology::BOND_MEMBERS[0] as usize,
    9,
    topology::TRUNK as usize,
    topology::BESIDE_TUNNELS as usize,
];

/// Mirrored ones: cross-connected, bridged, a trunk and a VLAN of it, a tunnel.
const HEARD: [u16; 5] = [2, 6, topology::TRUNK, topology::BRIDGED_VLAN, topology::VXLAN];
/// Where their copies leave.
const LISTENER: u16 = 5;

/// One that is held to access lists, and whose sources are checked: routed.
const HELD: u16 = 1;

/// One whose packets are routed by a policy.
const LED: u16 = 0;

/// Most addresses that hosts have here.
fn allowed() -> Allowed {
    let some = ["128.0.0.0/1", "10.0.0.0/28"].map(|it| it.parse().expect("a network"));
    Allowed { ip4: Ranges::of(some), ip6: Ranges::of([]), vrf: Some(VrfId::DEFAULT), non_ip: true }
}

/// A list that denies some of both families, of the kind that asks for more where it is to.
fn access(asks_for_more: bool) -> Access {
    fn rules<A: Address>() -> [(u32, Rule<A>); 2] {
        let some = Rule { source_ports: Ports::new(0, 99).ok(), ..Rule::any(Action::Deny) };
        [
            (0, some),
            (1, Rule { icmp: Some(Icmp { kind: 8, code: None }), ..Rule::any(Action::Deny) }),
        ]
    }
    fn more<A: Address>() -> [(u32, Rule<A>); 2] {
        let more = More { pieces: Some(Pieces::Later), ttl: Some(64), ..More::default() };
        rules().map(|(number, rule)| (number, Rule { more, ..rule }))
    }
    let wide = || WideList {
        ip4: Wide4::new::<u32>(&more(), Action::Permit, 4096).expect("a list"),
        ip6: Wide6::new::<u128>(&more(), Action::Permit, 4096).expect("a list"),
    };
    Access::new(Arc::new(AccessList {
        ip4: Acl4::new::<u32>(&rules(), Action::Permit, 4096).expect("a list"),
        ip6: Acl6::new::<u128>(&rules(), Action::Permit, 4096).expect("a list"),
        wide: asks_for_more.then(|| Box::new(wide())),
        counters: [RuleCounters::new(2)].into(),
    }))
}

/// Leads some packets of IPv4 to the gateway, and some as the default VRF says.
fn policy() -> Policy {
    fn rules<A: Address>() -> [(u32, Rule<A>); 2] {
        let some = Rule { source_ports: Ports::new(0, 999).ok(), ..Rule::any(Action::Permit) };
        [(0, some), (1, Rule { protocol: Some(protocol::TCP), ..Rule::any(Action::Permit) })]
    }
    let list = AccessList {
        ip4: Acl4::new::<u32>(&rules(), Action::Permit, 4096).expect("a list"),
        ip6: Acl6::new::<u128>(&rules()[1..], Action::Permit, 4096).expect("a list"),
        wide: None,
        counters: [RuleCounters::new(2)].into(),
    };
    let way = |kind: Kind, id, or_drop| {
        let way = PolicyWay::new(or_drop);
        way.lead(Forward::new(kind as u8, id));
        Some(Arc::new(way))
    };
    let (to, vrf) = (topology::TO_GATEWAY, VrfId::DEFAULT.0.into());
    Policy {
        list: Arc::new(list),
        ways: [way(Kind::Rewrite, to, false), way(Kind::Vrf, vrf, true)].into(),
    }
}

type Waiting = Arc<Mutex<VecDeque<Vec<u8>>>>;

struct Router {
    dataplane: Dataplane,
    worker: Worker,
    feeds: Vec<Waiting>,
    pool: Arc<HeapPool>,
    cache: Box<dyn PacketCache>,
    ledger: Ledger,
    crossing: Crossing,
    tree: Tree,
    /// Frames in the feeds.
    waiting: Arc<AtomicUsize>,
    now_tsc: u64,
    inputs: u64,
    frames: u64,
}

/// Half of them, of which less is free when some were lost, is more than the two caches may have
/// without saying so: ours and the worker's keep up to 768 each.
const BUFFERS: usize = 4096;
/// Stations that bridges know: more come than there is room for.
const STATIONS: usize = 64;
/// Inputs between two looks whether each drop was charged to an interface, and for a reason: that
/// reads a table of thousands of counters.
const CHARGED_OF: u64 = 256;
/// Inputs between two lines that say how many there were, and of how many frames.
const TOLD_OF: u64 = 1 << 20;
/// Given time, so that an input does the same again: its cycles are nanoseconds.
const TURN_TSC: u64 = 10_000;
const SECOND_TSC: u64 = 1_000_000_000;

impl Router {
    fn new() -> Self {
        leave_recent_at_a_panic();
        // Where others have measured it before, time goes faster, and that is all.
        graph::assume_tsc_hz(1_000_000_000);
        let pool = Arc::new(HeapPool::new(BUFFERS, 2048).expect("memory"));
        let mut settings = Settings::new(Arc::clone(&pool) as Arc<dyn Pool>);
        (settings.ip4.layout, settings.ip4.page_size) = (Ip4Layout::Compact, PageSize::Small);
        (settings.page_size, settings.ip4_nodes) = (PageSize::Small, 4096);
        // All of them are looked at where those of a port are forgotten.
        settings.stations = STATIONS;
        (settings.idle, settings.icmp_errors_per_second) = (Idle::Poll, u32::MAX);
        let mut dataplane = Dataplane::start(&settings).expect("a data plane");
        // Who asks for echoes: what is said of them is read.
        (0..8).for_each(|id| assert!(dataplane.echo_ids.take(id)));
        let Dataplane { ip4, ip6, ip6_links, adjacencies, groups, .. } = &dataplane;
        topology::add_routes(ip4, ip6, ip6_links, adjacencies, groups);
        let (crossing, now_tsc) = (Crossing::new(), 1 << 40);
        let ports = (0..).zip(topology::rows()).filter_map(|(id, row)| Some((id, row?)));
        let tree = Tree::new(now_tsc, ports.filter(|it| Tree::is_of(&it.1)).map(|it| it.0));
        let (mut feeds, waiting) = (Vec::new(), Arc::<AtomicUsize>::default());
        for (id, mut row) in (0..).zip(topology::rows()) {
            if let Some(row) = row.as_mut().filter(|_| HEARD.contains(&id)) {
                row.set::<MirrorInput>(Some(MirrorTo(LISTENER)));
                row.set::<MirrorOutput>(Some(MirrorTo(LISTENER)));
            }
            if let Some(row) = row.as_mut().filter(|_| id == HELD) {
                let strict = Some(Reverse::Strict);
                let urpf = Urpf { ip4: strict, ip6: strict, allow_default: false };
                row.set::<AclInput>(Some(access(false)));
                row.set::<UrpfInput>(Some(urpf));
                row.set::<AllowInput>(Some(allowed()));
                row.set::<RedirectInput>(Some(Redirects));
                row.put(Some(ProxyNd(vec!["::/0".parse().expect("a network")])));
                row.set::<AclOutput>(Some(access(true)));
                // Copies leave by the port that they are made at.
                let sent = MirrorPart { most: 100, one_of: 2 };
                row.set::<MirrorOutput>(Some(MirrorTo(topology::ERSPAN)));
                row.put(Some(MirrorParts { sent, ..MirrorParts::default() }));
            }
            if let Some(row) = row.as_mut().filter(|_| id == topology::ERSPAN) {
                row.put(Some(ForCopies));
            }
            if let Some(row) = row.as_mut().filter(|_| id == LED) {
                row.put(Some(policy()));
            }
            if let Some(row) = row.as_mut() {
                row.put(Some(DirectedBroadcasts));
                crossing.hold(id, row);
            }
            if let Some(row) = row.as_mut().filter(|row| Tree::is_of(row)) {
                tree::has_do(row, rstp::State::Forwarding);
            }
            if let Some(Mode::Bridged(port)) = row.as_mut().map(|row| &mut row.mode) {
                port.heeds = Heeds::ARP.with(Heeds::ND, true).with(Heeds::GROUPS, true);
            }
            dataplane.set_interface(id, row);
            let feed = Waiting::default();
            let frames = Feed { feed: Arc::clone(&feed), waiting: Arc::clone(&waiting) };
            // By others none comes: they need not be asked in each turn.
            let is_fed = INTERFACES.contains(&usize::from(id));
            let rx = is_fed.then(|| Box::new(frames) as Box<dyn RxQueue>).into_iter().collect();
            let tx: Vec<Box<dyn TxQueue>> =
                vec![Box::new(Sink { made: id < 2, is_plain: id == 1 })];
            dataplane.attach_port(id, id, PortQueues { rx, tx }).expect("a port");
            feeds.push(feed);
        }
        let bits = flow_field::USUAL | flow_field::INNER;
        dataplane.flows.set(FlowRule { bits, ..FlowRule::USUAL });
        dataplane.has_policies.store(true, Ordering::Relaxed);
        dataplane.counts_next_hops.store(true, Ordering::Relaxed);
        let worker = dataplane.take_local_worker().expect("the worker");
        let (ledger, cache) = (Ledger::of(&dataplane), pool.cache());
        let (inputs, frames) = (0, 0);
        Self {
            dataplane,
            worker,
            feeds,
            pool,
            cache,
            ledger,
            crossing,
            tree,
            waiting,
            now_tsc,
            inputs,
            frames,
        }
    }

    fn turn(&mut self) {
        self.now_tsc += TURN_TSC;
        self.worker.turn_at(self.now_tsc);
    }

    fn play(&mut self, input: &[u8]) {
        let mut longer = 0;
        for (choice, frame) in frames(input) {
            match (choice, frame) {
                FORWARD => {
                    self.forward();
                    continue;
                }
                (ORDER, [seconds]) => {
                    self.forward();
                    self.pass((seconds % SECONDS).into());
                    continue;
                }
                (ORDER, [high, low]) => {
                    longer = usize::from(*high) << 8 | usize::from(*low);
                    continue;
                }
                _ => {}
            }
            let interface = INTERFACES[usize::from(choice & 7)];
            let mut frame = frame.to_vec();
            frame.resize(frame.len().max(LONGEST.min(frame.len() + longer)), 0);
            longer = 0;
            let frame = improve(frame, interface as u16, choice);
            self.feeds[interface].lock().expect("the feed").push_back(frame);
            self.waiting.fetch_add(1, Ordering::Relaxed);
            self.frames += 1;
        }
        self.forward();
        self.check();
    }

    /// Turns the worker until all that came has left, and takes what is for the control thread.
    fn forward(&mut self) {
        while self.waiting.load(Ordering::Relaxed) != 0 {
            self.turn();
        }
        self.turn();
        while let Some(punt) = self.dataplane.events.next() {
            if let Punt::Bpdu(heard) = &punt {
                self.tree.hear(&mut self.dataplane, heard, self.now_tsc);
            }
            punt.into_packet().into_iter().for_each(|packet| self.cache.release_one(packet));
        }
    }

    /// Time passes.
    fn pass(&mut self, seconds: u64) {
        self.now_tsc += seconds * SECOND_TSC;
        self.crossing.sweep((self.now_tsc / graph::tsc_hz()) as u32);
        self.tree.turn(&mut self.dataplane, self.now_tsc, seconds);
        self.forward();
    }

    fn check(&mut self) {
        let Self { dataplane, ledger, feeds, inputs, frames, .. } = self;
        let dropped = ledger.check(dataplane);
        self.crossing.check();
        if inputs.is_multiple_of(CHARGED_OF) {
            let drops = (0..feeds.len() as u16).flat_map(|id| dataplane.drops_of(id));
            // Of those whose senders were told, a packet went on.
            let drops = drops.filter(|drop| !drop.answered);
            assert_eq!(drops.map(|drop| drop.packets).sum::<u64>(), dropped);
            // What is lost for good would be missed here.
            let usage = self.pool.usage();
            assert!(usage.free > usage.total / 2, "{usage:?}");
        }
        *inputs += 1;
        if inputs.is_multiple_of(TOLD_OF) {
            eprintln!("INFO: {inputs} inputs of {frames} frames so far");
        }
    }
}

/// Where nodes count what the balance is struck of.
struct Ledger {
    counters: Arc<GraphCounters>,
    received: usize,
    copying: [usize; 6],
    taking: [usize; 11],
}

impl Ledger {
    const COPYING: [&str; 6] =
        ["ip4-fragment", "l2-flood", "l2-multicast", "mirror-input", "mirror-output", "nat64-cut"];
    /// The first of them drops.
    const TAKING: [&str; 11] = [
        "drop",
        "port-tx",
        "arp-input",
        "icmp4-input",
        "icmp6-input",
        "nd-input",
        "mld-input",
        "bond-input",
        "l2-spanning",
        "ip-reassemble",
        "ip-resolve",
    ];

    fn of(dataplane: &Dataplane) -> Self {
        let nodes = &dataplane.layout.nodes;
        let at = |name| nodes.iter().position(|node| node.spec.name == name).expect("the node");
        let counters = Arc::clone(dataplane.worker(0).expect("the worker").counters());
        let (copying, taking) = (Self::COPYING.map(at), Self::TAKING.map(at));
        Self { counters, received: at("port-rx"), copying, taking }
    }

    /// Every packet that came in or was made was sent, dropped for a counted reason, or taken by a
    /// node that may: says how many were dropped.
    fn check(&self, dataplane: &Dataplane) -> u64 {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let node = |at: usize| &self.counters.nodes[at];
        // Interfaces that stand on others count their frames once more.
        let received = read(&node(self.received).packets);
        let more = |at| node(at).exits.iter().map(read).sum::<u64>() - read(&node(at).packets);
        let pieces: u64 = self.copying.map(more).into_iter().sum();
        let taken = self.taking.map(|at| read(&node(at).taken));
        let left: u64 = taken.iter().sum();
        assert_eq!(received + pieces, left, "{:?}", dataplane.node_totals(None));
        taken[0]
    }
}

/// Makes of any bytes a frame that gets further, as far as `choice` asks.
fn improve(mut frame: Vec<u8>, interface: u16, choice: u8) -> Vec<u8> {
    if frame.len() < 14 {
        return frame;
    }
    if choice & 8 != 0 {
        // What comes in by a member is for its bond.
        let is_member = topology::BOND_MEMBERS.contains(&interface);
        let station = if is_member { topology::BOND } else { interface };
        frame[..6].copy_from_slice(&topology::our_mac(station));
        if ![[8, 6], [0x86, 0xdd]].iter().any(|known| frame[12..14] == *known) {
            frame[12..14].copy_from_slice(&[8, 0]);
        }
    }
    if frame[12..14] == [0x86, 0xdd] {
        improve_ip6(&mut frame[14..], interface, choice);
        return frame;
    }
    let Some(mut header) = ipv4::HeaderMut::new(&mut frame[14..]) else { return frame };
    match choice >> 5 {
        1 => header.set_destination(u32::from_be_bytes(topology::US)),
        2 => header.set_destination(u32::from_be_bytes(topology::FAR)),
        3 => header.set_destination(u32::from_be_bytes([10, 5, 0, 1])),
        4 => header.set_source(u32::from_be_bytes(topology::HOST)),
        5 => {
            // As a tunnel's other end sends.
            header.set_source(u32::from_be_bytes(topology::FAR));
            header.set_destination(u32::from_be_bytes(topology::US));
        }
        6 => {
            // As answers come to whom a translation stands for.
            header.set_source(u32::from_be_bytes(topology::FAR));
            header.set_destination(u32::from_be_bytes(topology::US_OUTSIDE));
        }
        _ => {}
    }
    if choice & 16 != 0 {
        header.set_version_ihl(0x40 | header.view().version_ihl() & 0x0f);
        header.set_checksum(0);
        let len = header.view().header_len().min(frame.len() - 14);
        let sum = checksum::of(&frame[14..14 + len]);
        frame[24..26].copy_from_slice(&sum.to_be_bytes());
        let is_icmp = frame[23] == protocol::ICMP4;
        if let Some(message) = frame.get_mut(14 + len..).filter(|_| is_icmp) {
            sum_icmp(message, checksum::Sum::ZERO);
        }
    }
    frame
}

/// The same of an IPv6 packet.
fn improve_ip6(packet: &mut [u8], interface: u16, choice: u8) {
    let payload_len = packet.len().saturating_sub(ipv6::Header::LEN) as u16;
    let Some(mut header) = ipv6::HeaderMut::new(packet) else { return };
    let ours = topology::link_local(interface);
    match choice >> 5 {
        1 => header.set_destination(topology::US6.into()),
        2 => header.set_destination(topology::FAR6.into()),
        3 => header.set_destination(ours.into()),
        4 => header.set_destination(ipv6::ALL_NODES),
        5 => header.set_source(topology::HOST6.into()),
        6 => header.set_source(topology::LINK_HOST.into()),
        7 if interface == 0 => {
            // From inside to a host of IPv4.
            header.set_source(topology::HOST6.into());
            header.set_destination(crossing::behind(topology::FAR));
        }
        7 => {
            header.set_source(topology::FAR6.into());
            header.set_destination(topology::US6.into());
        }
        _ => {}
    }
    if choice & 16 == 0 {
        return;
    }
    header.set_first_word(6 << 28 | header.view().first_word() & 0x0fff_ffff);
    header.set_payload_len(payload_len);
    let (source, destination) = (header.view().source(), header.view().destination());
    let is_icmp = header.view().next_header() == protocol::ICMP6;
    if let Some(message) = packet.get_mut(ipv6::Header::LEN..).filter(|_| is_icmp) {
        let pseudo = checksum::pseudo6(source, destination, protocol::ICMP6, message.len() as u32);
        sum_icmp(message, pseudo);
    }
}

struct Feed {
    feed: Waiting,
    waiting: Arc<AtomicUsize>,
}

impl RxQueue for Feed {
    fn receive(&mut self, cache: &mut dyn PacketCache, most: usize, into: &mut Vec<PacketBuf>) {
        if self.waiting.load(Ordering::Relaxed) == 0 {
            return;
        }
        let mut feed = self.feed.lock().expect("the feed");
        let count = feed.len().min(most);
        let copy = |frame: Vec<u8>| cache.copy_of(&frame).expect("a buffer is lost");
        into.extend(feed.drain(..count).map(copy));
        self.waiting.fetch_sub(count, Ordering::Relaxed);
    }
}

/// Looks at what leaves by a routed interface, whose frames the router made or changed.
struct Sink {
    made: bool,
    /// Outside of the translation: nobody there has an address that stands for one of IPv4.
    is_plain: bool,
}

impl TxQueue for Sink {
    fn transmit(&mut self, cache: &mut dyn PacketCache, packets: &mut Burst<'_>) {
        for packet in packets.iter().filter(|_| self.made) {
            let frame = packet.bytes();
            match &frame[12..14] {
                [8, 0] => {
                    let packet = ipv4::Packet::parse(&frame[14..]).expect("a whole packet");
                    assert_eq!(14 + usize::from(packet.header.total_len()), frame.len());
                }
                [0x86, 0xdd] => {
                    let packet = ipv6::Packet::parse(&frame[14..]).expect("a whole packet");
                    assert_eq!(54 + usize::from(packet.header.payload_len()), frame.len());
                    assert!(!self.is_plain || !crossing::is_behind(packet.header.destination()));
                }
                kind => assert_eq!((kind, frame.len()), (&[8, 6][..], 60)),
            }
        }
        cache.release(packets.take_all());
    }
}
