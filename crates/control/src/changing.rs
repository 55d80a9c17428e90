//! Changes of the configuration, from their text to the running router.
//!
//! ```text
//!  what runs ─▶ another thread: read, check, compare ─▶ plan ─▶ control loop: make it
//!      ▲                                                          │
//!      └────── somebody else was quicker: worked out anew ────────┘
//! ```
//! The control loop does nothing but take the steps.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use thiserror::Error;
use tokio::task::spawn_blocking;

use crate::config::{Config, Host};
use crate::control_loop::{Handle, Undone};
use crate::opening::may_open;
use crate::transaction::{Plan, TransactionError};
use crate::view;

/// Why nothing was changed.
#[derive(Debug, Error)]
pub enum NotChanged<E: std::error::Error> {
    /// What was asked for is wrong.
    #[error(transparent)]
    Wrong(E),
    /// Whoever asks may not have it made.
    #[error("{0}")]
    NotAllowed(String),
    /// The router refused it.
    #[error(transparent)]
    Refused(TransactionError),
    /// The control loop did not come to it.
    #[error(transparent)]
    Undone(#[from] Undone),
    /// It could not be worked out.
    #[error("this change cannot be worked out")]
    Broken,
}

/// How a new configuration is made of the running one.
pub type Make<E> = dyn FnMut(&Config, &Host) -> Result<Config, E> + Send;

/// Makes what `make` makes of the running configuration the running one.
pub async fn change<E: std::error::Error + Send + 'static>(
    handle: &Handle,
    make: Box<Make<E>>,
    within: Option<Duration>,
    comment: String,
) -> Result<view::Applied, NotChanged<E>> {
    let make = Arc::new(Mutex::new(make));
    loop {
        let runs = |control: &mut crate::control_loop::Control, _| {
            (control.transaction.config().clone(), control.host.clone())
        };
        let (from, host) = handle.call(runs).await?;
        let make = Arc::clone(&make);
        let plan = move || {
            let mut make = make.lock().unwrap_or_else(PoisonError::into_inner);
            let to = (*make)(&from, &host)?;
            Ok(Plan::new(from, Arc::new(to), within))
        };
        let plan = spawn_blocking(plan).await.map_err(|_| NotChanged::Broken)?;
        let plan = plan.map_err(NotChanged::Wrong)?;
        may_open(handle.asker(), &plan).map_err(NotChanged::NotAllowed)?;
        let comment = comment.clone();
        let (outcome, plan) = handle
            .call(move |control, now| {
                let engine = control.engine.as_mut();
                (control.transaction.apply_plan(engine, &plan, &comment, now), plan)
            })
            .await?;
        match outcome {
            Ok(applied) => return told(applied, plan).await,
            Err(TransactionError::Outdated) => {}
            Err(error) => return Err(NotChanged::Refused(error)),
        }
    }
}

/// Goes back to an earlier configuration.
pub async fn rollback(
    handle: &Handle,
    to: Option<u64>,
) -> Result<view::Applied, NotChanged<TransactionError>> {
    loop {
        let both = move |control: &mut crate::control_loop::Control, _| {
            let transaction = &control.transaction;
            transaction.revision_of(to).map(|target| (transaction.config().clone(), target))
        };
        let (from, (number, config)) = handle.call(both).await?.map_err(NotChanged::Refused)?;
        let plan = spawn_blocking(move || Plan::new(from, config, None)).await;
        let plan = plan.map_err(|_| NotChanged::Broken)?;
        may_open(handle.asker(), &plan).map_err(NotChanged::NotAllowed)?;
        let (outcome, plan) = handle
            .call(move |control, now| {
                let engine = control.engine.as_mut();
                (control.transaction.rollback_plan(engine, &plan, number, now), plan)
            })
            .await?;
        match outcome {
            Ok(applied) => return told(applied, plan).await,
            Err(TransactionError::Outdated) => {}
            Err(error) => return Err(NotChanged::Refused(error)),
        }
    }
}

/// What was done, with the steps for a person to read.
async fn told<E: std::error::Error>(
    applied: view::Applied,
    plan: Plan,
) -> Result<view::Applied, NotChanged<E>> {
    let told = spawn_blocking(move || view::Applied { changes: plan.lines(), ..applied });
    told.await.map_err(|_| NotChanged::Broken)
}
