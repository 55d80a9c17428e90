//! Has the router what there is to be, and nothing of what there was.
//!
//! ```text
//!  wanted ─ running = steps, each made whole or not at all: what cannot be made leaves the others
//!  out:  mirrors, members, ports (parts first), policers, bridges
//!  in:   bridges, ports, members, policers, schedulers, exporters, mirrors
//! ```

use std::collections::{BTreeMap, BTreeSet};

use super::made::{Made, Objects};
use super::mirrors::WantedMirror;
use super::router::{Router, Running};
use super::wanted::{Wanted, WantedPort};
use crate::error::CliError;
use crate::kept::Kept;

/// See the module.
pub(super) struct Maker<R> {
    router: R,
    kept: Kept<Made>,
}

/// Why a round ended before all was tried.
#[derive(Debug)]
pub(super) struct Broken(pub(super) String);

/// What came of a round.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// What is wrong, by rows of Interface.
    pub(super) faults: BTreeMap<String, String>,
    /// What is wrong beside.
    pub(super) others: BTreeSet<String>,
    /// What the router has now.
    pub(super) running: Running,
}

/// Which objects.
type Of = fn(&mut Made) -> &mut Objects;

impl<R: Router> Maker<R> {
    pub(super) fn new(router: R, kept: Kept<Made>) -> Self {
        Self { router, kept }
    }

    /// Makes what is wanted, as far as it can be made.
    pub(super) fn make(&mut self, wanted: &Wanted) -> Result<Outcome, Broken> {
        let mut outcome = Outcome {
            faults: wanted.faults.clone(),
            others: wanted.others.clone(),
            running: self.running()?,
        };
        self.forget_what_went(&outcome.running)?;
        self.take_out(wanted, &mut outcome)?;
        self.put_bridges(wanted, &mut outcome)?;
        self.put_ports(wanted, &mut outcome)?;
        self.treat_ports(wanted, &mut outcome)?;
        self.put_exports(wanted, &mut outcome)?;
        self.put_mirrors(wanted, &mut outcome)?;
        outcome.running = self.running()?;
        Ok(outcome)
    }

    fn running(&self) -> Result<Running, Broken> {
        self.router.running().map_err(|error| Broken(error.to_string()))
    }

    fn keep(&mut self, change: impl FnOnce(&mut Made)) -> Result<(), Broken> {
        self.kept.change(change).map_err(Broken)
    }

    /// Runs commands; what is refused is the inner error, in one line.
    fn edit(&self, commands: &[String]) -> Result<Result<(), String>, Broken> {
        match self.router.edit(commands) {
            Ok(()) => Ok(Ok(())),
            Err(CliError::Refused { detail, .. }) => {
                let first = detail.lines().next().unwrap_or_default();
                Ok(Err(first.trim_start_matches("error: ").to_owned()))
            }
            Err(error) => Err(Broken(error.to_string())),
        }
    }

    /// What a router that was started anew, or told something else, has no more.
    fn forget_what_went(&mut self, running: &Running) -> Result<(), Broken> {
        let is_member = |member: &str| {
            let (bridge, port) = member.split_once(' ').unwrap_or_default();
            running.bridges.get(bridge).is_some_and(|ports| ports.contains(port))
        };
        self.keep(|made| {
            made.bridges.retain(|name, _| running.bridges.contains_key(name));
            made.ports.retain(|name, _| running.ports.contains_key(name));
            made.members.retain(|member, _| is_member(member));
            made.schedulers.retain(|port, _| running.shaped.contains(port));
            made.exports.retain(|name, _| running.exports.contains(name));
            made.mirrors.retain(|name, _| running.mirrors.contains_key(name));
            made.exported.retain(|bridge, _| running.bridges.contains_key(bridge));
            made.sampled.retain(|bridge, _| running.bridges.contains_key(bridge));
            for (policed, way) in [(&mut made.police_in, "in"), (&mut made.police_out, "out")] {
                policed.retain(|port, _| {
                    let is_policed = running.policers.contains(&policer_name(port, way));
                    running.ports.contains_key(port) && is_policed
                });
            }
        })
    }

