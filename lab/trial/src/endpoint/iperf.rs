//! What iperf3 says at the end of a run, as JSON.
//!
//! ```text
//! { "end": { "sum_sent", "sum_received", "sum_received_bidir_reverse" …, "streams": [ { "sender", "receiver" } … ] },
//!   "error": "…" }
//! ```
//! It tells of what it could not do in its text alone, not by its status.

use lab_record::Way;
use serde::Deserialize;

/// Most parallel streams that it has.
pub const MOST_STREAMS: u64 = 128;

/// What a run found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Run {
    /// From the client, and to it where both were asked for.
    pub ways: Vec<Way>,
    /// Congestion control of the sender.
    pub congestion: String,
}

/// What datagrams one way found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Datagrams {
    /// Jitter where they arrived (RFC 3550).
    pub jitter_s: f64,
    /// Share that did not arrive.
    pub lost: f64,
}

#[derive(Deserialize)]
struct Document {
    error: Option<String>,
    end: Option<End>,
}

/// Streams without an end are there only when something went wrong.
#[derive(Deserialize)]
struct End {
    #[serde(default)]
    streams: Vec<Stream>,
    sum: Option<DatagramSum>,
    sum_sent: Option<Sum>,
    sum_received: Option<Sum>,
    sum_sent_bidir_reverse: Option<Sum>,
    sum_received_bidir_reverse: Option<Sum>,
    #[serde(default)]
    sender_tcp_congestion: String,
}

/// Of TCP, a stream has two ends; of UDP, one account.
#[derive(Deserialize)]
struct Stream {
    receiver: Option<Sum>,
}

/// A sum of TCP is called so, too, by some versions.
#[derive(Deserialize)]
struct DatagramSum {
    jitter_ms: Option<f64>,
    lost_packets: Option<f64>,
    packets: Option<f64>,
}

#[derive(Deserialize)]
struct Sum {
    bits_per_second: f64,
    #[serde(default)]
    retransmits: u64,
    /// Whether the client sent.
    sender: Option<bool>,
}

/// Reads its last words; why they are none is the error.
pub fn read(text: &str, both: bool) -> Result<Run, String> {
    let end = end_of(text)?;
    let streams = |sender: bool| {
        let all = end.streams.iter().filter_map(|it| it.receiver.as_ref());
        let own = all.filter(move |it| it.sender.unwrap_or(true) == sender);
        own.map(|it| it.bits_per_second).collect::<Vec<_>>()
    };
    let way = |sent: &Option<Sum>, received: &Option<Sum>, sender: bool| {
        let received = received.as_ref().ok_or("its JSON has no sum of what was received")?;
        let way = Way {
            bps: received.bits_per_second,
            retransmits: sent.as_ref().map_or(0, |sent| sent.retransmits),
            streams_bps: streams(sender),
        };
        let is_rate = |bps: &f64| bps.is_finite() && *bps >= 0.0;
        match is_rate(&way.bps) && way.streams_bps.iter().all(is_rate) {
            true => Ok(way),
            false => Err("its JSON has a rate that is none".to_owned()),
        }
    };
    let mut ways = vec![way(&end.sum_sent, &end.sum_received, true)?];
    if both {
        ways.push(way(&end.sum_sent_bidir_reverse, &end.sum_received_bidir_reverse, false)?);
    }
    Ok(Run { ways, congestion: end.sender_tcp_congestion })
}

/// The same of datagrams one way.
pub fn read_datagrams(text: &str) -> Result<Datagrams, String> {
    let numbers = |sum: DatagramSum| Some((sum.jitter_ms?, sum.lost_packets?, sum.packets?));
    let (jitter_ms, lost, packets) =
        end_of(text)?.sum.and_then(numbers).ok_or("its JSON has no sum of datagrams")?;
    let found = Datagrams { jitter_s: jitter_ms / 1e3, lost: lost / packets };
    let is_some = found.jitter_s.is_finite() && found.jitter_s >= 0.0;
    match is_some && (0.0..=1.0).contains(&found.lost) {
        true => Ok(found),
        false => Err("its JSON has a jitter or a loss that is none".to_owned()),
    }
}

