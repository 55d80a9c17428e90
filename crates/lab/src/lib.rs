//! Measuring: searches, statistics, models, trials, reports.
