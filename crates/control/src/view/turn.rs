//! The control thread's turns.

use super::answer::*;

/// What the control thread did, and how long it looked after nothing else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Turn {
    /// A path of the API, or `tick`: workers, neighbours, links and timers.
    pub call: String,
    /// How many turns it took.
    pub turns: u64,
    /// Those that took too long: what waits for the control thread waits for the end of a turn.
    pub long: u64,
    /// Processor time of all of them, in microseconds.
    pub cpu_us: f64,
    /// Processor time of the longest, in microseconds.
    pub longest_cpu_us: f64,
    /// Time that the longest took, in microseconds: also what it waited.
    pub longest_us: f64,
}

impl View for Turn {
    view!("show control", "/v1/control", All => Vec<Self>,
        "Turns of the control thread, and the longest of each call");
    counters!("turns", "long", "cpu_us");
    const METRICS: Option<Metrics<Self>> = Some((All, |turns, out| {
        out.of(turns, |turn| [("call", &turn.call)])
            .counter("control_turns", "Turns of the control thread.", |turn| turn.turns)
            .counter("control_long_turns", "Turns that took too long.", |turn| turn.long)
            .counter("control_seconds", "Processor time of the turns.", |turn| turn.cpu_us / 1e6)
            .gauge("control_longest_turn_seconds", "Processor time of the longest turn.", |turn| {
                turn.longest_cpu_us / 1e6
            });
    }));

    fn table(turns: &Vec<Self>) -> Table {
        let us = |us: f64| format!("{us:.0}");
        table!(turns, turn => {
            "call": turn.call, "turns": turn.turns, "long": turn.long, "cpu us": us(turn.cpu_us),
            "longest cpu us": us(turn.longest_cpu_us), "longest us": us(turn.longest_us),
        })
    }
}
