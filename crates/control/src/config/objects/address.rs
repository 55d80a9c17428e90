//! `address add` and `del`: one address of a port.

use super::port_name::PortName;
use super::{Command, Config};
use crate::config::declare::object;
use crate::config::listed::row_mut;
use crate::config::order::Order;
use crate::config::prefix::InterfaceAddress;
use crate::config::report::Problem;

/// Gives a port an address.
pub(super) const ADD: Command = Command::of::<Add>();
/// Takes it away.
pub(super) const DEL: Command = Command::of::<Del>();

object! {
    /// Give a port an address
    struct Add {
        /// The address
        address: InterfaceAddress as "192.0.2.1/24",
        /// The port
        port: PortName as "uplink",
    }
}

impl Order for Add {
    const NOUN: &'static str = "address";
    const VERB: &'static str = "add";
    const FIRST: usize = 1;

    fn run(self, config: &mut Config) -> Result<(), Problem> {
        let Self { address, port: name } = self;
        let port = row_mut(&mut config.ports, &name)?;
        if port.addresses.contains(&address) {
            let message = format!("port {name} has {address} already");
            return Err(Problem::new(format!("port.{name}.addresses"), message));
        }
        port.addresses.push(address);
        Ok(())
    }
}

object! {
    /// Take an address from a port
    struct Del {
        /// The address
        address: InterfaceAddress as "192.0.2.1/24",
        /// The port
        port: PortName as "uplink",
    }
}

impl Order for Del {
    const NOUN: &'static str = "address";
    const VERB: &'static str = "del";
    const FIRST: usize = 1;

    fn run(self, config: &mut Config) -> Result<(), Problem> {
        let Self { address, port: name } = self;
        let port = row_mut(&mut config.ports, &name)?;
        let Some(at) = port.addresses.iter().position(|other| *other == address) else {
            let has: Vec<String> = port.addresses.iter().map(ToString::to_string).collect();
            let message = format!("port {name} has no address {address}");
            let problem = Problem::new(format!("port.{name}.addresses"), message);
            return Err(match has[..] {
                [] => problem,
                _ => problem.expected(format!("one of {}", has.join(", "))),
            });
        };
        port.addresses.remove(at);
        Ok(())
    }
}
