//! What happened how often: the exits of the router's nodes.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use control::view::Node;

use super::command::{Asked, Said};

/// Counters by their names: a node, and what it decided.
pub(in crate::ovs) fn counters(nodes: &[Node]) -> BTreeMap<String, u64> {
    let exits = nodes.iter().flat_map(|node| node.exits.iter().map(move |exit| (node, exit)));
    exits.map(|(node, exit)| (format!("{}/{}", node.name, exit.name), exit.packets)).collect()
}

fn now(asked: &Asked<'_>) -> Said<BTreeMap<String, u64>> {
    Ok(counters(&asked.view::<Vec<Node>>("/v1/nodes")?))
}

/// All that happened, with its rates over 5 s, a minute and an hour, as far as we look back.
pub(super) fn show(asked: &Asked<'_>) -> Said {
    let counters = now(asked)?;
    let known = asked.known();
    let now = Instant::now();
    // The counters that long ago: the oldest there are, if we have not been there so long.
    let then = |past_s: u64| {
        let past = Duration::from_secs(past_s);
        let is_older = |it: &&(Instant, BTreeMap<String, u64>)| now.duration_since(it.0) >= past;
        known.samples.iter().rev().find(is_older).or(known.samples.front())
    };
    let pasts = [5, 60, 3600].map(|past_s| (past_s, then(past_s)));
    let mut text =
        "Event coverage, avg rate over last: 5 seconds, last minute, last hour:\n".to_owned();
    let mut never = 0;
    for (name, count) in &counters {
        if *count == 0 {
            never += 1;
            continue;
        }
        let rates = pasts.map(|(past_s, then)| {
            let had = then.and_then(|then| then.1.get(name)).copied().unwrap_or(*count);
            count.saturating_sub(had) as f64 / past_s as f64
        });
        let [five, minute, hour] = rates;
        text.push_str(&format!(
            "{name:<24} {five:5.1}/sec {minute:9.3}/sec {hour:13.4}/sec   total: {count}\n"
        ));
    }
    text.push_str(&format!("{never} events never hit\n"));
    Ok(text)
}

/// One of them.
pub(super) fn read_counter(asked: &Asked<'_>) -> Said {
    let counters = now(asked)?;
    let count = counters.get(&asked.words[0]).ok_or("No such counter\n")?;
    Ok(format!("{count}\n"))
}
