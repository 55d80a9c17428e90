//! The driver: what is done of what the engine asks for.
//!
//! | asked for | written down | then |
//! |---|---|---|
//! | a network | the network | its bridge, unless the user names one that is there |
//! | a container's end | the end | a pair of devices, a port on ours, in the bridge |
//! | the end of either | nothing of it, and what may be left | what is left goes, now or when the router is back |

use control::config::field::Field;
use control::config::objects::bridge::BridgeName;
use control::config::prefix::InterfaceAddress;
use serde_json::{Value, json};

use super::links::Links;
use super::plan::{Running, plan};
use super::protocol::Asked;
use super::router::Router;
use super::say;
use super::state::{
    Endpoint, Kept, Network, State, bridge_of, gateway_of, inner_of, mac_of, port_of,
};

/// Longest packets that a port may have.
const MTU: std::ops::RangeInclusive<u16> = 68..=9_216;
/// The engine's own name of the option.
const MTU_OPTION: &str = "com.docker.network.driver.mtu";

/// The driver of one router.
pub(super) struct Driver<R, L> {
    router: R,
    links: L,
    kept: Kept,
    /// What went wrong last while the router was held to what there is to be; told once.
    trouble: String,
}

impl<R: Router, L: Links> Driver<R, L> {
    /// A driver that goes on with what was kept.
    pub(super) fn new(router: R, links: L, kept: Kept) -> Self {
        Self { router, links, kept, trouble: String::new() }
    }

    /// What there is to be.
    #[cfg(test)]
    pub(super) fn state(&self) -> &State {
        self.kept.state()
    }

    /// Does what is asked for at a path; none where nothing is there.
    pub(super) fn handle(&mut self, path: &str, body: &[u8]) -> Option<Result<Value, String>> {
        let nothing = || Ok(json!({}));
        let method = match path {
            "/Plugin.Activate" => return Some(Ok(json!({ "Implements": ["NetworkDriver"] }))),
            "/NetworkDriver.GetCapabilities" => {
                return Some(Ok(json!({ "Scope": "local", "ConnectivityScope": "local" })));
            }
            "/NetworkDriver.DiscoverNew"
            | "/NetworkDriver.DiscoverDelete"
            | "/NetworkDriver.RevokeExternalConnectivity" => return Some(nothing()),
            _ => path.strip_prefix("/NetworkDriver.")?,
        };
        let ask = |then: fn(&mut Self, &Asked) -> Result<Value, String>, driver: &mut Self| {
            let outcome = Asked::read(body).and_then(|asked| then(driver, &asked));
            if let Err(why) = &outcome {
                say(&format!("{method}: {why}"));
            }
            outcome
        };
        Some(match method {
            "CreateNetwork" => ask(Self::create_network, self),
            "DeleteNetwork" => ask(Self::delete_network, self),
            "CreateEndpoint" => ask(Self::create_endpoint, self),
            "DeleteEndpoint" => ask(Self::delete_endpoint, self),
            "EndpointOperInfo" => Ok(json!({ "Value": {} })),
            "Join" => ask(Self::join, self),
            // The engine has taken its end back by then, or the container's namespace has it.
            "Leave" => nothing(),
            "ProgramExternalConnectivity" => ask(|_, asked| published(asked), self),
            "AllocateNetwork" | "FreeNetwork" => {
                Err("this driver is of one machine's networks".into())
            }
            _ => return None,
        })
    }

    fn create_network(&mut self, asked: &Asked) -> Result<Value, String> {
        let (id, running) = (&asked.network, self.running()?);
        let network = network(asked, &running)?;
        let ports = [network.bridge.clone(), gateway_of(id)?];
        let told = format!("network {:.12} is bridge {}", id, network.bridge);
        self.kept.change(|state| {
            state.networks.insert(id.clone(), network);
        })?;
        self.made(&running, &[id]).or_else(|why| {
            self.forget(|state| drop(state.networks.remove(id)), &ports)?;
            Err(why)
        })?;
        say(&told);
        Ok(json!({}))
    }

