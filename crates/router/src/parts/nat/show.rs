//! Connections that are asked for: shown, or ended. Tables are read beside the control thread.

use super::{Translating, now_s};
use crate::core::Core;
use crate::reflected::ZONES;
use conntrack::{Family, Shown, Status, Table, Tuple};
use control::engine::EngineError;
use control::view;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use wire::ip::protocol;

/// What is looked at at once of a table.
const SHOWN: usize = 4096;

/// Which connections are meant.
struct Picked {
    nat: Option<String>,
    port: Option<String>,
    address: Option<IpAddr>,
    owners: HashMap<u16, Owner>,
}

/// Who keeps a connection.
enum Owner {
    Nat(String),
    Port(String),
}

impl Picked {
    /// Whether connections of flows are meant, too.
    fn has_flows(&self) -> bool {
        self.nat.is_none() && self.port.is_none()
    }

    /// Whether it is a connection that is meant; of a table of `owners`, or of flows.
    fn is_one(&self, it: &Shown, of_flows: bool) -> bool {
        let is_connection = matches!(it.original.family(), Family::Ip4 | Family::Ip6);
        let ends = [ends(&it.original), ends(&it.reply)].concat();
        let has = self.address.is_none_or(|address| ends.iter().any(|(own, _)| *own == address));
        if !is_connection || !has || of_flows {
            return is_connection && has;
        }
        match (self.owners.get(&it.original.zone()), &self.nat, &self.port) {
            (Some(Owner::Nat(name)), nat, None) => nat.as_ref().is_none_or(|nat| nat == name),
            (Some(Owner::Port(name)), None, port) => port.as_ref().is_none_or(|it| it == name),
            // Of a port that keeps none any more: it is about to end.
            (None, None, None) => !ZONES.contains(&it.original.zone()),
            _ => false,
        }
    }
}

impl Translating {
    /// Whose connections are asked for, if there is such.
    fn picked(
        &self,
        core: &Core,
        [nat, port, address]: [&Option<String>; 3],
    ) -> Result<Picked, EngineError> {
        let made: Vec<String> = self.made.keys().map(ToString::to_string).collect();
        if let Some(name) = nat.as_ref().filter(|name| !made.contains(name)) {
            let made = made.iter().map(String::as_str);
            return Err(EngineError::unknown("translation", name, made));
        }
        if let Some(name) = port {
            core.port_named(name)?;
        }
        let address = match address {
            None => None,
            Some(text) => Some(
                text.parse::<IpAddr>()
                    .map_err(|_| EngineError::Wrong(format!("`{text}` is not an IP address")))?,
            ),
        };
        let nats = self.made.values().map(|nat| (nat.zone, Owner::Nat(nat.name.clone())));
        let ports = core.reflected.zones();
        let ports = ports.map(|(zone, port)| (zone, Owner::Port(port.to_string())));
        let owners = nats.chain(ports).collect();
        Ok(Picked { nat: nat.clone(), port: port.clone(), address, owners })
    }

    /// Takes down whose connections are asked for; they are read elsewhere.
    pub(crate) fn show(
        &self,
        core: &Core,
        filter: &view::ConnectionFilter,
    ) -> Result<impl FnOnce() -> view::Connections + Send + 'static, EngineError> {
        let picked = self.picked(core, [&filter.nat, &filter.port, &filter.address])?;
        let (table, of_flows) = (self.table.clone(), core.flow_connections.made());
        let (now_s, limit) = (now_s(core), filter.limit.unwrap_or(usize::MAX));
        Ok(move || {
            let mut shown = view::Connections::default();
            if let Some(table) = table {
                list(&table, now_s, &picked, false, limit, &mut shown);
            }
            if let Some(tracking) = of_flows.filter(|_| picked.has_flows()) {
                list(&tracking.table, now_s, &picked, true, limit, &mut shown);
            }
            shown.connections.sort_unstable();
            shown
        })
    }

    /// Takes down whose connections are to end; that is done elsewhere.
    pub(crate) fn clear(
        &self,
        core: &Core,
        which: &view::ConnectionClear,
    ) -> Result<impl FnOnce() -> view::ConnectionCount + Send + 'static, EngineError> {
        let picked = self.picked(core, [&which.nat, &which.port, &which.address])?;
        let (table, of_flows) = (self.table.clone(), core.flow_connections.made());
        let now_s = now_s(core);
        Ok(move || {
            let mut connections = 0;
            let mut end = |table: &Table, of_flows| {
                let mut from = 0;
                loop {
                    from = table.each(from, SHOWN, now_s, |it| {
                        let ends = picked.is_one(&it, of_flows);
                        connections += usize::from(ends);
                        ends
                    });
                    if from == 0 {
                        return;
                    }
                }
            };
            if let Some(table) = table {
                end(&table, false);
            }
            if let Some(tracking) = of_flows.filter(|_| picked.has_flows()) {
                end(&tracking.table, true);
            }
            view::ConnectionCount { connections }
        })
    }
}

