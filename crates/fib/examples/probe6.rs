#![allow(missing_docs, unsafe_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]
use fib::{Forward, Ip6Prefix, ip6::*, pages::PageSize, quiesce::Quiescence};
use std::time::Instant;
fn tsc() -> u64 {
    unsafe { core::arch::x86_64::_rdtsc() }
}
struct Rng(u64);
impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e3779b97f4a7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58476d1ce4e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d049bb133111eb);
        z ^ (z >> 31)
    }
    fn wide(&mut self) -> u128 {
        (self.next() as u128) << 64 | self.next() as u128
    }
}
fn real() -> Vec<(Ip6Prefix, u32)> {
    let text = std::fs::read_to_string("/tmp/internet-ipv6.txt").unwrap();
    text.lines()
        .map(|l| {
            let (p, a) = l.split_once(' ').unwrap();
            (p.parse().unwrap(), a.parse::<u32>().unwrap() % 1024 + 1)
        })
        .collect()
}
fn run(name: &str, routes: &[(Ip6Prefix, u32)]) {
    let pool = Ip6Pool::new(4 << 30, PageSize::Huge, &Quiescence::new()).unwrap();
    let t = Ip6Table::new(&pool, 4 << 20);
    let start = Instant::now();
    let mut slow = vec![];
    for (p, f) in routes {
        let a = tsc();
        t.insert(*p, Forward::new(1, *f)).unwrap();
        slow.push(tsc() - a);
    }
    let took = start.elapsed();
    slow.sort_unstable();
    let mut rng = Rng(1);
    let n = 1 << 20;
    let dst: Vec<u128> = (0..n)
        .map(|_| {
            let (p, _) = routes[rng.next() as usize % routes.len()];
            let host = if p.length() == 128 { 0 } else { rng.wide() >> p.length() };
            p.address() | host
        })
        .collect();
    let mut out = vec![0u32; 256];
    let mut best = u64::MAX;
    let mut sum = 0u64;
    let mut all = vec![];
    for _ in 0..7 {
        let a = tsc();
        for c in dst.chunks(256) {
            t.lookup_bulk(c, &mut out);
            sum += out[7] as u64;
        }
        let d = tsc() - a;
        best = best.min(d);
        all.push(d);
    }
    all.sort_unstable();
    let mut hot = u64::MAX;
    for _ in 0..9 {
        let a = tsc();
        for _ in 0..400 {
            t.lookup_bulk(&dst[..256], &mut out);
        }
        hot = hot.min((tsc() - a) / 400);
    }
    println!("   hot 256 {:.1} cyc; ", hot as f64 / 256.);
    let miss = dst.iter().filter(|d| t.lookup(**d).is_none()).count();
    let m = pool.memory();
    let (r, u) = (m.lookup_bytes, m.used_bytes);
    println!(
        "{name:28} {:8} routes  add {:6.0} ns p99 {:6.0} ns max {:8.0} us   lookup {:6.1} (med {:6.1}) cyc   reader {:7.1} MiB all {:7.1} MiB  {:.1} B/route miss {miss} {}",
        routes.len(),
        took.as_nanos() as f64 / routes.len() as f64,
        slow[slow.len() * 99 / 100] as f64 / 2.5,
        slow[slow.len() - 1] as f64 / 2500.,
        best as f64 / n as f64,
        all[3] as f64 / n as f64,
        r as f64 / 1048576.,
        u as f64 / 1048576.,
        r as f64 / routes.len() as f64,
        sum & 1
    );
    for (p, _) in routes.iter().rev() {
        t.remove(*p);
    }
    println!("   after remove {:?}", pool.memory());
}
fn main() {
    let mut rng = Rng(7);
    let only = std::env::args().nth(1).unwrap_or_default();
    let mut go = |name: &str, routes: Vec<(Ip6Prefix, u32)>| {
        if name.contains(&only) {
            run(name, &routes)
        }
    };
    let p = |a: u128, l: u8| Ip6Prefix::new(a, l).unwrap();
    let base = 1u128 << 125;
    go("one ::/0", vec![(p(0, 0), 3)]);
    go("one /64", vec![(p(base, 64), 3)]);
    go(
        "255k random /64 2000::/3",
        (0..255_000).map(|i| (p(base | rng.wide() >> 3, 64), i % 8192 + 1)).collect(),
    );
    go(
        "255k seq /64",
        (0..255_000u32).map(|i| (p(base | (i as u128) << 64, 64), i % 8192 + 1)).collect(),
    );
    let r = real();
    let hist: Vec<u8> = r.iter().map(|x| x.0.length()).collect();
    go("real", r.clone());
    let mut cov = r.clone();
    for i in 0..20000 {
        let q = r[i * 8].0;
        let l = 20 + (rng.next() % 12) as u8;
        if l < q.length() {
            cov.push((p(q.address(), l), 2000 + i as u32));
        }
    }
    go("real+covering", cov);
    for (n, k) in [("1M mix 2000::/3", 1_000_000u32), ("4M mix 2000::/3", 4_000_000)] {
        go(
            n,
            (0..k)
                .map(|i| {
                    (
                        p(base | rng.wide() >> 3, hist[rng.next() as usize % hist.len()]),
                        i % 8192 + 1,
                    )
                })
                .collect(),
        );
    }
    go("1M /64", (0..1_000_000).map(|i| (p(base | rng.wide() >> 3, 64), i % 8192 + 1)).collect());
    go("1M /128", (0..1_000_000).map(|i| (p(base | rng.wide() >> 3, 128), i % 8192 + 1)).collect());
    go(
        "1M uniform lengths",
        (0..1_000_000)
            .map(|i| (p(base | rng.wide() >> 3, (rng.next() % 108 + 20) as u8), i % 8192 + 1))
            .collect(),
    );
    let mut ext = r.clone();
    while ext.len() < 1_000_000 {
        let q = r[rng.next() as usize % r.len()].0;
        let l = hist[rng.next() as usize % hist.len()];
        let keep = 24.min(q.length());
        ext.push((p((q.address() >> (128 - keep) << (128 - keep)) | rng.wide() >> keep, l), 5));
    }
    go("1M real-like clusters", ext);
}
