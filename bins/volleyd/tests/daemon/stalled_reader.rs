//! A reader of stderr that has stopped holds up neither start, nor API, nor end.

use crate::router::{Router, get};
use std::io::Write;
use std::time::{Duration, Instant};

/// Refusals, of which each is an event.
const REQUESTS: usize = 3_000;

/// A pipe that is full and that nobody reads.
fn full_pipe() -> (std::io::PipeReader, std::io::PipeWriter) {
    let (reader, writer) = std::io::pipe().unwrap();
    let mut filler = writer.try_clone().unwrap();
    // Ends with the test, when there is no reader any more.
    std::thread::spawn(move || while filler.write_all(b"full ").is_ok() {});
    (reader, writer)
}

#[test]
fn a_router_whose_log_nobody_reads_starts_answers_and_ends() {
    let (_reader, stderr) = full_pipe();
    let mut router = Router::start("stalled", |_, command| {
        command.stderr(stderr);
    });

    let mut stream = router.connect();
    let begin = Instant::now();
    for _ in 0..REQUESTS {
        assert_eq!(get(&mut stream, "/v1/nothing").0, 404);
    }
    let each = begin.elapsed() / REQUESTS as u32;
    assert!(each < Duration::from_secs(1), "{each:?}");
    let (status, metrics) = get(&mut stream, "/metrics");
    let events =
        metrics.lines().find_map(|it| it.strip_prefix("volley_events_total{level=\"info\"} "));
    assert!(status == 200 && events.unwrap().parse::<usize>().unwrap() >= REQUESTS, "{metrics}");
    let (status, list) = get(&mut stream, "/v1/events");
    assert!(status == 200 && list.contains("there is nothing at /v1/nothing"), "{list}");

    router.signal("-TERM");
    router.ends();
}
