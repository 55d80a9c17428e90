//! What happened on a packet's way, in the lines of Open vSwitch's `ofproto/trace`.
//!
//! ```text
//!  bridge("br0")
//!  -------------
//!   0. ip, priority 100          a look-up
//!      resubmit(,5)              what its flow does
//!   5. No match.                 what that leads to; further in where something comes behind it
//!      drop
//! ```

use super::{Names, fields};
use crate::key::Key;
use crate::trail::{Event, Looked, What};
use openflow::Action;

/// What an ordinary bridge would do with a packet to a station.
pub type Normal<'a> = &'a dyn Fn(u128, u16) -> String;

/// The lines.
pub fn walk(bridge: &str, events: &[Event], names: &Names, normal: Normal<'_>) -> Vec<String> {
    let title = format!("bridge(\"{bridge}\")");
    let mut telling =
        Telling { lines: vec![title.clone(), "-".repeat(title.len())], names, normal };
    let mut rest = events;
    if let [Event { what: What::Thaw(table), .. }, behind @ ..] = events {
        telling.lines.push("    thaw".to_owned());
        telling.lines.push(format!("        Resuming from table {table}"));
        rest = behind;
    }
    telling.tell(rest, 0);
    telling.lines
}

struct Telling<'a> {
    lines: Vec<String>,
    names: &'a Names,
    normal: Normal<'a>,
}

