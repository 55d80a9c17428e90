//! Any text as `tc` lines, and as a configuration: refused with a reason or built, and what is
//! built keeps its packets.
//!
//! ```text
//! input: text ─▶ tc::read ─▶ build ─▶ packets in, packets out: each sent, dropped or waiting; shown
//!        text ─▶ JSON ─▶ Config ─▶ build ─▶ the same
//! ```
#![no_main]

use libfuzzer_sys::fuzz_target;
use sched::{ClassId, Config, Next, Packet, build, tc};

fuzz_target!(|text: &str| {
    if let Ok(devices) = tc::read(text) {
        for config in devices.into_iter().filter_map(|(_, config)| config) {
            // The same lines on top of what they made.
            let again = tc::change(text, &|_| Ok(Some(config.clone())));
            for config in again.into_iter().flatten().filter_map(|(_, config)| config) {
                play(config, text);
            }
            play(config, text);
        }
    }
    if let Ok(config) = serde_json::from_str::<Config>(text) {
        let again = serde_json::to_string(&config).expect("a configuration can be written");
        assert_eq!(serde_json::from_str::<Config>(&again).expect("and read again"), config);
        play(config, text);
    }
});

/// Offers packets drawn from the text itself, and accounts for every one.
fn play(mut config: Config, text: &str) {
    // What the machine can bear, not what the configuration may ask for.
    config.memory_limit.0 = config.memory_limit.0.min(16 << 20);
    let Ok(mut scheduler) = build::<u64>(&config) else { return };
    let (mut offered, mut gone, mut now_ns) = (0u64, 0u64, 0u64);
    for byte in text.bytes().take(200) {
        now_ns += u64::from(byte) * 10_000;
        let mut packet = Packet::new(offered, 60 + 5 * u32::from(byte), u32::from(byte));
        packet.class = ClassId::new(1, u16::from(byte));
        packet.priority = byte;
        let _ = scheduler.enqueue(now_ns, packet, &mut |_| gone += 1);
        offered += 1;
        if byte % 3 == 0 {
            let next = scheduler.dequeue(now_ns, &mut |_| gone += 1);
            gone += u64::from(matches!(next, Next::Packet(_)));
        }
        assert_eq!(offered, gone + u64::from(scheduler.waiting_packets()));
    }
    let report = scheduler.report();
    assert!(!report.to_string().is_empty());
    assert!(tc::show_qdiscs(None, Some(&report), true).starts_with("qdisc "));
    let _ = tc::show_classes(None, Some(&report), true);
    let _ = sched::warnings(&config);
}
