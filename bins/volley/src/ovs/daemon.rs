//! The loop: a session with the database, round after round, for ever.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

use ovsdb::{Fault, Keys, Session, Target};
use serde_json::{Value, json};

use super::appctl::Appctl;
use super::make::{Broken, Maker};
use super::router::Router;
use super::say;
use super::told;
use super::wanted::{Machine, wanted};
use crate::error::CliError;

/// The lock that keeps two of us, or Open vSwitch's own daemon, from the same database.
const LOCK: &str = "ovs_vswitchd";
/// Rounds come when something changes, and so often: a device or the router may come back.
const ROUND: Duration = Duration::from_secs(1);
/// Counters are written so often.
const COUNT: Duration = Duration::from_secs(5);
/// Between two tries to reach the database.
const WAITS: [u64; 4] = [1, 2, 4, 8];

/// Tables and columns that are looked at. Those that a schema lacks are left out.
const COLUMNS: &[(&str, &[&str])] = &[
    ("Open_vSwitch", &["bridges", "next_cfg", "cur_cfg", "iface_types", "ssl"]),
    (
        "Bridge",
        &[
            "name",
            "ports",
            "controller",
            "fail_mode",
            "protocols",
            "other_config",
            "mcast_snooping_enable",
            "rstp_enable",
            "stp_enable",
            "rstp_status",
            "netflow",
            "sflow",
            "ipfix",
            "mirrors",
            "flow_tables",
            "datapath_id",
            "datapath_version",
        ],
    ),
    (
        "Port",
        &[
            "name",
            "interfaces",
            "tag",
            "trunks",
            "vlan_mode",
            "cvlans",
            "bond_mode",
            "bond_updelay",
            "bond_downdelay",
            "lacp",
            "qos",
            "other_config",
            "rstp_status",
            "rstp_statistics",
        ],
    ),
    (
        "Interface",
        &[
            "name",
            "type",
            "options",
            "mac",
            "mtu_request",
            "ofport_request",
            "ofport",
            "error",
            "ingress_policing_rate",
            "ingress_policing_burst",
            "ingress_policing_kpkts_rate",
            "ingress_policing_kpkts_burst",
            "admin_state",
            "link_state",
            "link_speed",
            "mac_in_use",
            "mtu",
            "status",
        ],
    ),
    (
        "Controller",
        &["target", "max_backoff", "inactivity_probe", "is_connected", "role", "status"],
    ),
    ("Flow_Table", &["name", "flow_limit", "overflow_policy", "groups"]),
    ("SSL", &["private_key", "certificate", "ca_cert", "bootstrap_ca_cert"]),
    ("NetFlow", &["targets", "engine_type", "engine_id", "add_id_to_interface", "active_timeout"]),
    ("sFlow", &["targets", "agent", "sampling", "header", "polling"]),
    (
        "IPFIX",
        &[
            "targets",
            "sampling",
            "obs_domain_id",
            "obs_point_id",
            "cache_active_timeout",
            "cache_max_flows",
        ],
    ),
    ("Flow_Sample_Collector_Set", &["id", "bridge", "ipfix"]),
    (
        "Mirror",
        &[
            "name",
            "select_all",
            "select_src_port",
            "select_dst_port",
            "select_vlan",
            "output_port",
            "output_vlan",
            "statistics",
        ],
    ),
    ("QoS", &["type", "queues", "other_config"]),
    ("Queue", &["other_config", "dscp"]),
];

/// Columns that a schema has.
struct Schema(BTreeMap<String, BTreeSet<String>>);

impl Schema {
    fn read(schema: &Value) -> Self {
        let columns = |table: &Value| {
            let columns = table.get("columns").and_then(Value::as_object);
            columns.into_iter().flatten().map(|(name, _)| name.clone()).collect()
        };
        let tables = schema.get("tables").and_then(Value::as_object);
        let tables = tables.into_iter().flatten();
        Self(tables.map(|(name, table)| (name.clone(), columns(table))).collect())
    }

