use super::*;
use crate::Receiver;
use std::io;
use std::sync::mpsc::{Receiver as Lines, Sender, channel};
use tracing::subscriber::with_default;

/// Writes into a channel; waits before each line until it may.
struct Gate {
    lines: Sender<Event>,
    may: Lines<()>,
}

impl crate::Sink for Gate {
    fn write(&mut self, event: &Event) -> io::Result<()> {
        self.may.recv().map_err(io::Error::other)?;
        self.lines.send(event.clone()).map_err(io::Error::other)
    }
}

fn written() -> (Arc<Hub>, Lines<Event>, Sender<()>) {
    let limits = Limits::every(Duration::from_millis(100));
    let hub = Arc::new(Hub { limits, ..Hub::default() });
    let ((lines, out), (allow, may)) = (channel(), channel());
    hub.start_writing(Box::new(Gate { lines, may })).unwrap();
    (hub, out, allow)
}

#[test]
fn events_have_level_source_and_fields_in_ring_and_log() {
    let (hub, lines, allow) = written();
    with_default(Receiver(Arc::clone(&hub)), || {
        tracing::warn!(port = "p2", queue = 3, up = false, "its twin is {}", "gone");
        tracing::debug!("nobody asked for this");
    });
    allow.send(()).unwrap();
    let event = lines.recv().unwrap();
    assert_eq!((event.number, event.level), (1, Level::Warn));
    assert_eq!((&event.source[..], &event.message[..]), (module_path!(), "its twin is gone"));
    assert_eq!(
        serde_json::to_value(&event.fields).unwrap(),
        serde_json::json!({"port": "p2", "queue": 3, "up": false})
    );
    let again: Event = serde_json::from_str(&serde_json::to_string(&event).unwrap()).unwrap();
    assert_eq!(again, event);
    assert_eq!(hub.latest(9), [Arc::new(event)]);
    assert_eq!((hub.counts().events(Level::Warn), hub.counts().events(Level::Debug)), (1, 0));
}

#[test]
fn a_reader_that_stopped_holds_nobody_up_and_is_told_what_it_missed() {
    let (hub, lines, allow) = written();
    with_default(Receiver(Arc::clone(&hub)), || {
        // Many places, so that no limit holds them back.
        for _ in 0..90 {
            macro_rules! places {
                ($($n:literal)*) => { $( tracing::info!("{}", $n); )* };
            }
            places!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20);
        }
    });
    let lost = hub.counts().lost_lines();
    // One is being written, a queue of others waits.
    assert!((1_800 - 1_025..=1_800 - 1_024).contains(&lost), "{lost}");
    assert_eq!(hub.latest(usize::MAX).len(), 512);
    (0..1_900).for_each(|_| allow.send(()).unwrap());
    let first = lines.recv().unwrap();
    let told = lines.recv().unwrap();
    assert_eq!((&first.message[..], &told.fields["lost"]), ("1", &Value::from(lost)));
    hub.flush(Duration::from_secs(60));
    assert_eq!(lines.try_iter().count() as u64, 1_800 - lost - 1);
}

#[test]
fn who_waits_for_a_stopped_reader_does_not_wait_for_ever() {
    let (hub, _lines, _allow) = written();
    with_default(Receiver(Arc::clone(&hub)), || tracing::info!("started"));
    hub.flush(Duration::from_millis(1));
}

#[test]
fn an_event_that_repeats_is_held_back_and_its_count_told_without_another() {
    let (hub, lines, allow) = written();
    (0..200).for_each(|_| allow.send(()).unwrap());
    with_default(Receiver(Arc::clone(&hub)), || {
        for _ in 0..1_000 {
            tracing::warn!(fault = "table-full", "no room");
        }
    });
    let (mut told, mut held) = (0, 0);
    while told + held < 1_000 {
        let event = lines.recv().unwrap();
        match event.fields.get("suppressed").and_then(Value::as_u64) {
            None => told += 1,
            Some(count) => {
                assert_eq!(event.message, format!("{count} more suppressed: no room"));
                held += count;
            }
        }
    }
    assert!((100..500).contains(&told), "{told}");
    assert_eq!((hub.counts().suppressed_events(), hub.counts().lost_lines()), (held, 0));
    assert_eq!(hub.counts().events(Level::Warn), 1_000);
    assert_eq!(hub.counts().faults(), [("table-full".to_owned(), 1_000)].into());
}

#[test]
fn the_level_decides_at_any_time() {
    let hub = Arc::new(Hub::default());
    with_default(Receiver(Arc::clone(&hub)), || {
        for level in [Level::Error, Level::Debug, Level::Info] {
            hub.set_level(level);
            tracing::info!(%level, "told?");
        }
    });
    let told: Vec<_> = hub.latest(9).iter().map(|event| event.fields["level"].clone()).collect();
    assert_eq!(told, ["debug", "info"]);
}
