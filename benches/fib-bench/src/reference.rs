//! DPDK's tables, called through the C file in `reference/`.

#![allow(unsafe_code)] // Every call crosses into C.

use std::ffi::{c_int, c_uint, c_void};
use std::ptr::NonNull;

use crate::BenchError;

mod c {
    use super::{c_int, c_uint, c_void};

    unsafe extern "C" {
        pub(super) fn reference_start(megabytes: c_uint, huge_pages: c_int) -> c_int;
        pub(super) fn reference_bytes() -> usize;
        pub(super) fn reference_fib_new(routes: c_uint, tables: c_uint) -> *mut c_void;
        pub(super) fn reference_fib_kernel(fib: *mut c_void, vector: c_int) -> c_int;
        pub(super) fn reference_fib_add(t: *mut c_void, address: u32, length: u8, to: u32)
        -> c_int;
        pub(super) fn reference_fib_delete(t: *mut c_void, address: u32, length: u8) -> c_int;
        pub(super) fn reference_fib_lookup(t: *mut c_void, a: *const u32, to: *mut u64, n: c_uint);
        pub(super) fn reference_lpm_new(routes: c_uint, tables: c_uint) -> *mut c_void;
        pub(super) fn reference_lpm_add(t: *mut c_void, address: u32, length: u8, to: u32)
        -> c_int;
        pub(super) fn reference_lpm_delete(t: *mut c_void, address: u32, length: u8) -> c_int;
        pub(super) fn reference_lpm_lookup(t: *mut c_void, a: *const u32, to: *mut u32, n: c_uint);
        pub(super) fn reference_fib6_new(routes: c_uint, tables: c_uint) -> *mut c_void;
        pub(super) fn reference_fib6_kernel(fib: *mut c_void, vector: c_int) -> c_int;
        pub(super) fn reference_fib6_add(
            t: *mut c_void,
            a: *const u8,
            length: u8,
            to: u32,
        ) -> c_int;
        pub(super) fn reference_fib6_delete(t: *mut c_void, a: *const u8, length: u8) -> c_int;
        pub(super) fn reference_fib6_lookup(t: *mut c_void, a: *const u8, to: *mut u64, n: c_uint);
        pub(super) fn reference_hash_new(entries: c_uint) -> *mut c_void;
        pub(super) fn reference_hash_add(t: *mut c_void, key: u64, port: u32) -> c_int;
        pub(super) fn reference_hash_delete(t: *mut c_void, key: u64) -> c_int;
        pub(super) fn reference_hash_lookup(t: *mut c_void, k: *const u64, to: *mut u64, n: c_uint);
    }
}

/// Which of DPDK's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `rte_fib`, DIR24_8.
    Fib,
    /// `rte_lpm`.
    Lpm,
    /// `rte_fib6`, a trie of 24-8-8.
    Fib6,
    /// `rte_hash` with keys of 8 bytes.
    Hash,
}

/// Starts DPDK within `megabytes` of this process's own memory.
pub(crate) fn start(megabytes: u32, huge_pages: bool) -> Result<(), BenchError> {
    // SAFETY: called once, before any other call, from the only thread.
    match unsafe { c::reference_start(megabytes, c_int::from(huge_pages)) } {
        0 => Ok(()),
        status => Err(BenchError::Dpdk { status, megabytes }),
    }
}

/// Bytes that all of DPDK's tables take.
pub(crate) fn bytes() -> usize {
    // SAFETY: it only reads the allocator's counters.
    unsafe { c::reference_bytes() }
}

/// One of DPDK's tables. It lives until the process ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Table {
    kind: Kind,
    table: NonNull<c_void>,
}

impl Table {
    /// A table for `routes`, with `extensions` second-level tables where it has such; `None` if
    /// DPDK refuses.
    pub(crate) fn new(kind: Kind, routes: u32, extensions: u32) -> Option<Table> {
        // SAFETY: DPDK runs; the calls take plain numbers.
        let table = unsafe {
            match kind {
                Kind::Fib => c::reference_fib_new(routes, extensions),
                Kind::Lpm => c::reference_lpm_new(routes, extensions),
                Kind::Fib6 => c::reference_fib6_new(routes, extensions),
                Kind::Hash => c::reference_hash_new(routes),
            }
        };
        Some(Table { kind, table: NonNull::new(table)? })
    }