/// Adds the connections of a table.
fn list(
    table: &Table,
    now_s: u32,
    picked: &Picked,
    of_flows: bool,
    limit: usize,
    shown: &mut view::Connections,
) {
    let counted = table.counters();
    shown.room += table.room() as u64;
    shown.taken += counted.begun.saturating_sub(counted.ended);
    shown.begun += counted.begun;
    shown.evicted += counted.evicted;
    shown.refused += counted.refused;
    let mut from = 0;
    loop {
        from = table.each(from, SHOWN, now_s, |it| {
            if picked.is_one(&it, of_flows) {
                shown.total += 1;
                if shown.connections.len() < limit {
                    let owner = picked.owners.get(&it.original.zone()).filter(|_| !of_flows);
                    let zone = of_flows.then(|| it.original.zone());
                    shown.connections.push(view::Connection { zone, ..show(&it, owner, now_s) });
                }
            }
            false
        });
        if from == 0 {
            return;
        }
    }
}

/// Who sends a packet, and whom it goes to.
fn ends(tuple: &Tuple) -> [(IpAddr, u16); 2] {
    let (from, to): (IpAddr, IpAddr) = match tuple.family() {
        Family::Ip6 => {
            (Ipv6Addr::from(tuple.source6()).into(), Ipv6Addr::from(tuple.destination6()).into())
        }
        _ => (Ipv4Addr::from(tuple.source4()).into(), Ipv4Addr::from(tuple.destination4()).into()),
    };
    [(from, tuple.source_port()), (to, tuple.destination_port())]
}

fn show(it: &Shown, owner: Option<&Owner>, now_s: u32) -> view::Connection {
    let (nat, port) = match owner {
        Some(Owner::Nat(name)) => (name.clone(), String::new()),
        Some(Owner::Port(name)) => (String::new(), name.clone()),
        None => (String::new(), String::new()),
    };
    let number = it.original.protocol();
    let [source, destination] = texts(&it.original);
    let [seen_source, seen_destination] = texts(&it.reply.inverse());
    view::Connection {
        nat,
        port,
        zone: None,
        protocol: match number {
            protocol::TCP => "tcp".to_owned(),
            protocol::UDP => "udp".to_owned(),
            protocol::ICMP4 => "icmp".to_owned(),
            protocol::ICMP6 => "icmp6".to_owned(),
            protocol::GRE => "gre".to_owned(),
            other => other.to_string(),
        },
        source,
        destination,
        seen_source,
        seen_destination,
        state: state(number, it.status).to_owned(),
        expires_s: it.status.expires_s().saturating_sub(now_s),
    }
}

/// Both ends with their ports; of an echo its identifier beside who asks.
fn texts(tuple: &Tuple) -> [String; 2] {
    let [(from, from_port), (to, to_port)] = ends(tuple);
    let with = |address: IpAddr, port: u16| match address {
        IpAddr::V4(address) => format!("{address}:{port}"),
        IpAddr::V6(address) => format!("[{address}]:{port}"),
    };
    match tuple.protocol() {
        protocol::TCP | protocol::UDP => [with(from, from_port), with(to, to_port)],
        protocol::ICMP4 | protocol::ICMP6 => [with(from, from_port), to.to_string()],
        _ => [from.to_string(), to.to_string()],
    }
}