    /// Takes out what was made here and is not wanted any more, or otherwise.
    fn take_out(&mut self, wanted: &Wanted, outcome: &mut Outcome) -> Result<(), Broken> {
        let made = self.kept.state().clone();
        let stays = |name: &str, spec: &str| {
            let port = wanted.ports.get(name);
            let is_same = |name: &String, spec: Option<&String>| {
                wanted.ports.get(name).is_some_and(|it| spec == Some(&it.add))
            };
            // What stands on what does not stay does not either; on a bond, on its members.
            let below = port.map(|port| &port.on[..]).unwrap_or_default();
            let of =
                |name: &String| wanted.ports.get(name).map(|it| &it.on[..]).unwrap_or_default();
            let mut below = below.iter().chain(below.iter().flat_map(of));
            port.is_some_and(|port| port.add == spec)
                && below.all(|below| is_same(below, made.ports.get(below)))
        };
        for (mirror, words) in &made.mirrors {
            // A port that goes is no mirror's any more.
            let wanted = wanted.mirrors.get(mirror).filter(|it| it.words() == *words);
            let is_there =
                |port: &String| made.ports.get(port).is_some_and(|spec| stays(port, spec));
            let all_stay = |it: &WantedMirror| it.from.keys().chain([&it.to]).all(is_there);
            if !wanted.is_some_and(all_stay) {
                let command = format!("mirror del {mirror}");
                self.out(|made| &mut made.mirrors, mirror, &[command], outcome)?;
            }
        }
        let leaves = |member: &str, words: &String| {
            let (bridge, port) = member.split_once(' ').unwrap_or_default();
            let still = wanted.bridges.get(bridge).and_then(|it| it.members.get(port));
            let port_stays = made.ports.get(port).is_some_and(|spec| stays(port, spec));
            still.is_none_or(|it| it != words) || !port_stays
        };
        // Behind a bridge of flows are its ports, and VLANs of them: those of a VLAN go first.
        let in_front = |member: &str| {
            let (bridge, port) = member.split_once(' ')?;
            let front = made.bridges.get(bridge)?.strip_prefix("behind ")?.split(' ').next()?;
            let of = made.ports.get(port).and_then(|spec| spec.strip_prefix("vlan parent "));
            let of = of.and_then(|spec| spec.split(' ').next()).unwrap_or(port);
            made.members.get_key_value(&format!("{front} {of}"))
        };
        for (member, words) in made.members.iter().rev() {
            let is_of_one = in_front(member).is_some_and(|(front, words)| leaves(front, words));
            if leaves(member, words) || is_of_one {
                let (bridge, port) = member.split_once(' ').unwrap_or_default();
                let command = format!("bridge leave {bridge} {port}");
                self.out(|made| &mut made.members, member, &[command], outcome)?;
            }
        }
        let mut gone: Vec<&String> =
            made.ports.iter().filter(|(name, spec)| !stays(name, spec)).map(|it| it.0).collect();
        // Parts go before what they are parts of.
        gone.sort_by_key(|name| std::cmp::Reverse(height(&made.ports[*name])));
        for port in gone {
            let mut commands = vec![format!("port del {port}")];
            for (policed, way) in [(&made.police_in, "in"), (&made.police_out, "out")] {
                if policed.contains_key(port) {
                    commands.push(format!("policer del {}", policer_name(port, way)));
                }
            }
            if self.out(|made| &mut made.ports, port, &commands, outcome)? {
                self.keep(|made| {
                    made.schedulers.remove(port);
                    made.police_in.remove(port);
                    made.police_out.remove(port);
                })?;
            }
        }
        // A VLAN's goes before the one whose tree it is part of.
        let gone = made.bridges.keys().filter(|name| !wanted.bridges.contains_key(*name));
        for bridge in gone.rev() {
            let command = format!("bridge del {bridge}");
            if self.out(|made| &mut made.bridges, bridge, &[command], outcome)? {
                self.keep(|made| {
                    made.exported.remove(bridge);
                    made.sampled.remove(bridge);
                })?;
            }
        }
        outcome.running = self.running()?;
        Ok(())
    }