    fn delete_network(&mut self, asked: &Asked) -> Result<Value, String> {
        let id = &asked.network;
        let Some(network) = self.kept.state().networks.get(id) else {
            // What is not there has gone.
            return Ok(json!({}));
        };
        let mut names = vec![gateway_of(id)?];
        names.extend(network.owned.then(|| network.bridge.clone()));
        let of_it = |end: &Endpoint| end.network == *id;
        let ends = self.kept.state().endpoints.iter().filter(|(_, end)| of_it(end));
        let ends: Vec<String> = ends.map(|(id, _)| id.clone()).collect();
        for end in &ends {
            names.push(port_of(end)?);
        }
        self.forget(
            |state| {
                state.networks.remove(id);
                state.endpoints.retain(|_, end| end.network != *id);
            },
            &names,
        )?;
        for end in &ends {
            self.links.remove(&port_of(end)?)?;
        }
        say(&format!("network {id:.12} is gone"));
        Ok(json!({}))
    }

    fn create_endpoint(&mut self, asked: &Asked) -> Result<Value, String> {
        published(asked)?;
        let (id, port) = (&asked.endpoint, port_of(&asked.endpoint)?);
        let network = self.network(asked)?.clone();
        let running = self.running()?;
        let theirs = &asked.interface.mac_address;
        let mac = match theirs.is_empty() {
            true => mac_of(id, &asked.interface.address)?,
            false => theirs.clone(),
        };
        let end = Endpoint { network: asked.network.clone() };
        self.kept.change(|state| drop(state.endpoints.insert(id.clone(), end)))?;
        let inner = inner_of(id)?;
        let made = self.links.add(&port, &inner, &mac, network.mtu);
        made.and_then(|()| self.made(&running, &[&asked.network, id])).or_else(|why| {
            self.links.remove(&port)?;
            self.forget(|state| drop(state.endpoints.remove(id)), &[port])?;
            Err(why)
        })?;
        // What the engine knew it must not be told again.
        let interface = if theirs.is_empty() { json!({ "MacAddress": mac }) } else { json!({}) };
        Ok(json!({ "Interface": interface }))
    }

    fn delete_endpoint(&mut self, asked: &Asked) -> Result<Value, String> {
        let port = port_of(&asked.endpoint)?;
        let gone = |state: &mut State| drop(state.endpoints.remove(&asked.endpoint));
        self.forget(gone, std::slice::from_ref(&port))?;
        self.links.remove(&port)?;
        Ok(json!({}))
    }

    fn join(&mut self, asked: &Asked) -> Result<Value, String> {
        let inner = inner_of(&asked.endpoint)?;
        if !self.kept.state().endpoints.contains_key(&asked.endpoint) {
            return Err(format!("there is no endpoint {:.12}", asked.endpoint));
        }
        let [gateway, gateway6] = self.network(asked)?.gateways.clone();
        Ok(json!({
            "InterfaceName": { "SrcName": inner, "DstPrefix": "eth" },
            "Gateway": gateway.unwrap_or_default(),
            "GatewayIPv6": gateway6.unwrap_or_default(),
            // Else the engine would add a bridge of its own to lead out.
            "DisableGatewayService": true,
        }))
    }

    fn network(&self, asked: &Asked) -> Result<&Network, String> {
        let found = self.kept.state().networks.get(&asked.network);
        found.ok_or_else(|| format!("there is no network {:.12}", asked.network))
    }

    /// Holds the router to what there is to be; what cannot be is told once.
    pub(super) fn hold(&mut self) {
        let mut told = self.prune().err().unwrap_or_default();
        match self.router.running() {
            Err(error) => told.push_str(&error.to_string()),
            Ok(running) => {
                let steps = plan(self.kept.state(), &running, |name| self.links.has(name));
                for commands in steps.iter().map(|step| &step.commands) {
                    let line = commands.join("; ");
                    match self.router.edit(commands) {
                        Ok(()) => say(&format!("the router had to be told: {line}")),
                        Err(error) => told.push_str(&format!("{line}: {error}\n")),
                    }
                }
                match self.router.running() {
                    Ok(now) if !steps.is_empty() => self.clear(&now),
                    _ => self.clear(&running),
                }
            }
        }
        if told != self.trouble {
            say(if told.is_empty() { "the router has all again" } else { told.trim_end() });
            self.trouble = told;
        }
    }

    /// Forgets ends whose device has gone: its other end went with a container's namespace, and a
    /// pair never comes back. An engine that was killed asks for none of them.
    fn prune(&mut self) -> Result<(), String> {
        let links = &self.links;
        let gone = |id: &String| port_of(id).ok().filter(|port| !links.has(port));
        let ends = self.kept.state().endpoints.keys();
        let gone: Vec<(String, String)> =
            ends.filter_map(|id| Some((id.clone(), gone(id)?))).collect();
        self.kept.change(|state| {
            for (id, port) in gone {
                state.endpoints.remove(&id);
                state.doomed.insert(port);
            }
        })
    }