    /// Chooses the scalar or the AVX-512 lookup; says whether the table has it.
    pub(crate) fn choose(self, vector: bool) -> bool {
        // SAFETY: the pointer is a table of its kind.
        unsafe {
            match self.kind {
                Kind::Fib => c::reference_fib_kernel(self.table.as_ptr(), vector.into()) == 0,
                Kind::Fib6 => c::reference_fib6_kernel(self.table.as_ptr(), vector.into()) == 0,
                Kind::Lpm | Kind::Hash => !vector,
            }
        }
    }

    /// Adds a route, or a key; says whether DPDK took it. `key` is the address in its low bits.
    pub(crate) fn add(self, key: u128, length: u8, to: u32) -> bool {
        let table = self.table.as_ptr();
        // SAFETY: the pointer is a table of its kind, and an IPv6 address is 16 bytes.
        let status = unsafe {
            match self.kind {
                Kind::Fib => c::reference_fib_add(table, key as u32, length, to),
                Kind::Lpm => c::reference_lpm_add(table, key as u32, length, to),
                Kind::Fib6 => c::reference_fib6_add(table, key.to_be_bytes().as_ptr(), length, to),
                Kind::Hash => c::reference_hash_add(table, key as u64, to),
            }
        };
        status >= 0
    }

    /// Takes a route, or a key, out; says whether it was there.
    pub(crate) fn delete(self, key: u128, length: u8) -> bool {
        let table = self.table.as_ptr();
        // SAFETY: as for `add`.
        let status = unsafe {
            match self.kind {
                Kind::Fib => c::reference_fib_delete(table, key as u32, length),
                Kind::Lpm => c::reference_lpm_delete(table, key as u32, length),
                Kind::Fib6 => c::reference_fib6_delete(table, key.to_be_bytes().as_ptr(), length),
                Kind::Hash => c::reference_hash_delete(table, key as u64),
            }
        };
        status >= 0
    }

    /// Looks IPv4 addresses up in `rte_fib`.
    pub(crate) fn lookup_fib(self, addresses: &[u32], to: &mut [u64]) {
        assert!(self.kind == Kind::Fib && addresses.len() <= to.len());
        let count = addresses.len() as c_uint;
        let table = self.table.as_ptr();
        // SAFETY: a table of this kind, and as many places as addresses.
        unsafe { c::reference_fib_lookup(table, addresses.as_ptr(), to.as_mut_ptr(), count) }
    }

    /// Looks IPv4 addresses up in `rte_lpm`.
    pub(crate) fn lookup_lpm(self, addresses: &[u32], to: &mut [u32]) {
        assert!(self.kind == Kind::Lpm && addresses.len() <= to.len());
        let count = addresses.len() as c_uint;
        let table = self.table.as_ptr();
        // SAFETY: as for `lookup_fib`.
        unsafe { c::reference_lpm_lookup(table, addresses.as_ptr(), to.as_mut_ptr(), count) }
    }

    /// Looks IPv6 addresses up, as they stand in packets, in `rte_fib6`.
    pub(crate) fn lookup_fib6(self, addresses: &[[u8; 16]], to: &mut [u64]) {
        assert!(self.kind == Kind::Fib6 && addresses.len() <= to.len());
        let count = addresses.len() as c_uint;
        let table = self.table.as_ptr();
        // SAFETY: as for `lookup_fib`.
        unsafe {
            c::reference_fib6_lookup(table, addresses.as_ptr().cast(), to.as_mut_ptr(), count)
        }
    }

    /// Looks keys up in `rte_hash`.
    pub(crate) fn lookup_hash(self, keys: &[u64], to: &mut [u64]) {
        assert!(self.kind == Kind::Hash && keys.len() <= to.len());
        let count = keys.len() as c_uint;
        let table = self.table.as_ptr();
        // SAFETY: as for `lookup_fib`.
        unsafe { c::reference_hash_lookup(table, keys.as_ptr(), to.as_mut_ptr(), count) }
    }
}