    /// Takes something out: whether it went.
    fn out(
        &mut self,
        of: Of,
        name: &str,
        commands: &[String],
        outcome: &mut Outcome,
    ) -> Result<bool, Broken> {
        match self.edit(commands)? {
            Ok(()) => {
                self.keep(|made| drop(of(made).remove(name)))?;
                Ok(true)
            }
            Err(why) => {
                outcome.others.insert(why);
                Ok(false)
            }
        }
    }

    /// Puts something in, which is written down before it is there: what is wrong with it.
    fn put(
        &mut self,
        of: Of,
        name: &str,
        words: &str,
        commands: &[String],
    ) -> Result<Result<(), String>, Broken> {
        let had = of(&mut self.kept.state().clone()).get(name).cloned();
        self.keep(|made| drop(of(made).insert(name.to_owned(), words.to_owned())))?;
        let done = self.edit(commands)?;
        if done.is_err() {
            self.keep(|made| {
                match had {
                    Some(had) => of(made).insert(name.to_owned(), had),
                    None => of(made).remove(name),
                };
            })?;
        }
        Ok(done)
    }

    fn put_bridges(&mut self, wanted: &Wanted, outcome: &mut Outcome) -> Result<(), Broken> {
        for (name, bridge) in &wanted.bridges {
            let controllers = &bridge.controllers;
            let settings = std::slice::from_ref(&bridge.settings);
            let tables: Vec<String> =
                bridge.tables.iter().map(|it| format!("tables {it}")).collect();
            let words = [settings, &controllers[..], &tables[..]].concat().join("; ");
            let made = self.kept.state().bridges.get(name);
            if made == Some(&words) {
                continue;
            }
            let is_there = outcome.running.bridges.contains_key(name);
            if is_there && made.is_none() {
                outcome.others.insert(format!("bridge {name} is the router's own"));
                continue;
            }
            let verb = if is_there { "set" } else { "add" };
            let set = format!("bridge {verb} {name} {}", bridge.settings);
            let says = !is_there || !bridge.settings.is_empty();
            let mut commands = Vec::new();
            // What is set of a list is added to it.
            if is_there && made.is_some_and(|words| words.contains(" protocols ")) {
                commands.push(format!("bridge set {name} protocols none"));
            }
            commands.extend(says.then_some(set));
            if is_there {
                commands.push(format!("bridge set {name} controllers none"));
                if made.is_some_and(|words| words.contains("; tables ")) {
                    commands.push(format!("bridge set {name} tables none"));
                }
                let listened = made.is_some_and(|words| words.contains("snooping on"));
                if listened && bridge.snooping.is_empty() {
                    commands.push(format!("bridge set {name} snooping off"));
                }
                let spanned = made.is_some_and(|words| words.contains("rstp on"));
                if spanned && bridge.rstp.is_empty() {
                    commands.push(format!("bridge set {name} rstp off"));
                }
            }
            let set = |it: &String| format!("bridge set {name} controllers {it}");
            commands.extend(controllers.iter().map(set));
            commands.extend(tables.iter().map(|it| format!("bridge set {name} {it}")));
            if let Err(why) = self.put(|made| &mut made.bridges, name, &words, &commands)? {
                outcome.others.insert(why);
            }
        }
        Ok(())
    }

