//! The special functions that intervals and tests need, each to about ten digits.

use std::f64::consts::PI;

/// ln Γ(x) for x > 0, by Lanczos' series.
pub fn ln_gamma(x: f64) -> f64 {
    const SERIES: [f64; 8] = [
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    if x < 0.5 {
        return (PI / (PI * x).sin()).ln() - ln_gamma(1.0 - x);
    }
    let x = x - 1.0;
    let terms = SERIES.iter().enumerate().map(|(index, term)| term / (x + index as f64 + 1.0));
    let sum = 0.999_999_999_999_809_9 + terms.sum::<f64>();
    let t = x + 7.5;
    0.5 * (2.0 * PI).ln() + (x + 0.5) * t.ln() - t + sum.ln()
}

/// The density of the standard normal distribution.
pub fn normal_density(z: f64) -> f64 {
    (-0.5 * z * z).exp() / (2.0 * PI).sqrt()
}

/// P(N < z): a series near the middle, a continued fraction in the tails (no cancellation there).
pub fn normal_cdf(z: f64) -> f64 {
    if z > 0.0 {
        return 1.0 - normal_cdf(-z);
    }
    let z = -z;
    if z < 3.0 {
        let (mut term, mut sum, mut odd) = (z, z, 1.0);
        while term > 1e-17 * sum {
            odd += 2.0;
            term *= z * z / odd;
            sum += term;
        }
        return 0.5 - normal_density(z) * sum;
    }
    let fraction = (1..=60).rev().fold(0.0, |tail, step| f64::from(step) / (z + tail));
    normal_density(z) / (z + fraction)
}

/// The z with P(N < z) = `p`.
pub fn normal_quantile(p: f64) -> f64 {
    invert(p, -40.0, 40.0, normal_cdf)
}

/// P(T < t) of Student's distribution.
pub fn student_cdf(t: f64, freedom: f64) -> f64 {
    let tail = 0.5 * incomplete_beta(freedom / (freedom + t * t), freedom / 2.0, 0.5);
    if t > 0.0 { 1.0 - tail } else { tail }
}

/// The t with P(T < t) = `p`.
pub fn student_quantile(p: f64, freedom: f64) -> f64 {
    invert(p, -1e5, 1e5, |t| student_cdf(t, freedom))
}

/// I_x(a, b), the regularised incomplete beta function, by its continued fraction.
pub fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(1.0 - x, b, a);
    }
    let ln_front = ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln();
    let mut tail = 0.0;
    for step in (1..=200u32).rev() {
        let m = f64::from(step / 2);
        let term = if step % 2 == 0 {
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
        } else {
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
        };
        tail = term / (1.0 + tail);
    }
    ln_front.exp() / a / (1.0 + tail)
}

/// P(√n D > x) of the Kolmogorov distribution.
pub fn kolmogorov_tail(x: f64) -> f64 {
    if x < 0.2 {
        return 1.0;
    }
    let term = |k: i32| {
        let sign = if k % 2 == 1 { 2.0 } else { -2.0 };
        sign * (-2.0 * f64::from(k * k) * x * x).exp()
    };
    (1..=100).map(term).sum::<f64>().clamp(0.0, 1.0)
}

/// Where a rising function reaches `value`, by bisection.
pub fn invert(value: f64, mut low: f64, mut high: f64, function: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..200 {
        let middle = low.midpoint(high);
        if middle <= low || middle >= high {
            break;
        }
        if function(middle) < value { low = middle } else { high = middle }
    }
    low.midpoint(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(got: f64, expected: f64) {
        assert!((got - expected).abs() <= 1e-9 * expected.abs().max(1e-3), "{got} for {expected}");
    }

    #[test]
    fn the_gamma_function_extends_the_factorial() {
        close(ln_gamma(6.0), 120f64.ln());
        close(ln_gamma(0.5), PI.sqrt().ln());
    }

    #[test]
    fn the_normal_distribution_matches_its_tables() {
        close(normal_cdf(0.0), 0.5);
        close(normal_cdf(1.96), 0.975_002_104_851_779_5);
        close(normal_cdf(-6.0) / 9.865_876_450_376_946e-10, 1.0);
        close(normal_quantile(0.975), 1.959_963_984_540_054);
    }

    #[test]
    fn students_distribution_matches_its_tables() {
        close(student_quantile(0.975, 4.0), 2.776_445_105_197_793);
        close(student_quantile(0.975, 19.0), 2.093_024_054_408_263);
        close(student_cdf(-1.0, 1.0), 0.25);
    }

    #[test]
    fn the_kolmogorov_distribution_matches_its_tables() {
        assert!((kolmogorov_tail(1.358) - 0.05).abs() < 1e-3);
        assert!((kolmogorov_tail(1.628) - 0.01).abs() < 1e-3);
        assert_eq!(kolmogorov_tail(0.0), 1.0);
    }
}