    /// Forgets what is doomed and was not there.
    fn clear(&mut self, running: &Running) {
        let is_there =
            |name: &String| running.ports.contains(name) || running.bridges.contains_key(name);
        if let Err(why) = self.kept.change(|state| state.doomed.retain(is_there)) {
            say(&why);
        }
    }

    fn running(&self) -> Result<Running, String> {
        self.router.running().map_err(|error| error.to_string())
    }

    /// Has the router make what it lacks of some networks and ends, all of it.
    fn made(&self, running: &Running, of: &[&String]) -> Result<(), String> {
        let steps = plan(self.kept.state(), running, |name| self.links.has(name));
        let mine = steps.into_iter().filter(|step| of.contains(&&step.of));
        let commands: Vec<String> = mine.flat_map(|step| step.commands).collect();
        if commands.is_empty() {
            return Ok(());
        }
        self.router.edit(&commands).map_err(|error| error.to_string().trim_end().to_owned())
    }

    /// Takes something out of what there is to be, and what the router has of it; what that cannot
    /// give up now, it is told to again and again.
    fn forget(&mut self, out: impl FnOnce(&mut State), names: &[String]) -> Result<(), String> {
        self.kept.change(|state| {
            out(state);
            state.doomed.extend(names.iter().cloned());
            // Another network may go on with the bridge.
            let used: Vec<&String> = state.networks.values().map(|it| &it.bridge).collect();
            state.doomed.retain(|name| !used.contains(&name));
        })?;
        let gone = self.router.running().and_then(|running| {
            let steps = plan(self.kept.state(), &running, |_| false);
            let doomed = steps.iter().find(|step| step.of.is_empty());
            doomed.map_or(Ok(()), |step| self.router.edit(&step.commands))?;
            self.router.running()
        });
        match gone {
            Ok(running) => self.clear(&running),
            Err(error) => say(&format!("{}: {error}", names.join(", "))),
        }
        Ok(())
    }
}

/// The network that is asked for; what it cannot be is the error.
fn network(asked: &Asked, running: &Running) -> Result<Network, String> {
    let (mut bridge, mut mtu, mut gateway) = (None, None, None);
    for (name, value) in asked.generic()? {
        match name.as_str() {
            // It goes into commands.
            "bridge" => match BridgeName::from_text(&value) {
                Ok(_) => bridge = Some(value),
                Err(_) => return Err(format!("bridge is `{value}`, not {}", BridgeName::EXPECTED)),
            },
            "mtu" | MTU_OPTION => {
                let read = value.parse().ok().filter(|mtu| MTU.contains(mtu));
                let (low, high) = (MTU.start(), MTU.end());
                mtu = Some(read.ok_or(format!("{name} is `{value}`, not {low} to {high}"))?);
            }
            "gateway" => gateway = Some(value),
            _ => {
                return Err(format!("`{name}` is no option of this driver: bridge, gateway, mtu"));
            }
        }
    }
    let own = bridge_of(&asked.network)?;
    let owned = bridge.as_ref().is_none_or(|name| !running.bridges.contains_key(name));
    let leads = [&asked.ip4, &asked.ip6].map(|pools| pools.first().map(|it| it.gateway.clone()));
    let leads = leads.map(|gateway| gateway.filter(|it| !it.is_empty()));
    for address in leads.iter().flatten() {
        InterfaceAddress::from_text(address)
            .map_err(|_| format!("gateway `{address}` is not {}", InterfaceAddress::EXPECTED))?;
    }
    let (addresses, gateways) = match gateway.as_deref() {
        None | Some("none") => (Vec::new(), [None, None]),
        Some("router") => (leads.iter().flatten().cloned().collect(), leads),
        Some("outside") => (Vec::new(), leads),
        Some(other) => return Err(format!("gateway is `{other}`, not none, router or outside")),
    };
    let bare =
        |it: Option<String>| it.map(|it| it.split('/').next().unwrap_or_default().to_owned());
    let bridge = bridge.unwrap_or(own);
    Ok(Network { bridge, owned, mtu, addresses, gateways: gateways.map(bare) })
}

/// Refuses what only an engine's own address translation could do.
fn published(asked: &Asked) -> Result<Value, String> {
    match asked.published() {
        None => Ok(json!({})),
        Some(port) => Err(format!(
            "port {port} cannot be published: on a network of Volley a container has an address of its own, \
             and nobody translates it. Ask it there (`gateway=router` or `outside` makes it reachable), \
             or give the container a second network that publishes"
        )),
    }
}
