//! The minimum of a smooth function of a few variables, without derivatives (Nelder and Mead).
//!
//! ```text
//!        worst ●╲             the worst corner is mirrored through the others' centre;
//!              │ ╲            further if that helps much, nearer if it helps little;
//!          ●───┴──● best      if nothing helps, all corners move towards the best
//! ```

/// Where `function` is least, from a simplex of `start` and one corner `steps` away on each axis.
pub fn minimise<const N: usize>(
    start: [f64; N],
    steps: [f64; N],
    rounds: usize,
    function: impl Fn(&[f64; N]) -> f64,
) -> ([f64; N], f64) {
    let mut corners = vec![(start, function(&start))];
    for axis in 0..N {
        let mut corner = start;
        corner[axis] += steps[axis];
        corners.push((corner, function(&corner)));
    }
    for _ in 0..rounds {
        corners.sort_by(|a, b| a.1.total_cmp(&b.1));
        let (best, second_worst, worst) = (corners[0].1, corners[N - 1].1, corners[N]);
        let mut centre = [0.0; N];
        for (corner, _) in &corners[..N] {
            (0..N).for_each(|axis| centre[axis] += corner[axis] / N as f64);
        }
        let moved = |factor: f64| {
            let point =
                std::array::from_fn(|axis| centre[axis] + factor * (centre[axis] - worst.0[axis]));
            (point, function(&point))
        };
        let mirrored = moved(1.0);
        corners[N] = if mirrored.1 < best {
            let further = moved(2.0);
            if further.1 < mirrored.1 { further } else { mirrored }
        } else if mirrored.1 < second_worst {
            mirrored
        } else {
            let nearer = if mirrored.1 < worst.1 { moved(0.5) } else { moved(-0.5) };
            if nearer.1 < worst.1.min(mirrored.1) {
                nearer
            } else {
                let anchor = corners[0].0;
                for (corner, value) in &mut corners[1..] {
                    (0..N).for_each(|axis| corner[axis] = corner[axis].midpoint(anchor[axis]));
                    *value = function(corner);
                }
                continue;
            }
        };
    }
    corners.into_iter().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((start, f64::INFINITY))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bottom_of_a_curved_valley_is_found() {
        let valley = |p: &[f64; 2]| (1.0 - p[0]).powi(2) + 100.0 * (p[1] - p[0] * p[0]).powi(2);
        let ([x, y], least) = minimise([-1.2, 1.0], [0.5, 0.5], 300, valley);
        assert!((x - 1.0).abs() < 1e-6 && (y - 1.0).abs() < 1e-6 && least < 1e-12);
    }

    #[test]
    fn one_variable_is_a_line_search() {
        let (point, _) = minimise([10.0], [1.0], 120, |p| (p[0] - 3.0).powi(2));
        assert!((point[0] - 3.0).abs() < 1e-6);
    }
}
