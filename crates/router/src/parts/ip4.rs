//! What of IPv4 is not everywhere the same.

use crate::core::{Core, fault};
use crate::part::{Makes, Part};
use control::config::change::Replaced;
use control::config::objects::ip4::Ip4;
use control::engine::ApplyError;
use std::sync::atomic::Ordering;

/// See the module.
#[derive(Default)]
pub(crate) struct Ip4Rules;

impl Part for Ip4Rules {}

impl Makes<Replaced<Ip4>> for Ip4Rules {
    fn make(&mut self, core: &mut Core, change: &Replaced<Ip4>) -> Result<(), ApplyError> {
        let class_e = change.new.class_e;
        core.change_routes(|routes, link| routes.set_class_e(class_e, link))
            .map_err(|error| fault("ip4.class_e", error.to_string()))?;
        core.dataplane.ip4_rules.class_e.store(class_e, Ordering::Relaxed);
        Ok(())
    }
}
