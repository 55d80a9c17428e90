//! Packet delay variation of one stream (RFC 5481).

use serde::{Deserialize, Serialize};

/// Delay variation of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DelayVariation {
    /// Median of PDV.
    pub pdv_p50_ns: u64,
    /// 99th percentile of PDV.
    pub pdv_p99_ns: u64,
    /// 99.9th percentile of PDV: what RFC 5481 section 6 sizes buffers with.
    pub pdv_p999_ns: u64,
    /// Largest PDV.
    pub pdv_max_ns: u64,
    /// Mean of |IPDV|.
    pub ipdv_mean_ns: f64,
    /// Median of |IPDV|.
    pub ipdv_p50_ns: u64,
    /// 99th percentile of |IPDV|.
    pub ipdv_p99_ns: u64,
}
