//! Ports come, change and go, and so do their links: parts follow.
//!
//! ```text
//!  added     device ─▶ follow, part by part ─▶ rows ─▶ workers read
//!  removed   leave ─▶ down ─▶ follow ─▶ close, in the reverse order ─▶ device
//! ```

use crate::aside::{aside, breathe};
use crate::core::{Core, fault};
use crate::devices::Opened;
use crate::interfaces::{Link, OpenPort};
use crate::parts::Parts;
use crate::rows;
use control::config::Delta;
use control::config::objects::port::{Port, PortName};
use control::engine::ApplyError;
use nodes::tables::MOST_INTERFACES;
use std::sync::Arc;

/// Makes one change of a port. One that fails leaves the port as it was; where one is being
/// taken back, the port comes back by all means: if need be without its device, which is then tried
/// again from time to time.
pub(crate) fn change(
    parts: &mut Parts,
    core: &mut Core,
    change: &Delta<PortName, Port>,
) -> Result<(), ApplyError> {
    core.touch_rows();
    match change {
        Delta::Added { key, row } => {
            let id = core.free_id();
            add(parts, core, key, row, id).or_else(|error| match core.is_undoing {
                true => bring_back(parts, core, key, row, id),
                false => Err(error),
            })
        }
        Delta::Removed { key, .. } => remove(parts, core, key).map(drop),
        Delta::Modified { key, old, new } => {
            let moves = !old.same_device(new) || old.mtu != new.mtu;
            match new.mac.filter(|_| old.mac != new.mac) {
                _ if moves => reopen(parts, core, key, old, new),
                Some(mac) => readdress(parts, core, key, (old, new), mac.0),
                None if old.mac != new.mac => reopen(parts, core, key, old, new),
                None => modify(parts, core, key, new),
            }
        }
    }
}

fn add(
    parts: &mut Parts,
    core: &mut Core,
    name: &PortName,
    config: &Port,
    id: Option<u16>,
) -> Result<(), ApplyError> {
    let refuse = |message: String| fault(&format!("port.{name}"), message);
    let id = id.ok_or_else(|| refuse(format!("more than {MOST_INTERFACES} ports")))?;
    // Whoever is served meanwhile finds the number taken.
    core.ports.reserve(id);
    let opened = open_device(parts, core, config);
    core.ports.unreserve(id);
    let mut port = OpenPort::waiting(id, config);
    port.take_device(opened.map_err(refuse)?, &core.dataplane).map_err(refuse)?;
    take_in(parts, core, name, port).inspect_err(|_| {
        if let Err(again) = remove(parts, core, name) {
            tracing::warn!(fault = "undo", "while taking back: {again}");
        }
    })
}

/// Opens the device of a port; what waits is served meanwhile.
fn open_device(parts: &mut Parts, core: &mut Core, config: &Port) -> Result<Opened, String> {
    let (devices, workers) = (Arc::clone(&core.devices), core.workers());
    if devices.is_at_once(config) {
        return devices.open_for(config, workers);
    }
    aside(parts, core, || devices.open_for(config, workers))
}

/// Takes a port's queues from the workers, then closes its device; what waits is served meanwhile.
fn close_device(parts: &mut Parts, core: &mut Core, name: &PortName) {
    let Some((queues, device)) = core.take_device(name) else { return };
    let close = || {
        drop(queues);
        drop(device);
    };
    match core.ports.get(name).is_some_and(|port| core.devices.is_at_once(&port.config)) {
        true => close(),
        false => aside(parts, core, close),
    }
}

/// A port comes, whatever there is of its device, and parts follow.
fn take_in(
    parts: &mut Parts,
    core: &mut Core,
    name: &PortName,
    mut port: OpenPort,
) -> Result<(), ApplyError> {
    port.mac = core.ports.inherited_mac(&port.config).unwrap_or(port.mac);
    port.link = core.ports.link_of(&port);
    tell_problem(name, &port);
    core.ports.insert(name.clone(), port);
    follow(parts, core, name)
}

