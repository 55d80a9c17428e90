//! Flows and states as people type them, and frames: what is wrong is told; of any frame its way
//! through tables, the same as it takes when nobody asks, and what workers would remember.
//!
//! ```text
//! input: a line of text │ a frame
//! ```
#![no_main]

use flow::words::{self, Names};
use flow::{Flow, Key, PortEntry, Snapshot, extract};
use libfuzzer_sys::fuzz_target;
use openflow::action::{CloneActions, DecTtl, Output, PopVlan, Resubmit, SetField};
use openflow::{Field, Match, port};
use std::sync::Arc;

fuzz_target!(|bytes: &[u8]| {
    let end = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    let (line, frame) = bytes.split_at(end);
    let line = String::from_utf8_lossy(line);
    let names = Names::from([(1, "p1".to_owned()), (2, "eth0.5".to_owned())]);
    _ = words::read_ct_state(&line);
    let mut key = match words::read_flow(&line, &names) {
        Ok(key) => {
            words::flow(&key, Some(3), &names);
            key
        }
        Err(why) => {
            assert!(!why.is_empty());
            Key::default()
        }
    };
    extract(frame.get(1..).unwrap_or_default(), 1, &mut key);
    let entry = PortEntry::all();
    let mut tables =
        Snapshot { ports: Arc::new((1..4).map(|it| (it, entry)).collect()), ..Snapshot::default() };
    let ip = Match::any().with(Field::EthType, 0x0800);
    let flows = [
        (
            0,
            9,
            ip,
            vec![
                DecTtl { controllers: vec![0] }.into(),
                Resubmit { port: None, table: Some(1) }.into(),
            ],
        ),
        (0, 1, Match::any(), vec![PopVlan.into(), Output::to(port::NORMAL).into()]),
        (
            1,
            1,
            Match::any(),
            vec![
                CloneActions {
                    actions: vec![SetField::whole(Field::EthSrc, 7).into(), Output::to(2).into()],
                }
                .into(),
                Output::to(port::FLOOD).into(),
            ],
        ),
    ];
    for (table, priority, matching, program) in flows {
        tables.table_mut(table).flows.insert(Flow::new(table, priority, matching, program));
    }
    let traced = flow::trace(&tables, &key);
    assert_eq!(traced.verdict.steps, flow::translate(&tables, &key).steps);
    let lines = words::walk("br0", &traced.events, &names, &|_, _| "-> flooding".to_owned());
    assert!(lines.len() >= 2 && lines.iter().all(|line| !line.contains('\n')));
    words::fields(&key, &traced.verdict.mask, None, &names);
    words::datapath_key(&key, &traced.verdict.mask, &names);
    words::actions(&traced.verdict.steps, &key, &names, None);
});
