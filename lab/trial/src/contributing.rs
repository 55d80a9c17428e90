//! `docs/example/lab.md` shows how a device is added: its example is compiled and tested here.

#[path = "../../../docs/example/lab_device.rs"]
#[allow(unreachable_pub)] // in the list it is reached
mod linux_wire;

use crate::Error;
use crate::dut::testing::{job, over_cards};
use crate::place::Place;
use crate::scenario::FunctionKind;

#[test]
fn the_example_in_the_guide_is_the_file_that_is_compiled() {
    let page = include_str!("../../../docs/example/lab.md");
    let file = include_str!("../../../docs/example/lab_device.rs");
    assert!(page.contains(&format!("```rust\n{file}```\n")));
}

#[test]
fn a_line_more_in_the_list_and_it_can_be_measured() {
    let adapter = linux_wire::ADAPTER;
    assert!(crate::dut::ALL.iter().all(|known| known.name != adapter.name));
    let mut device = (adapter.device)();
    assert_eq!(device.name(), adapter.name);
    let folder = std::env::temp_dir().join(format!("lab-wire-{}", std::process::id()));
    let Ok(mut place) = Place::new(&folder, "0") else {
        eprintln!("SKIPPED: no namespaces here");
        return;
    };
    let cross = job(FunctionKind::CrossConnect, 1);
    for (job, told) in [(job(FunctionKind::Ip4, 1), "two ends"), (over_cards(cross), "kernel")] {
        let refusal = device.start(&job, &mut place).unwrap_err();
        assert!(matches!(&refusal, Error::Refused { reason, .. } if reason.contains(told)));
    }
}