    fn has(&self, table: &str, column: &str) -> bool {
        self.0.get(table).is_some_and(|columns| columns.contains(column))
    }
}

/// Serves for ever.
pub(super) fn run<R: Router>(
    target: &Target,
    keys: Option<&Keys>,
    folder: &Path,
    mut maker: Maker<R>,
    mut appctl: Appctl,
) -> Result<(), CliError> {
    let (mut waits, mut log) = (WAITS.iter().copied(), Log::default());
    let mut wait = 0;
    loop {
        let mut begun = || waits = WAITS.iter().copied();
        let session = Session::connect(target, keys, "Open_vSwitch");
        let ended = session.and_then(|session| {
            serve(session, target, folder, &mut maker, &mut appctl, &mut log, &mut begun)
        });
        if let Err(error) = ended {
            log.tell("database", &BTreeSet::from([format!("{target}: {error}")]));
        }
        wait = waits.next().unwrap_or(wait);
        std::thread::sleep(Duration::from_secs(wait));
    }
}

/// One session with the database.
fn serve<R: Router>(
    mut session: Session,
    target: &Target,
    folder: &Path,
    maker: &mut Maker<R>,
    appctl: &mut Appctl,
    log: &mut Log,
    begun: &mut dyn FnMut(),
) -> Result<(), Fault> {
    let schema = Schema::read(&session.schema()?);
    session.lock(LOCK)?;
    let wanted_columns = COLUMNS.iter().filter_map(|(table, columns)| {
        let columns: Vec<String> = columns
            .iter()
            .filter(|column| schema.has(table, column))
            .map(|column| (*column).to_owned())
            .collect();
        (!columns.is_empty()).then_some((*table, columns))
    });
    session.monitor(&wanted_columns.collect::<Vec<_>>())?;
    begun();
    log.tell("database", &BTreeSet::new());
    say(&format!("follows {target}"));
    let mut next_count = Instant::now();
    loop {
        session.listen(ROUND)?;
        let waits = match session.has_lock() {
            true => BTreeSet::new(),
            false => {
                BTreeSet::from([format!("another has the lock {LOCK}: is ovs-vswitchd running?")])
            }
        };
        log.tell("lock", &waits);
        if !session.has_lock() {
            continue;
        }
        log.tell("ovs-appctl", &appctl.listen().err().into_iter().collect());
        let devices = devices();
        let wanted = wanted(session.rows(), &Machine { folder, devices: &devices });
        let outcome = match maker.make(&wanted) {
            Ok(outcome) => outcome,
            Err(Broken(why)) => {
                log.tell("router", &BTreeSet::from([why]));
                continue;
            }
        };
        log.tell("router", &outcome.others);
        log.tell("interfaces", &outcome.faults.values().cloned().collect());
        let counts = Instant::now() >= next_count;
        if counts {
            next_count = Instant::now() + COUNT;
        }
        appctl.learn(session.rows(), &wanted, counts);
        let told = told::columns(session.rows(), &wanted, &outcome, counts);
        let mut changes = told.changes(session.rows(), |table, column| schema.has(table, column));
        if !changes.is_empty() {
            changes.insert(0, json!({ "op": "assert", "lock": LOCK }));
            session.transact(changes)?;
        }
    }
}

/// The devices of this network namespace.
fn devices() -> BTreeSet<String> {
    // /sys may be of another network namespace, this is of ours.
    let told = std::fs::read_to_string("/proc/self/net/dev").unwrap_or_default();
    let names = told.lines().skip(2).filter_map(|line| line.trim_start().split(':').next());
    names.map(str::to_owned).collect()
}

/// What is wrong, told once while it stays so.
#[derive(Default)]
struct Log(BTreeMap<&'static str, BTreeSet<String>>);

impl Log {
    fn tell(&mut self, about: &'static str, now: &BTreeSet<String>) {
        let had = self.0.entry(about).or_default();
        now.difference(had).for_each(|what| say(what));
        if now.is_empty() && !had.is_empty() {
            say(&format!("{about}: all is well again"));
        }
        had.clone_from(now);
    }
}
