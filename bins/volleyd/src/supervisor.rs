//! What systemd hears of us (sd_notify(3)): ready, reloading, stopping, and that we are alive.
//!
//! ```text
//!  every half of WatchdogSec ─▶ control loop: do all workers turn? ── yes ─▶ WATCHDOG=1
//!                                                                  └─ no, or no answer: nothing
//! ```
//! Without systemd nothing of this is sent.

use control::control_loop::Handle;
use sd_notify::NotifyState;

/// All is there: the API answers and the configuration runs.
pub(crate) fn ready() {
    tell(&[NotifyState::Ready]);
}

/// The file is read again.
pub(crate) fn reloading() {
    match NotifyState::monotonic_usec_now() {
        Ok(now) => tell(&[NotifyState::Reloading, now]),
        Err(error) => tracing::warn!(fault = "supervisor", %error, "no time to tell systemd"),
    }
}

/// The end.
pub(crate) fn stopping() {
    tell(&[NotifyState::Stopping]);
}

/// Says that we are alive as often as systemd wants to hear it, as long as all workers turn.
pub(crate) async fn stay_alive(handle: Handle) {
    let asked = sd_notify::watchdog_enabled().filter(|patience| !patience.is_zero());
    let Some(patience) = asked else { return };
    let mut beat = tokio::time::interval(patience / 2);
    loop {
        beat.tick().await;
        match handle.call(|control, _| control.engine.is_well()).await {
            Ok(true) => tell(&[NotifyState::Watchdog]),
            Ok(false) => {
                tracing::error!(fault = "watchdog", "systemd hears nothing: a worker is stuck");
            }
            Err(_stopped) => return,
        }
    }
}

fn tell(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::warn!(fault = "supervisor", %error, "systemd cannot be told");
    }
}
