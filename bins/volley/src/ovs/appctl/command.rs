//! The commands. A new one is one line of the list.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Known, bond, coverage, dpctl, dpif, fdb, flows, stp, trace};
use crate::client::Client;

/// What a command has to go by.
pub(super) struct Asked<'a> {
    pub(super) client: &'a Client,
    pub(super) known: &'a Mutex<Known>,
    pub(super) words: &'a [String],
}

impl Asked<'_> {
    pub(super) fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the router shows, or why not.
    pub(super) fn view<T: serde::de::DeserializeOwned>(&self, path: &str) -> Said<T> {
        self.client.view(path).map_err(|error| format!("{error}\n"))
    }
}

/// What is said to it: a text, or what is wrong.
pub(super) type Said<T = String> = Result<T, String>;

struct Command {
    name: &'static str,
    /// Its words.
    usage: &'static str,
    least: usize,
    most: usize,
    run: fn(&Asked<'_>) -> Said,
}

macro_rules! commands {
    ($($name:literal $usage:literal $least:literal..=$most:literal $run:expr,)+) => {
        const COMMANDS: &[Command] = &[$(Command {
            name: $name, usage: $usage, least: $least, most: $most, run: $run,
        }),+];
    };
}

commands! {
    "bond/list" "" 0..=0 bond::list,
    "bond/show" "[port]" 0..=1 bond::show,
    "coverage/read-counter" "COUNTER" 1..=1 coverage::read_counter,
    "coverage/show" "" 0..=0 coverage::show,
    "dpctl/dump-dps" "" 0..=0 dpif::dump_dps,
    "dpctl/dump-flows" "[-m] [--names] [dp] [filter=..] [type=..] [pmd=..]" 0..=6 dpctl::dump_flows,
    "dpctl/show" "[-s] [dp...]" 0..=9 dpctl::show,
    "dpif/dump-dps" "" 0..=0 dpif::dump_dps,
    "dpif/dump-flows" "[-m] [--names | --no-names] bridge" 1..=999 flows::dump,
    "dpif/show" "" 0..=0 dpif::show,
    "fdb/flush" "[bridge]" 0..=1 fdb::flush,
    "fdb/show" "bridge" 1..=1 fdb::show,
    "fdb/stats-show" "bridge" 1..=1 fdb::statistics,
    "lacp/show" "[port]" 0..=1 bond::lacp,
    "list-commands" "" 0..=0 list,
    "ofproto/list" "" 0..=0 dpif::bridges,
    "ofproto/trace" "{[dp_name] odp_flow | bridge br_flow} [OPTIONS...] [-generate|packet]" 1..=999 trace::trace,
    "rstp/show" "[bridge]" 0..=1 stp::rapid,
    "stp/show" "[bridge]" 0..=1 stp::old,
    "upcall/show" "" 0..=0 flows::upcalls,
    "version" "" 0..=0 version,
}

/// Runs one, as Open vSwitch's daemon answers wrong ones.
pub(super) fn run(method: &str, asked: &Asked<'_>) -> Said {
    let Some(command) = COMMANDS.iter().find(|it| it.name == method) else {
        return Err(format!(
            "\"{method}\" is not a valid command (use \"list-commands\" to see a list of valid commands)\n"
        ));
    };
    let count = asked.words.len();
    if count < command.least {
        return Err(format!(
            "\"{method}\" command requires at least {} arguments\n",
            command.least
        ));
    }
    if count > command.most {
        return Err(format!("\"{method}\" command takes at most {} arguments\n", command.most));
    }
    (command.run)(asked)
}

fn list(_: &Asked<'_>) -> Said {
    let mut text = "The available commands are:\n".to_owned();
    for Command { name, usage, .. } in COMMANDS {
        text.push_str(&format!("  {name:<23} {usage}\n"));
    }
    Ok(text)
}

fn version(_: &Asked<'_>) -> Said {
    Ok(format!("volley ovs (Volley) {}\n", env!("CARGO_PKG_VERSION")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn ask(method: &str, words: &[&str]) -> Said {
        // Nobody listens there: what asks the router says so.
        let client = Client::new(Path::new("/nonexistent/volley.sock")).unwrap();
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        run(method, &Asked { client: &client, known: &Mutex::default(), words: &words })
    }

    #[test]
    fn wrong_commands_are_answered_as_open_vswitch_does() {
        let wrong = "\"nosuch\" is not a valid command (use \"list-commands\" to see a list of valid commands)\n";
        assert_eq!(ask("nosuch", &[]), Err(wrong.to_owned()));
        let unknown = |dp: &str| ask("dpctl/show", &[dp]);
        assert_eq!(
            unknown("x"),
            Err("ovs-vswitchd: datapath not found (Invalid argument)\n".to_owned())
        );
        assert_eq!(ask("dpif/dump-flows", &["nosuch"]), Err("no such bridge\n".to_owned()));
        assert_eq!(ask("dpif/dump-flows", &["a", "b"]), Err("no such bridge\n".to_owned()));
        let few = "\"fdb/show\" command requires at least 1 arguments\n";
        assert_eq!(ask("fdb/show", &[]), Err(few.to_owned()));
        let many = "\"version\" command takes at most 0 arguments\n";
        assert_eq!(ask("version", &["x"]), Err(many.to_owned()));
        assert_eq!(ask("fdb/show", &["nosuch"]), Err("no such bridge\n".to_owned()));
        assert!(ask("bond/list", &[]).unwrap_err().contains("/nonexistent/volley.sock"));
    }

    #[test]
    fn commands_are_listed_in_order_and_each_once() {
        let text = ask("list-commands", &[]).unwrap();
        assert!(text.contains("\n  fdb/show                bridge\n"), "{text}");
        assert!(COMMANDS.is_sorted_by(|one, next| one.name < next.name));
    }
}