    /// Exporters, and which bridges name them.
    fn put_exports(&mut self, wanted: &Wanted, outcome: &mut Outcome) -> Result<(), Broken> {
        for (name, words) in &wanted.exports {
            let made = self.kept.state().exports.get(name);
            let is_there = outcome.running.exports.contains(name);
            if is_there && made.is_none() {
                outcome.others.insert(format!("export {name} is the router's own"));
            }
            if made == Some(words) || (is_there && made.is_none()) {
                continue;
            }
            // What is set of a list is added to it.
            let commands = match is_there {
                true => vec![
                    format!("export set {name} collectors none"),
                    format!("export set {name} {words}"),
                ],
                false => vec![format!("export add {name} {words}")],
            };
            if let Err(why) = self.put(|made| &mut made.exports, name, words, &commands)? {
                outcome.others.insert(why);
            }
        }
        for (name, bridge) in &wanted.bridges {
            let made = self.kept.state();
            let [exported, sampled] =
                [&made.exported, &made.sampled].map(|had| had.get(name).cloned());
            let named = ("export", &bridge.exports[..]);
            self.name_exports(name, |made| &mut made.exported, exported, named, outcome)?;
            let named = ("samples", &bridge.samples[..]);
            self.name_exports(name, |made| &mut made.sampled, sampled, named, outcome)?;
        }
        let gone = self.kept.state().exports.clone();
        for name in gone.keys().filter(|name| !wanted.exports.contains_key(*name)) {
            let command = format!("export del {name}");
            self.out(|made| &mut made.exports, name, &[command], outcome)?;
        }
        Ok(())
    }

    /// Has a bridge name exporters by a key, those of them that are there.
    fn name_exports(
        &mut self,
        bridge: &str,
        of: Of,
        had: Option<String>,
        (key, wanted): (&str, &[String]),
        outcome: &mut Outcome,
    ) -> Result<(), Broken> {
        let made = self.kept.state();
        let is_made = |name: &&String| made.exports.contains_key(*name);
        let names: Vec<_> = wanted.iter().filter(is_made).cloned().collect();
        let names = names.join(" ");
        let is_so = had.as_ref().map_or(names.is_empty(), |had| *had == names);
        if is_so || !made.bridges.contains_key(bridge) {
            return Ok(());
        }
        let none = had.map(|_| format!("bridge set {bridge} {key} none"));
        let mut commands: Vec<String> = none.into_iter().collect();
        if names.is_empty() {
            self.out(of, bridge, &commands, outcome)?;
            return Ok(());
        }
        let each = names.split(' ').map(|name| format!(" {key} {name}"));
        commands.push(format!("bridge set {bridge}{}", each.collect::<String>()));
        if let Err(why) = self.put(of, bridge, &names, &commands)? {
            outcome.others.insert(why);
        }
        Ok(())
    }

    /// Mirrors of ports that are there.
    fn put_mirrors(&mut self, wanted: &Wanted, outcome: &mut Outcome) -> Result<(), Broken> {
        for (name, mirror) in &wanted.mirrors {
            let (made, words) = (self.kept.state(), mirror.words());
            let mut ports = mirror.from.keys().chain([&mirror.to]);
            if made.mirrors.contains_key(name) {
                continue;
            }
            if let Some(port) = ports.find(|port| !made.ports.contains_key(*port)) {
                outcome.others.insert(format!("mirror {name}: port {port} is not there"));
                continue;
            }
            if outcome.running.mirrors.contains_key(name) {
                outcome.others.insert(format!("mirror {name} is the router's own"));
                continue;
            }
            let command = format!("mirror add {name} {words}");
            if let Err(why) = self.put(|made| &mut made.mirrors, name, &words, &[command])? {
                outcome.others.insert(why);
            }
        }
        Ok(())
    }

