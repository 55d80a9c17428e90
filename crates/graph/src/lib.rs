//! The engine: nodes, exits, frames, dispatch, counters, traces, workers.
