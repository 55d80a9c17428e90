//! Ports come, change and go, and so do their links: parts follow.
//!
//! ```text
//!  added     device ─▶ follow, part by part ─▶ rows ─▶ workers read
//!  removed   leave ─▶ down ─▶ follow ─▶ close, in the reverse order ─▶ device
//! ```

use crate::core::{Core, fault};
use crate::interfaces::{Link, OpenPort};
use crate::parts::Parts;
use crate::rows;
use control::config::Delta;
use control::config::objects::port::{Port, PortName};
use control::engine::ApplyError;
use nodes::tables::MOST_INTERFACES;

/// Makes one change of a port.
pub(crate) fn change(
    parts: &mut Parts,
    core: &mut Core,
    change: &Delta<PortName, Port>,
) -> Result<(), ApplyError> {
    core.touch_rows();
    match change {
        Delta::Added { key, row } => {
            let id = core.free_id();
            add(parts, core, key, row, id)
        }
        Delta::Removed { key, .. } => remove(parts, core, key).map(drop),
        Delta::Modified { key, old, new } => {
            let stays = old.same_device(new) && old.mac == new.mac && old.mtu == new.mtu;
            if stays { modify(parts, core, key, new) } else { reopen(parts, core, key, old, new) }
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
    let mut port = OpenPort::open(id, config, &core.devices, &core.dataplane).map_err(refuse)?;
    port.mac = core.ports.inherited_mac(config).unwrap_or(port.mac);
    port.link = core.ports.link_of(&port);
    core.ports.insert(name.clone(), port);
    follow(parts, core, name).inspect_err(|_| {
        if let Err(again) = remove(parts, core, name) {
            tracing::warn!(fault = "undo", "while taking back: {again}");
        }
    })
}

/// Says which number is free.
fn remove(parts: &mut Parts, core: &mut Core, name: &PortName) -> Result<Option<u16>, ApplyError> {
    for part in parts.all_mut() {
        part.leave(core, name, None);
    }
    if let Some(port) = core.ports.get_mut(name) {
        port.config.addresses.clear();
        port.config.up = false;
        port.closing = true;
    }
    follow(parts, core, name)?;
    for part in parts.all_mut().into_iter().rev() {
        part.close(core, name)?;
    }
    core.close_device(name);
    let port = core.ports.remove(name);
    port.iter().flat_map(OpenPort::rows).for_each(|id| core.end_interface(id));
    Ok(port.map(|port| port.id))
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
    add(parts, core, name, new, id).inspect_err(|_| {
        if let Err(again) = add(parts, core, name, old, id) {
            tracing::warn!(fault = "undo", "port {name} cannot be opened again: {again}");
        }
    })
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
        .filter_map(|name| look_at_link(core, &name, reopen).map(|(was, is)| (name, was, is)))
        .collect();
    if changed.is_empty() {
        return;
    }
    for (name, _, now) in &changed {
        if !now.up {
            parts.all_mut().into_iter().for_each(|part| part.link_down(core, name));
        }
        core.touch(name.clone());
    }
    settle_touched(parts, core);
    rows::publish(parts, core);
    for (name, _, _) in changed.iter().filter(|(_, before, now)| now.up && !before.up) {
        parts.all_mut().into_iter().for_each(|part| part.link_up(core, name));
    }
    core.settle_neighbors();
}

/// The link before and now, if that changed.
fn look_at_link(core: &mut Core, name: &PortName, reopen: bool) -> Option<(Link, Link)> {
    let mut now = core.ports.link_of(core.ports.get(name)?);
    let port = core.ports.get_mut(name)?;
    let before = port.link;
    if !now.up {
        port.reconnect();
    }
    let gone = port.device.is_some() && port.device_is_gone();
    if gone {
        tracing::warn!(fault = "device-gone", port = %name, "the device is gone");
        core.close_device(name);
        now = Link::default();
    }
    let Core { ports, devices, dataplane, .. } = core;
    let port = ports.get_mut(name)?;
    if reopen && port.device.is_none() && port.open_device(devices, dataplane).is_ok() {
        tracing::info!(port = %name, "the device is back");
        port.begin_reading(dataplane);
        now = port.link;
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