/// What is wrong with a device that is open.
fn tell_problem(name: &PortName, port: &OpenPort) {
    if let (Some(problem), Some(_)) = (&port.problem, &port.device) {
        tracing::warn!(fault = "few-buffers", port = %name, "{problem}");
    }
}

/// A port as it was, with its device or waiting for it.
fn bring_back(
    parts: &mut Parts,
    core: &mut Core,
    name: &PortName,
    config: &Port,
    id: Option<u16>,
) -> Result<(), ApplyError> {
    let Err(error) = add(parts, core, name, config, id) else { return Ok(()) };
    let Some(id) = id else { return Err(error) };
    let reason = error.message;
    tracing::error!(
        fault = "device-away", port = %name, reason,
        "the port cannot be opened as it was: it is down, and tried again"
    );
    let mut port = OpenPort::waiting(id, config);
    port.problem = Some(reason);
    take_in(parts, core, name, port).or_else(|error| {
        tracing::warn!(fault = "undo", "port {name} comes back without all of it: {error}");
        Ok(())
    })
}

/// Parts have let go of a port, which is down by then. Its device stays.
fn release(parts: &mut Parts, core: &mut Core, name: &PortName) -> Result<(), ApplyError> {
    for part in parts.all_mut() {
        part.leave(core, name, None);
    }
    if let Some(port) = core.ports.get_mut(name) {
        port.config.addresses.clear();
        port.config.up = false;
        port.closing = true;
    }
    follow(parts, core, name)?;
    parts.all_mut().into_iter().rev().try_for_each(|part| part.close(core, name))
}

fn forget(core: &mut Core, name: &PortName) -> Option<OpenPort> {
    let port = core.ports.remove(name);
    port.iter().flat_map(OpenPort::rows).for_each(|id| core.end_interface(id));
    port
}

/// Says which number is free.
fn remove(parts: &mut Parts, core: &mut Core, name: &PortName) -> Result<Option<u16>, ApplyError> {
    release(parts, core, name)?;
    close_device(parts, core, name);
    Ok(forget(core, name).map(|port| port.id))
}

/// Its device is another by now: a port of the same number.
fn reopen(
    parts: &mut Parts,
    core: &mut Core,
    name: &PortName,
    old: &Port,
    new: &Port,
) -> Result<(), ApplyError> {
    let id = remove(parts, core, name)?;
    add(parts, core, name, new, id).or_else(|error| {
        if core.is_undoing {
            return bring_back(parts, core, name, new, id);
        }
        bring_back(parts, core, name, old, id)?;
        Err(error)
    })
}

/// Its device gets another MAC address and stays open: one that refuses works on as it was.
fn readdress(
    parts: &mut Parts,
    core: &mut Core,
    name: &PortName,
    (old, new): (&Port, &Port),
    mac: [u8; 6],
) -> Result<(), ApplyError> {
    let Some(port) = core.ports.get_mut(name) else { return Ok(()) };
    let before = port.mac;
    let refuse = |message: String| fault(&format!("port.{name}.mac"), message);
    core.devices.readdress(port.device.as_mut(), mac).map_err(refuse)?;
    let mut change = |config: &Port, mac| {
        release(parts, core, name)?;
        let Some(port) = forget(core, name) else { return Ok(()) };
        let OpenPort { id, device, unread, link, problem, .. } = port;
        let port = OpenPort { mac, device, unread, link, problem, ..OpenPort::waiting(id, config) };
        take_in(parts, core, name, port)
    };
    let outcome = change(new, mac);
    if outcome.is_err() {
        if let Err(again) = change(old, before) {
            tracing::warn!(fault = "undo", "while taking back: {again}");
        }
        let device = core.ports.get_mut(name).and_then(|port| port.device.as_mut());
        if let Err(again) = core.devices.readdress(device, before) {
            tracing::warn!(fault = "undo", "port {name} keeps another MAC address: {again}");
        }
    }
    outcome
}