fn state(number: u8, status: Status) -> &'static str {
    match (number, status.is_answered()) {
        (protocol::TCP, _) => status.tcp().word(),
        (_, true) => "answered",
        (_, false) => "unanswered",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::router::Router;
    use conntrack::{Seen, Timeouts};
    use control::config::field::Field;
    use control::config::objects::port::PortName;
    use control::config::{Config, Host, Source, parse};
    use control::engine::Engine;
    use nodes::filter::{AclInput, Reflecting};
    use nodes::tables::Feature;
    use std::sync::Arc;

    const FIXED: &str = r#"
workers = { mode = "single-thread" }
memory = { buffers = 4096, hugepages = "never" }
"#;
    const LISTS: &str = r#"
connections = { max = 1000 }
acl.out = { rule = [{ action = "reflect" }] }
acl.in = { default = "deny" }
"#;

    fn config(text: &str) -> Config {
        parse(&Source::new("router.toml", format!("{FIXED}{text}")), &Host::any()).unwrap()
    }

    /// Two ports, of which the second has these lists.
    fn ports(lists: &str) -> String {
        let port = |name: &str, net: u8, lists: &str| {
            format!(
                "port.{name} = {{ kind = \"memory\", addresses = [\"10.0.{net}.1/24\"]{lists} }}\n"
            )
        };
        port("p1", 1, "") + &port("p2", 2, lists)
    }

    fn both_lists() -> Config {
        config(&format!("{LISTS}{}", ports(", acl_in = \"in\", acl_out = \"out\"")))
    }

    fn begun() -> Router {
        let mut router = Router::start(&both_lists(), Arc::new(|| ())).unwrap();
        change(&mut router, &config(""), &both_lists());
        router
    }

    fn change(router: &mut Router, from: &Config, to: &Config) {
        router.apply(from, to, &Config::diff(from, to)).unwrap();
        router.turn();
    }

    fn kept(router: &Router) -> Option<Arc<Reflecting>> {
        router.core.reflected.of(&PortName::from_text("p2").unwrap())
    }

    /// Has a host inside begin a connection, as a worker would.
    fn begin(router: &Router, from: [u8; 4], port: u16) {
        let Reflecting { table, zone, .. } = &*kept(router).unwrap();
        let from = (u32::from_be_bytes(from), port);
        let one = Tuple::ip4(from, (0x0a00_0202, 53), protocol::UDP, *zone);
        let now_s = now_s(&router.core);
        let timeouts = Timeouts::default();
        table.create(&one, &one.inverse(), Seen::Other, &timeouts, None, now_s).unwrap();
    }

    fn filter(port: Option<&str>, address: Option<&str>) -> view::ConnectionFilter {
        let [port, address] = [port, address].map(|it| it.map(str::to_owned));
        view::ConnectionFilter { port, address, ..view::ConnectionFilter::default() }
    }

    fn sources(router: &Router, filter: &view::ConnectionFilter) -> Vec<String> {
        let shown = router.parts.nat.show(&router.core, filter).unwrap()();
        assert!(shown.connections.iter().all(|it| it.port == "p2" && it.nat.is_empty()));
        shown.connections.into_iter().map(|it| it.source).collect()
    }

    fn clear(router: &mut Router, port: Option<&str>, address: Option<&str>) -> usize {
        let view::ConnectionFilter { nat, port, address, .. } = filter(port, address);
        let which = view::ConnectionClear { nat, port, address };
        router.connections_clear(&which).unwrap()().connections
    }

    #[test]
    fn connections_of_a_port_are_shown_and_ended_as_they_are_chosen() {
        let mut router = begun();
        begin(&router, [10, 0, 1, 2], 1);
        begin(&router, [10, 0, 1, 2], 2);
        begin(&router, [10, 0, 1, 3], 1);
        let of = |router: &Router, port, address| sources(router, &filter(port, address));
        let all = ["10.0.1.2:1", "10.0.1.2:2", "10.0.1.3:1"];
        assert_eq!(of(&router, None, None), all);
        assert_eq!(of(&router, Some("p2"), None), all);
        assert_eq!(of(&router, Some("p1"), None), [""; 0]);
        assert_eq!(of(&router, None, Some("10.0.1.3")), all[2..]);
        assert!(router.parts.nat.show(&router.core, &filter(Some("p9"), None)).is_err());
        assert!(router.parts.nat.show(&router.core, &filter(None, Some("here"))).is_err());
        assert_eq!(clear(&mut router, Some("p1"), None), 0);
        assert_eq!(clear(&mut router, Some("p2"), Some("10.0.1.2")), 2);
        assert_eq!(of(&router, None, None), all[2..]);
        assert_eq!(clear(&mut router, None, None), 1);
        assert_eq!(of(&router, None, None), [""; 0]);
    }

    #[test]
    fn connections_stay_while_lists_change_and_go_with_them() {
        let mut router = begun();
        begin(&router, [10, 0, 1, 2], 1);
        let (first, old) = (kept(&router).unwrap(), both_lists());
        // A rule more, another list for what comes in, other rows: it is the same connection.
        let more = config(&format!(
            "{}acl.other = {{ default = \"permit\" }}\n{}",
            LISTS.replace("[{", "[{ action = \"deny\", protocol = \"tcp\" }, {"),
            ports(", acl_in = \"other\", acl_out = \"out\", redirects = true")
        ));
        change(&mut router, &old, &more);
        assert!(Arc::ptr_eq(&first, &kept(&router).unwrap()));
        let id = router.core.ports.id_of(&PortName::from_text("p2").unwrap()).unwrap();
        let row = router.core.dataplane.interfaces().get(id).unwrap();
        let access = row.setting::<AclInput>().unwrap();
        assert!(Arc::ptr_eq(&first, access.reflecting().unwrap()), "{}", AclInput::NAME);
        assert_eq!(sources(&router, &filter(None, None)), ["10.0.1.2:1"]);
        // Kept for longer: the same ones.
        let longer = config(&format!(
            "{}{}",
            LISTS.replace("1000", "1000, udp = \"60s\""),
            ports(", acl_in = \"in\", acl_out = \"out\"")
        ));
        change(&mut router, &more, &longer);
        assert_eq!(
            (kept(&router).unwrap().timeouts.udp, kept(&router).unwrap().zone),
            (60, first.zone)
        );
        assert_eq!(sources(&router, &filter(None, None)), ["10.0.1.2:1"]);
        // The list goes from the port, and comes back: nothing is known.
        let without = config(&format!("{LISTS}{}", ports(", acl_in = \"in\"")));
        change(&mut router, &longer, &without);
        assert!(kept(&router).is_none());
        assert_eq!(first.table.counters().ended, 1);
        change(&mut router, &without, &old);
        assert_ne!(kept(&router).unwrap().zone, first.zone);
        begin(&router, [10, 0, 1, 2], 1);
        // Room for others: another table.
        let wider = config(&format!(
            "{}{}",
            LISTS.replace("1000", "2000"),
            ports(", acl_in = \"in\", acl_out = \"out\"")
        ));
        change(&mut router, &old, &wider);
        assert_eq!(kept(&router).unwrap().table.room(), 2000);
        assert_eq!(sources(&router, &filter(None, None)), [""; 0]);
        begin(&router, [10, 0, 1, 2], 1);
        // The port goes; and with the last list that keeps connections, the table.
        let bare = config(&format!("{}{}", LISTS.replace("1000", "2000"), ports("")));
        change(&mut router, &wider, &bare);
        assert_eq!(sources(&router, &filter(None, None)), [""; 0]);
        change(&mut router, &bare, &config(&ports("")));
        let shown = router.parts.nat.show(&router.core, &filter(None, None)).unwrap()();
        assert_eq!(shown.room, 0);
    }
}
