//! What a router before this one left, read while this one starts.
//!
//! ```text
//!  folder ── read, checked (a thread) ──▶ Left ──▶ Router::keep_state: taken over, and gone on with
//! ```

use crate::parts::keeping::protocols::FPM;
use kernel::fpm::Recalled;
use netlink::route::RouteKey;
use state::routes::Routes;
use state::{Blocks, Boot, Folder, Refused, Table};
use state::{counters, mappings, neighbors, policers, remotes, stations};
use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

/// How long a router that is being killed may take to let go of the folder: its devices are closed
/// before.
const ENDS: Duration = Duration::from_secs(1);

/// See the module.
#[derive(Default)]
pub struct Left {
    /// Where this router keeps its own.
    pub(crate) folder: Option<Folder>,
    /// Routes, and where their log ends.
    pub(crate) routes: Option<(Arc<Routes>, usize)>,
    pub(crate) neighbors: Vec<neighbors::Neighbor>,
    pub(crate) stations: Vec<stations::Seen>,
    pub(crate) counters: Vec<counters::Counter>,
    pub(crate) parts: OfParts,
    /// How long ago it was written last; none, if there is nothing.
    pub(crate) age: Option<Duration>,
    told: Vec<(Table, Refused)>,
    problem: Option<(PathBuf, io::Error)>,
}

/// What other parts left, each with how long ago it was written.
#[derive(Default)]
pub(crate) struct OfParts {
    pub(crate) policers: (Vec<policers::Policer>, Duration),
    pub(crate) remotes: (Vec<remotes::Remote>, Duration),
    pub(crate) mappings: (Vec<mappings::Mapping>, Duration),
}

impl Left {
    /// Begins to read what there is in a folder, if it is not older than `keep`.
    pub fn begin(folder: PathBuf, keep: Duration) -> io::Result<JoinHandle<Self>> {
        let thread = std::thread::Builder::new().name("state-read".into());
        thread.spawn(move || Self::read(&folder, keep))
    }

    /// Reads what there is.
    pub fn read(path: &Path, keep: Duration) -> Self {
        let mut left = Self::default();
        let folder = match Folder::open_within(path, ENDS) {
            Ok(folder) => folder,
            Err(error) => {
                left.problem = Some((path.to_owned(), error));
                return left;
            }
        };
        let boot = Boot::now();
        let reading = Reading { folder: &folder, boot: &boot, keep_s: keep.as_secs() };
        left.take(Table::Routes, reading.routes(), |left, (routes, end)| {
            left.routes = Some((Arc::new(routes), end));
        });
        left.take(
            Table::Neighbors,
            reading.table(Table::Neighbors, neighbors::read),
            |left, (all, age)| {
                let age_ms = age.as_millis() as u64;
                left.neighbors = all;
                left.neighbors
                    .iter_mut()
                    .for_each(|it| it.age_ms = it.age_ms.saturating_add(age_ms));
                left.age = Some(age);
            },
        );
        left.take(
            Table::Stations,
            reading.table(Table::Stations, stations::read),
            |left, (all, age)| {
                left.stations = all;
                let seen = left.stations.iter_mut().flat_map(|seen| &mut seen.stations);
                seen.for_each(|(_, age_s)| *age_s = age_s.saturating_add(age.as_secs() as u32));
            },
        );
        left.take(
            Table::Counters,
            reading.table(Table::Counters, counters::read),
            |left, (all, _)| {
                left.counters = all;
            },
        );
        left.take(
            Table::Policers,
            reading.table(Table::Policers, policers::read),
            |left, found| left.parts.policers = found,
        );
        left.take(Table::Remotes, reading.table(Table::Remotes, remotes::read), |left, found| {
            left.parts.remotes = found;
        });
        left.take(
            Table::Mappings,
            reading.table(Table::Mappings, mappings::read),
            |left, found| left.parts.mappings = found,
        );
        left.folder = Some(folder);
        left
    }

    fn take<T>(&mut self, table: Table, found: Result<T, Refused>, put: impl FnOnce(&mut Self, T)) {
        match found {
            Ok(found) => put(self, found),
            Err(Refused::Absent) => {}
            Err(refused) => self.told.push((table, refused)),
        }
    }

    /// Tells what was refused, and why: those tables begin empty.
    pub(crate) fn tell(&self) {
        if let Some((folder, error)) = &self.problem {
            let folder = folder.display();
            tracing::warn!(fault = "state-folder", %folder, %error, "no state is kept, and none taken over");
        }
        for (table, refused) in &self.told {
            let table = table.name();
            match refused {
                // As it has to be.
                Refused::Boot | Refused::Old { .. } => {
                    tracing::info!(table, why = %refused, "what a router before left is not taken over");
                }
                refused => tracing::warn!(
                    fault = "state-refused", table, why = %refused,
                    "what a router before left is not taken over"
                ),
            }
        }
    }
}

struct Reading<'a> {
    folder: &'a Folder,
    boot: &'a Boot,
    keep_s: u64,
}

impl Reading<'_> {
    fn routes(&self) -> Result<(Routes, usize), Refused> {
        let bytes = self.folder.read(Table::Routes.name())?;
        let blocks = Blocks::of(&bytes, Table::Routes, self.boot, self.keep_s)?;
        let mut routes = Routes::default();
        let end = blocks.log(|block| Ok(routes.read(block)?))?;
        routes.settle();
        Ok((routes, end))
    }

    fn table<T>(
        &self,
        table: Table,
        read: impl FnOnce(&[u8]) -> Result<T, state::Wrong>,
    ) -> Result<(T, Duration), Refused> {
        let bytes = self.folder.read(table.name())?;
        let blocks = Blocks::of(&bytes, table, self.boot, self.keep_s)?;
        let found = read(&blocks.snapshot()?)?;
        Ok((found, Duration::from_nanos(blocks.age_ns)))
    }
}

/// The routes of zebra among these, whose VRFs are in these tables of the kernel: a new session has
/// its time to tell them again.
pub(crate) fn of_fpm(routes: &Arc<Routes>, tables: HashMap<String, u32>) -> Recalled {
    let groups = routes.groups.keys().map(|(_, _, number)| number.saturating_add(1));
    let first_number = groups.max().unwrap_or(0);
    let routes = Arc::clone(routes);
    let keys = move || {
        let table = |vrf: u16| tables.get(routes.vrfs.get(usize::from(vrf))?).copied();
        let key =
            |vrf, address: IpAddr, length| Some(RouteKey { table: table(vrf)?, address, length });
        let ip4 = routes
            .ip4
            .iter()
            .map(|(it, _)| (it.protocol, key(it.vrf, IpAddr::V4(it.address.into()), it.length)));
        let ip6 = routes
            .ip6
            .iter()
            .map(|(it, _)| (it.protocol, key(it.vrf, IpAddr::V6(it.address.into()), it.length)));
        let of_fpm = ip4.chain(ip6).filter(|(protocol, _)| *protocol == FPM);
        of_fpm.filter_map(|(_, key)| key).collect()
    };
    Recalled { first_number, routes: Some(Box::new(keys)) }
}
