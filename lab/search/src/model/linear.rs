//! Linear least squares with few parameters, by the normal equations.
//!
//! ```text
//! minimise Σ w (y - Σ p_j x_j)²      ⇒      (Xᵀ W X) p = Xᵀ W y
//! ```

use crate::Error;

/// The parameters that fit best: `rows` are (the regressors, the value, its weight).
pub fn least_squares<const N: usize>(rows: &[([f64; N], f64, f64)]) -> Result<[f64; N], Error> {
    if rows.len() < N {
        return Err(Error::TooFew { what: "a least-squares fit", needed: N, got: rows.len() });
    }
    let mut matrix = [[0.0; N]; N];
    let mut right = [0.0; N];
    for (regressors, value, weight) in rows {
        for i in 0..N {
            right[i] += weight * regressors[i] * value;
            (0..N).for_each(|j| matrix[i][j] += weight * regressors[i] * regressors[j]);
        }
    }
    solve(matrix, right).ok_or(Error::TooFew {
        what: "independent points of a fit",
        needed: N,
        got: N - 1,
    })
}

/// Gauss' elimination with the largest pivot; none for a singular matrix.
fn solve<const N: usize>(mut matrix: [[f64; N]; N], mut right: [f64; N]) -> Option<[f64; N]> {
    for column in 0..N {
        let size = |row: &usize| matrix[*row][column].abs();
        let pivot = (column..N).max_by(|a, b| size(a).total_cmp(&size(b)))?;
        let largest = matrix[pivot].iter().fold(0.0f64, |most, entry| most.max(entry.abs()));
        if matrix[pivot][column].abs() <= 1e-12 * largest {
            return None;
        }
        matrix.swap(column, pivot);
        right.swap(column, pivot);
        for row in column + 1..N {
            let factor = matrix[row][column] / matrix[column][column];
            let (above, below) = matrix.split_at_mut(row);
            for (entry, pivot) in below[0][column..].iter_mut().zip(&above[column][column..]) {
                *entry -= factor * pivot;
            }
            right[row] -= factor * right[column];
        }
    }
    let mut solution = [0.0; N];
    for row in (0..N).rev() {
        let known: f64 = (row + 1..N).map(|place| matrix[row][place] * solution[place]).sum();
        solution[row] = (right[row] - known) / matrix[row][row];
    }
    Some(solution)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_through_its_points_is_exact() {
        let rows: Vec<_> =
            (0..5).map(|x| ([1.0, f64::from(x)], 3.0 - 2.0 * f64::from(x), 1.0)).collect();
        let [intercept, slope] = least_squares(&rows).unwrap();
        assert!((intercept - 3.0).abs() < 1e-12 && (slope + 2.0).abs() < 1e-12);
    }

    #[test]
    fn a_weight_counts_like_repetition() {
        let weighted = least_squares(&[([1.0], 1.0, 3.0), ([1.0], 5.0, 1.0)]).unwrap();
        assert_eq!(weighted, [2.0]);
    }

    #[test]
    fn points_that_say_the_same_are_too_few() {
        assert!(least_squares(&[([1.0, 2.0], 1.0, 1.0), ([2.0, 4.0], 2.0, 1.0)]).is_err());
        assert!(least_squares::<2>(&[([1.0, 2.0], 1.0, 1.0)]).is_err());
    }
}