fn modify(
    parts: &mut Parts,
    core: &mut Core,
    name: &PortName,
    new: &Port,
) -> Result<(), ApplyError> {
    for part in parts.all_mut() {
        part.leave(core, name, Some(new));
    }
    let Some(port) = core.ports.get_mut(name) else { return Ok(()) };
    let old = std::mem::replace(&mut port.config, new.clone());
    follow(parts, core, name).inspect_err(|_| {
        if let Some(port) = core.ports.get_mut(name) {
            port.config = old;
        }
        for part in parts.all_mut() {
            let again = part.follow(core, name);
            again.unwrap_or_else(|again| {
                tracing::warn!(fault = "undo", "while taking back: {again}")
            });
        }
    })
}

/// Parts bring about what a port says; the first that cannot is the last.
fn follow(parts: &mut Parts, core: &mut Core, name: &PortName) -> Result<(), ApplyError> {
    parts.all_mut().into_iter().try_for_each(|part| part.follow(core, name))
}

/// Parts follow the ports that others of them have touched. What one cannot do is said when all is
/// done.
pub(crate) fn follow_touched(parts: &mut Parts, core: &mut Core) -> Result<(), ApplyError> {
    let mut outcome = Ok(());
    for name in core.take_touched() {
        breathe(parts, core);
        outcome = outcome.and(follow(parts, core, &name));
    }
    outcome
}

/// Before rows are written, at the end of a change or of a turn.
pub(crate) fn settle_touched(parts: &mut Parts, core: &mut Core) {
    if let Err(error) = follow_touched(parts, core) {
        tracing::warn!(fault = "rows", "{error}");
    }
}

/// Notices links that went or came, and opens devices again that went away.
pub(crate) fn look_at_links(parts: &mut Parts, core: &mut Core, reopen: bool) {
    let changed: Vec<(PortName, Link, Link)> = core
        .ports
        .names()
        .into_iter()
        .filter_map(|name| {
            look_at_link(parts, core, &name, reopen).map(|(was, is)| (name, was, is))
        })
        .collect();
    if changed.is_empty() {
        return;
    }
    for (name, _, now) in &changed {
        breathe(parts, core);
        if !now.up {
            parts.all_mut().into_iter().for_each(|part| part.link_down(core, name));
        }
        core.touch(name.clone());
    }
    settle_touched(parts, core);
    rows::publish(parts, core);
    for (name, _, _) in changed.iter().filter(|(_, before, now)| now.up && !before.up) {
        breathe(parts, core);
        parts.all_mut().into_iter().for_each(|part| part.link_up(core, name));
    }
    core.settle_neighbors();
}

/// The link before and now, if that changed.
fn look_at_link(
    parts: &mut Parts,
    core: &mut Core,
    name: &PortName,
    reopen: bool,
) -> Option<(Link, Link)> {
    let mut now = core.ports.link_of(core.ports.get(name)?);
    let port = core.ports.get_mut(name)?;
    let before = port.link;
    let gone = port.device.is_some() && port.device_is_gone();
    if gone {
        tracing::warn!(fault = "device-gone", port = %name, "the device is gone");
        close_device(parts, core, name);
        now = Link::default();
    }
    let port = core.ports.get_mut(name)?;
    if gone {
        port.problem = Some("the device is gone".to_owned());
    }
    let wanted = (reopen && port.device.is_none()).then(|| port.config.clone());
    let opened = wanted.map(|config| open_device(parts, core, &config));
    let Core { ports, dataplane, .. } = core;
    let port = ports.get_mut(name)?;
    if let Some(opened) = opened {
        match opened.and_then(|opened| port.take_device(opened, dataplane)) {
            Ok(()) => {
                tracing::info!(port = %name, "the device is back");
                tell_problem(name, port);
                port.begin_reading(dataplane);
                now = port.link;
            }
            Err(reason) => {
                tracing::debug!(port = %name, reason, "the device is not to be had yet");
                port.problem = Some(reason);
            }
        }
    }
    if now == before && !gone {
        return None;
    }
    port.link = now;
    match (before.up, now.up) {
        (false, true) => tracing::info!(port = %name, "the link is up"),
        (true, false) => tracing::warn!(port = %name, "the link is down"),
        _ => {}
    }
    Some((before, now))
}
