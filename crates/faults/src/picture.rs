//! Whether a router that came to its configuration by many ways is the same as one that began
//! with it.

use crate::line::Lines;
use crate::world::Stage;
use control::config::Config;
use control::view::{self, View};
use serde_json::{Value, json};
use std::time::Duration;

/// Links are looked at, addresses found to be nobody else's, devices opened again.
const SETTLES: Duration = Duration::from_secs(4);
const STEP: Duration = Duration::from_millis(500);

/// Turns a router until nothing that a change began is left to do.
pub(crate) fn settle(stage: &mut Stage) {
    let mut passed = Duration::ZERO;
    while passed < SETTLES {
        stage.time.pass(STEP);
        passed += STEP;
        for _ in 0..64 {
            if !stage.turn() {
                break;
            }
        }
    }
    for (_, line) in stage.lines.all() {
        let mut line = line.lock();
        line.from_router.clear();
        line.room = crate::line::USUAL_ROOM;
    }
}

/// Compares a router that has settled with a new one; says where they differ.
pub(crate) fn compare(stage: &mut Stage, config: &Config) -> Result<(), String> {
    let lines = Lines::new(stage.lines.count());
    let mut fresh = Stage::start(1, config, lines)?;
    stage.lines.liken(&fresh.lines);
    settle(&mut fresh);
    macro_rules! same {
        ($($View:ident, $filter:expr, $($volatile:literal)*;)*) => {$(
            let volatile: &[&str] = &[$($volatile),*];
            let [mut ours, mut theirs] = [&mut *stage, &mut fresh].map(|it| it.shows::<view::$View>($filter));
            for shown in [&mut ours, &mut theirs].into_iter().flatten() {
                strip(shown, <view::$View as View>::COUNTERS, volatile);
            }
            if ours != theirs {
                return Err(difference(<view::$View as View>::COMMAND, &ours, &theirs));
            }
        )*};
    }
    same! {
        Port, json!({}), "rx" "tx" "mac";
        Routes, json!({ "source": "connected" }), "left";
        Routes, json!({ "source": "static" }), "left";
        Routes, json!({ "source": "static", "vrf": "red" }), "left";
        Vrf, json!({}), "routes" "forwarded";
        Bridge, json!({}), "stations" "bindings" "nd_bindings";
        Acl, json!({}), "memory_bytes";
        Policer, json!({}),;
        Mirror, json!({}),;
        Flows, json!({}), "groups";
    }
    let usage = fresh.end_of(config)?;
    if usage.free != usage.total {
        return Err(format!("a router that only began has lost buffers: {usage:?}"));
    }
    Ok(())
}

/// Takes out what only grows, and what passes.
fn strip(value: &mut Value, counters: &[&str], volatile: &[&str]) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| !counters.contains(&&**name) && !volatile.contains(&&**name));
            fields.values_mut().for_each(|field| strip(field, counters, volatile));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| strip(item, counters, volatile)),
        _ => {}
    }
}

/// The first place at which two answers differ.
fn difference(
    command: &str,
    ours: &Result<Value, String>,
    theirs: &Result<Value, String>,
) -> String {
    let items = |shown: &Result<Value, String>| match shown {
        Ok(Value::Array(items)) => items.clone(),
        Ok(Value::Object(fields)) => match fields.values().find_map(Value::as_array) {
            Some(items) => items.clone(),
            None => vec![Value::Object(fields.clone())],
        },
        Ok(other) => vec![other.clone()],
        Err(error) => vec![Value::String(error.clone())],
    };
    let (ours, theirs) = (items(ours), items(theirs));
    let only = |these: &[Value], those: &[Value]| {
        these.iter().find(|it| !those.contains(it)).map_or("nothing".to_owned(), Value::to_string)
    };
    let (here, there) = (only(&ours, &theirs), only(&theirs, &ours));
    format!("{command}: after all changes {here}, begun anew {there}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::FIXED;
    use crate::world::config_of;

    #[test]
    fn a_router_that_runs_something_else_is_told() {
        let (here, there) = (config_of(FIXED.to_owned()), FIXED.to_owned() + "vrf.red = {}\n");
        let config = here.unwrap();
        let mut stage = Stage::start(1, &config, Lines::new(7)).unwrap();
        settle(&mut stage);
        compare(&mut stage, &config).unwrap();
        let told = compare(&mut stage, &config_of(there).unwrap()).unwrap_err();
        assert!(told.contains("red") && told.contains("after all changes"), "{told}");
    }
}