    fn put_ports(&mut self, wanted: &Wanted, outcome: &mut Outcome) -> Result<(), Broken> {
        let mut ports: Vec<_> = wanted.ports.iter().collect();
        ports.sort_by_key(|(_, port)| height(&port.add));
        for (name, port) in ports {
            let is_there = outcome.running.ports.contains_key(name);
            let made = self.kept.state().ports.get(name);
            // A part of what is not here, or not ours, is none.
            let is_made = |below: &String| self.kept.state().ports.contains_key(below);
            if made == Some(&port.add) || !port.on.iter().all(is_made) {
                continue;
            }
            if is_there {
                // Made here and not gone: that is told already.
                if made.is_none() {
                    fault(outcome, port, format!("port {name} is the router's own"));
                }
                continue;
            }
            let command = format!("port add {name} {}", port.add);
            if let Err(why) = self.put(|made| &mut made.ports, name, &port.add, &[command])? {
                fault(outcome, port, why);
            }
        }
        for (bridge, wanted_bridge) in &wanted.bridges {
            for (port, words) in &wanted_bridge.members {
                let member = format!("{bridge} {port}");
                let made = self.kept.state();
                if made.members.get(&member) == Some(words)
                    || !made.ports.contains_key(port)
                    || !made.bridges.contains_key(bridge)
                {
                    continue;
                }
                let command = format!("bridge join {bridge} {port} {words}");
                if let Err(why) = self.put(|made| &mut made.members, &member, words, &[command])?
                    && let Some(port) = wanted.ports.get(port)
                {
                    fault(outcome, port, why);
                }
            }
        }
        Ok(())
    }

    /// Policers and schedulers of ports.
    fn treat_ports(&mut self, wanted: &Wanted, outcome: &mut Outcome) -> Result<(), Broken> {
        for (name, port) in &wanted.ports {
            if !self.kept.state().ports.contains_key(name) {
                continue;
            }
            let policers: [(Of, &str, &str, &Option<String>); 2] = [
                (|made| &mut made.police_in, "police_in", "in", &port.police_in),
                (|made| &mut made.police_out, "police_out", "out", &port.treatment.police_out),
            ];
            for (of, key, way, words) in policers {
                let had = of(&mut self.kept.state().clone()).get(name).cloned();
                if had == *words {
                    continue;
                }
                let policer = policer_name(name, way);
                let done = match words {
                    Some(words) => {
                        // In place of one that is there: what this one does not limit is not.
                        let commands = [
                            format!("policer add {policer} {words}"),
                            format!("port set {name} {key} {policer}"),
                        ];
                        self.put(of, name, words, &commands)?
                    }
                    None => {
                        let commands = [
                            format!("port set {name} {key} none"),
                            format!("policer del {policer}"),
                        ];
                        self.out(of, name, &commands, outcome)?;
                        Ok(())
                    }
                };
                if let Err(why) = done {
                    fault(outcome, port, why);
                }
            }
            let scheduler = &port.treatment.scheduler;
            let (words, had) = (scheduler.join("; "), self.kept.state().schedulers.get(name));
            if had.map_or(words.is_empty(), |had| *had == words) {
                continue;
            }
            let mut commands: Vec<String> =
                had.map(|_| format!("qos del {name}")).into_iter().collect();
            commands.extend(scheduler.iter().cloned());
            if scheduler.is_empty() {
                self.out(|made| &mut made.schedulers, name, &commands, outcome)?;
            } else if let Err(why) =
                self.put(|made| &mut made.schedulers, name, &words, &commands)?
            {
                fault(outcome, port, format!("QoS: {why}"));
            }
        }
        Ok(())
    }
}

/// How many others a port may stand on: a bond on its members, a part of a trunk on both.
fn height(add: &str) -> u8 {
    match add.split_once(' ') {
        Some(("vlan", _)) => 2,
        Some(("bond", _)) => 1,
        _ => 0,
    }
}

/// The policer of a port, in a direction.
fn policer_name(port: &str, way: &str) -> String {
    format!("{port}.{way}")
}

fn fault(outcome: &mut Outcome, port: &WantedPort, why: String) {
    outcome.faults.entry(port.of.clone()).or_insert(why);
}
