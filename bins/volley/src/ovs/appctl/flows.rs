//! What workers remember of bridges, as Open vSwitch tells flows of its datapath.

use control::view::{MegaflowFilter, Megaflows, query};

use super::command::{Asked, Said};
use super::dpif::DATAPATH;

/// What is asked of them.
pub(super) fn megaflows(asked: &Asked<'_>, bridge: Option<&str>, names: bool) -> Said<Megaflows> {
    let filter = MegaflowFilter { bridge: bridge.map(str::to_owned), names, limit: None };
    asked.view(&format!("/v1/megaflows{}", query(&filter)))
}

/// Those of a bridge.
pub(super) fn dump(asked: &Asked<'_>) -> Said {
    let Some((bridge, options)) = asked.words.split_last() else {
        return Err("no such bridge\n".to_owned());
    };
    let parts: Vec<String> = {
        let known = asked.known();
        let known = known.bridges.get(bridge).ok_or("no such bridge\n")?;
        known.parts.keys().cloned().collect()
    };
    // With all that is known ports have their names, unless it is said that they do not.
    let mut names = false;
    for option in options {
        match &option[..] {
            "-m" | "--more" | "--names" => names = true,
            "--no-names" => names = false,
            other => return Err(format!("dpif/dump-flows: unrecognized option '{other}'\n")),
        }
    }
    let mut text = String::new();
    for part in parts {
        let shown = megaflows(asked, Some(&part), names)?;
        shown.megaflows.iter().for_each(|it| text.push_str(&format!("{}\n", it.line())));
    }
    Ok(text)
}

/// How many there are, worker by worker.
pub(super) fn upcalls(asked: &Asked<'_>) -> Said {
    let shown = megaflows(asked, None, false)?;
    let now: usize = shown.workers.iter().sum();
    let most = asked.known().flows_seen(now);
    let mut text = format!(
        "{DATAPATH}:\n  flows         : (current {now}) (max {most}) (limit {})\n\n",
        shown.limit
    );
    for (worker, count) in shown.workers.iter().enumerate() {
        text.push_str(&format!("  {worker}: (keys {count})\n"));
    }
    Ok(text)
}
