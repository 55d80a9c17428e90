//! What the devices behind ports count.

use super::answer::*;

/// Of which ports.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct DeviceCounterFilter {
    /// Only this port.
    #[serde(default)]
    pub port: Option<String>,
}

/// A counter of the device behind a port, or of its driver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DeviceCounter {
    /// The port.
    pub port: String,
    /// The counter's name, which is the driver's: cards have others than sockets.
    pub counter: String,
    /// What it says, since the device was opened; `counters clear` leaves it alone.
    pub value: u64,
}

impl View for DeviceCounter {
    view!("show device-counters", "/v1/device-counters", DeviceCounterFilter => Vec<Self>,
        "What the devices behind ports count, by their drivers' names");
    counters!("value");

    const BUSY: Option<fn(&mut Vec<Self>) -> usize> = Some(|counters| {
        let all = counters.len();
        counters.retain(|counter| counter.value > 0);
        all - counters.len()
    });

    fn table(counters: &Vec<Self>) -> Table {
        table!(counters, counter => {
            "port": counter.port, "counter": counter.counter, "value": counter.value,
        })
    }
}