fn end_of(text: &str) -> Result<End, String> {
    let start = text.find('{').ok_or_else(|| format!("it said {:?}", shown(text)))?;
    let document: Document = serde_json::from_str(&text[start..])
        .map_err(|error| format!("its JSON cannot be read: {error}"))?;
    if let Some(error) = document.error {
        return Err(error);
    }
    document.end.ok_or_else(|| "its JSON has no end".to_owned())
}

fn shown(text: &str) -> String {
    text.trim().chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOLD: &str = r#"{ "start": { "version": "iperf 3.12" }, "intervals": [], "end": {
        "streams": [
          { "sender": { "bits_per_second": 3e9, "sender": true }, "receiver": { "bits_per_second": 2.5e9, "sender": true } },
          { "sender": { "bits_per_second": 3e9, "sender": true }, "receiver": { "bits_per_second": 2e9, "sender": true } },
          { "sender": { "bits_per_second": 1e9, "sender": false }, "receiver": { "bits_per_second": 8e8, "sender": false } } ],
        "sum_sent": { "seconds": 1.0, "bits_per_second": 6e9, "retransmits": 7, "sender": true },
        "sum_received": { "seconds": 1.0, "bits_per_second": 4.5e9, "sender": true },
        "sum_sent_bidir_reverse": { "bits_per_second": 1e9, "retransmits": 5, "sender": false },
        "sum_received_bidir_reverse": { "bits_per_second": 8e8, "sender": false },
        "sender_tcp_congestion": "cubic" } }"#;

    #[test]
    fn both_ways_are_told_with_their_streams() {
        let run = read(TOLD, true).unwrap();
        let there = Way { bps: 4.5e9, retransmits: 7, streams_bps: vec![2.5e9, 2e9] };
        let back = Way { bps: 8e8, retransmits: 5, streams_bps: vec![8e8] };
        assert_eq!(run, Run { ways: vec![there.clone(), back], congestion: "cubic".into() });
        assert_eq!(read(TOLD, false).unwrap().ways, [there]);
    }

    #[test]
    fn datagrams_have_jitter_and_loss_or_are_refused() {
        let told = r#"{ "end": { "streams": [{ "udp": { "jitter_ms": 0.01 } }],
            "sum": { "seconds": 1.0, "bits_per_second": 9.5e7, "jitter_ms": 0.25, "lost_packets": 2, "packets": 8, "sender": true } } }"#;
        assert_eq!(read_datagrams(told), Ok(Datagrams { jitter_s: 0.25e-3, lost: 0.25 }));
        for (from, to) in
            [("\"packets\": 8", "\"packets\": 0"), ("0.25", "-1"), ("\"sum\"", "\"none\"")]
        {
            assert!(read_datagrams(&told.replace(from, to)).is_err(), "{from}");
        }
        for length in 0..told.len() {
            assert!(read_datagrams(&told[..length]).is_err(), "{length}");
        }
    }

    #[test]
    fn what_it_could_not_do_is_an_error() {
        let told = r#"{ "start": {}, "intervals": [], "end": {}, "error": "unable to connect" }"#;
        assert_eq!(read(told, false), Err("unable to connect".into()));
        assert_eq!(
            read("iperf3: no such option", false),
            Err("it said \"iperf3: no such option\"".into())
        );
        let lame = TOLD.replace("sum_received_bidir_reverse", "sum");
        assert!(read(&lame, true).unwrap_err().contains("no sum"));
        assert!(read("{}", false).unwrap_err().contains("no end"));
        let negative = TOLD.replace("2.5e9", "-1");
        assert!(read(&negative, false).unwrap_err().contains("a rate that is none"));
    }

    #[test]
    fn text_that_was_cut_off_or_bent_anywhere_is_refused_or_read_and_never_a_panic() {
        for length in 0..TOLD.len() {
            assert!(read(&TOLD[..length], true).is_err(), "{length}");
        }
        for at in 0..TOLD.len() {
            for octet in ["", "\"", "{", "9", "\u{fc}", "null"] {
                let bent = format!("{}{octet}{}", &TOLD[..at], &TOLD[at + 1..]);
                if let Ok(run) = read(&bent, true) {
                    assert!(run.ways.iter().all(|way| way.bps >= 0.0 && way.bps.is_finite()));
                }
            }
        }
    }
}
