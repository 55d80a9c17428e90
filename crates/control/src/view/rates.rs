//! Counters of two readings as what came in a second: `--watch`.

use std::time::Duration;

use serde_json::{Map, Value};

use super::answer::View;

/// The second reading, its counters as what came in a second since the first, its averages as those
/// since then.
pub fn rates<V: View>(then: &Value, now: Value, elapsed: Duration) -> serde_json::Result<Value> {
    let mut reply: V::Reply = serde_json::from_value(now)?;
    V::average_since(&serde_json::from_value(then.clone())?, &mut reply);
    let mut now = serde_json::to_value(reply)?;
    let rate = |then, now| rate(then, now, elapsed);
    each_counter(V::COUNTERS, then, &mut now, &rate);
    Ok(now)
}

/// What came in a second, rounded; a counter that was cleared starts anew.
fn rate(then: u64, now: u64, elapsed: Duration) -> u64 {
    let grown = if now >= then { now - then } else { now };
    (grown as f64 / elapsed.as_secs_f64().max(1e-3)).round() as u64
}

fn each_counter(counters: &[&str], then: &Value, now: &mut Value, rate: &impl Fn(u64, u64) -> u64) {
    match (then, now) {
        (Value::Object(then), Value::Object(now)) => {
            for (name, now) in now {
                let Some(then) = then.get(name) else { continue };
                match (then.as_u64(), now.as_u64()) {
                    (Some(then), Some(count)) if counters.contains(&name.as_str()) => {
                        *now = rate(then, count).into();
                    }
                    _ => each_counter(counters, then, now, rate),
                }
            }
        }
        (Value::Array(then), Value::Array(now)) => {
            for (at, now) in now.iter_mut().enumerate() {
                let there = then.get(at).filter(|then| is_same(then, now));
                if let Some(then) = there.or_else(|| then.iter().find(|then| is_same(then, now))) {
                    each_counter(counters, then, now, rate);
                }
            }
        }
        _ => {}
    }
}

/// Whether two readings are of the same thing: all that they say in words is alike.
fn is_same(then: &Value, now: &Value) -> bool {
    let (Value::Object(then), Value::Object(now)) = (then, now) else { return false };
    let words = |from: &Map<String, Value>, other: &Map<String, Value>| {
        let mut words = from.iter().filter(|(_, value)| value.is_string());
        words.all(|(name, value)| other.get(name) == Some(value))
    };
    words(then, now) && words(now, then)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_are_found_again_where_others_have_come_between() {
        let reading = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        let then =
            reading(r#"[{"name": "a", "packets": 10, "mtu": 1500}, {"name": "b", "packets": 7}]"#);
        let mut now = reading(
            r#"[{"name": "c", "packets": 3}, {"name": "a", "packets": 30, "mtu": 9000}, {"name": "b", "packets": 8}]"#,
        );
        each_counter(&["packets"], &then, &mut now, &|then, now| now - then);
        let wanted = r#"[{"name": "c", "packets": 3}, {"name": "a", "packets": 20, "mtu": 9000}, {"name": "b", "packets": 1}]"#;
        assert_eq!(now, reading(wanted));
    }

    #[test]
    fn a_counter_cleared_between_two_readings_counts_from_zero() {
        assert_eq!(rate(1000, 50, Duration::from_secs(1)), 50);
    }
}