impl Telling<'_> {
    /// Events of one level with what is inside of them.
    fn tell(&mut self, mut events: &[Event], indent: usize) {
        while let [event, behind @ ..] = events {
            let inside = behind.iter().take_while(|it| it.level > event.level).count();
            let (inside, rest) = behind.split_at(inside);
            let text = self.text(&event.what);
            let ends = matches!(
                event.what,
                What::Table(_) | What::Pieces | What::Set | What::Thaw(_) | What::Bucket(_)
            );
            // What is last goes on where it is, so that chains of tables do not lead off the page;
            // an action set is of the whole way.
            let is_last = rest.first().is_none_or(|it| matches!(it.what, What::Set));
            let further = usize::from(!is_last || !ends);
            self.lines.push(format!("{}{text}", "    ".repeat(indent + further)));
            self.tell(inside, indent + 2 * further);
            events = rest;
        }
    }

    fn text(&self, what: &What) -> String {
        match what {
            What::Table(looked) => self.looked(looked),
            What::Pieces => {
                " 0. Packets are IP fragments and the fragment handling mode is \"drop\"."
                    .to_owned()
            }
            What::Set => "--. Executing action set:".to_owned(),
            What::Thaw(table) => format!("Resuming from table {table}"),
            What::Bucket(id) => format!("bucket {id}"),
            What::Does(Action::Output(it)) if self.names.contains_key(&it.port) => {
                format!("output:{}", self.names[&it.port])
            }
            What::Does(action) => action.to_string(),
            What::Nothing => "drop".to_owned(),
            What::Normal { to, tci } => format!(" {}", (self.normal)(*to, *tci)),
            What::Note(note) => format!(" -> {note}"),
            What::Warning(why) => format!(" >> {why}"),
            What::Fault(why) => format!(" >>>> {why} <<<<"),
        }
    }

    fn looked(&self, looked: &Looked) -> String {
        let table = format!("{:2}. ", looked.table);
        let Some(flow) = &looked.flow else {
            let asks = if looked.asks { ", and a \"packet-in\" is called for" } else { "" };
            return format!("{table}No match{asks}.");
        };
        let (key, mask) = Key::of_match(&flow.matching);
        let mut text = fields(&key, &mask, None, self.names);
        if !text.is_empty() {
            text.push_str(", ");
        }
        let cookie = match flow.cookie {
            0 => String::new(),
            cookie => format!(", cookie 0x{cookie:x}"),
        };
        format!("{table}{text}priority {}{cookie}", flow.priority)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{flow, read_flow};
    use super::*;
    use crate::flow::Flow;
    use crate::groups::Group;
    use crate::snapshot::{PortEntry, Snapshot};
    use crate::track::Tracked;
    use crate::translate::{trace, trace_again};
    use openflow::action::{
        Ct, DecTtl, Output, Program, Resubmit, SetField, WriteActions, ct::Zone,
    };
    use openflow::message::{Bucket, GroupKind};
    use openflow::{Field, Match, port};
    use std::sync::Arc;

    fn world(flows: Vec<(u8, u16, u64, Match, Program)>) -> Snapshot {
        let mut it = Snapshot::default();
        let port = PortEntry::all();
        it.ports = Arc::new((1..4).map(|number| (number, port)).collect());
        for (table, priority, cookie, matching, program) in flows {
            let flow = Flow { cookie, ..Flow::new(table, priority, matching, program) };
            it.table_mut(table).flows.insert(flow);
        }
        it
    }

    fn lines(world: &Snapshot, asked: &str, names: &Names) -> Vec<String> {
        let key = read_flow(asked, names).unwrap();
        walk("br0", &trace(world, &key).events, names, &|to, _| format!("-> to {to:x}"))
    }

    fn to(port: u16) -> Action {
        Output::to(port).into()
    }

    fn resubmit(table: u8) -> Action {
        Resubmit { port: None, table: Some(table) }.into()
    }

    fn ip() -> Match {
        Match::any().with(Field::EthType, 0x0800)
    }

    /// As Debian's ovs-vswitchd (3.1) has it for the same flows.
    #[test]
    fn chains_of_tables_stay_where_they_are_and_what_is_inside_stands_further_in() {
        let mut net = ip();
        net.set(Field::IpDst, 0x0a00_0000, 0xff00_0000);
        let load = SetField { is_load: true, ..SetField::whole(Field::Reg1, 7) };
        let web = ip().with(Field::IpProto, 6).with(Field::TcpDst, 80);
        let world = world(vec![
            (0, 100, 0, net, vec![load.into(), resubmit(5)]),
            (
                5,
                32768,
                0x12,
                web,
                vec![DecTtl { controllers: vec![0] }.into(), to(2), to(1), to(9)],
            ),
            (0, 7, 0, Match::any(), vec![resubmit(9), to(port::NORMAL)]),
        ]);
        let asked = "in_port=1,tcp,nw_dst=10.1.2.3,tcp_dst=80,nw_ttl=";
        let title = ["bridge(\"br0\")", "-------------"];
        let chain = [
            " 0. ip,nw_dst=10.0.0.0/8, priority 100",
            "    load:0x7->NXM_NX_REG1[]",
            "    resubmit(,5)",
            " 5. tcp,tp_dst=80, priority 32768, cookie 0x12",
            "    dec_ttl",
        ];
        let named = Names::from([(2, "p2".to_owned())]);
        let ends = [
            "    output:p2",
            "    output:1",
            "     >> skipping output to input port",
            "    output:9",
            "     >> Nonexistent output port",
        ];
        assert_eq!(
            lines(&world, &format!("{asked}64"), &named),
            [&title[..], &chain, &ends].concat()
        );
        let ends = ["     >> IPv4 decrement TTL exception"];
        assert_eq!(
            lines(&world, &format!("{asked}0"), &Names::new()),
            [&title[..], &chain, &ends].concat()
        );
        let inside = [
            " 0. priority 7",
            "    resubmit(,9)",
            "     9. No match.",
            "            drop",
            "    NORMAL",
            "     -> to 5",
        ];
        assert_eq!(
            lines(&world, "in_port=1,dl_dst=0:0:0:0:0:5", &Names::new()),
            [&title[..], &inside].concat()
        );
    }

    #[test]
    fn groups_sets_and_loops_are_told() {
        let bucket = |id: u32, watch_port: u16, actions: Program| Bucket {
            id,
            weight: 1,
            watch_port,
            watch_group: None,
            actions,
        };
        let group = |number: u32, kind: GroupKind, buckets: Vec<Bucket>| {
            (number, Arc::new(Group::new(kind, buckets, 0)))
        };
        let mut world = world(vec![
            (
                0,
                1,
                0,
                Match::any(),
                vec![
                    openflow::action::Group { group: 1 }.into(),
                    openflow::action::Group { group: 2 }.into(),
                    WriteActions { actions: vec![to(3)] }.into(),
                ],
            ),
            (0, 2, 0, ip(), vec![resubmit(0)]),
        ]);
        world.groups = Arc::new(
            [
                group(
                    1,
                    GroupKind::All,
                    vec![bucket(0, port::NONE, vec![to(2)]), bucket(7, port::NONE, vec![to(1)])],
                ),
                group(2, GroupKind::FastFailover, vec![bucket(4, 9, vec![to(2)])]),
            ]
            .into(),
        );
        let told = lines(&world, "in_port=1", &Names::new());
        let wanted = [
            " 0. priority 1",
            "    group:1",
            "    bucket 0",
            "            output:2",
            "    bucket 7",
            "            output:1",
            "             >> skipping output to input port",
            "    group:2",
            "     -> bucket 4: not live due to port 9",
            "     -> no live bucket",
            "    write_actions(output:3)",
            "     -> action set is: output:3",
            "--. Executing action set:",
            "    output:3",
        ];
        assert_eq!(told[2..], wanted);
        let told = lines(&world, "in_port=1,ip", &Names::new());
        assert_eq!(told.last().unwrap(), "     >>>> over max translation depth 64 <<<<");
        assert_eq!(told[3], "    resubmit(,0)");
    }

    #[test]
    fn what_begins_again_says_where() {
        let mut world = world(vec![
            (
                0,
                1,
                0,
                ip(),
                vec![
                    Ct {
                        flags: 0,
                        zone: Zone::Number(9),
                        table: Some(6),
                        helper: 0,
                        actions: vec![],
                    }
                    .into(),
                ],
            ),
            (6, 1, 0, Match::any(), vec![to(2)]),
        ]);
        world.tracks = true;
        let key = read_flow("in_port=1,udp", &Names::new()).unwrap();
        let first = trace(&world, &key);
        let told = walk("br0", &first.events, &Names::new(), &|_, _| String::new());
        assert_eq!(
            told[2..],
            [
                " 0. ip, priority 1",
                "    ct(table=6,zone=9)",
                "    drop",
                "     -> A clone of the packet is forked to recirculate. The forked pipeline will be resumed at table 6.",
                "     -> Sets the packet to an untracked state, and clears all the conntrack fields.",
            ]
        );
        let (mut key, frozen) = first.forks[0].clone();
        key.begin_again(&frozen, 1, &Tracked { state: 0x21, zone: 9, ..Tracked::default() });
        assert!(
            flow(&key, None, &Names::new())
                .starts_with("recirc_id=0x1,ct_state=new|trk,ct_zone=9,eth,udp,")
        );
        let then = trace_again(&world, &key, &frozen);
        let told = walk("br0", &then.events, &Names::new(), &|_, _| String::new());
        assert_eq!(
            told[2..],
            ["    thaw", "        Resuming from table 6", " 6. priority 1", "    output:2"]
        );
    }
}
