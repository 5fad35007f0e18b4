//! Order statistics and the least-squares line.

/// The quantile `q` (0 to 1) of `values`, interpolated linearly between
/// neighbours; `None` if there are no values or one of them is not a number.
pub fn quantile(values: &[f64], q: f64) -> Option<f64> {
    quantile_sorted(&sorted(values)?, q)
}

/// The median of `values`; `None` if there are no values or one of them is
/// not a number.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// Lower quartile, median and upper quartile of `values`; `None` if there are
/// no values or one of them is not a number.
pub fn quartiles(values: &[f64]) -> Option<(f64, f64, f64)> {
    let sorted = sorted(values)?;
    Some((
        quantile_sorted(&sorted, 0.25)?,
        quantile_sorted(&sorted, 0.5)?,
        quantile_sorted(&sorted, 0.75)?,
    ))
}

fn sorted(values: &[f64]) -> Option<Vec<f64>> {
    if values.is_empty() || values.iter().any(|value| value.is_nan()) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    Some(sorted)
}

fn quantile_sorted(sorted: &[f64], q: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let place = q.clamp(0.0, 1.0) * last as f64;
    let below = (place.floor() as usize).min(last);
    let above = (below + 1).min(last);
    let (low, high) = (sorted[below], sorted[above]);
    let share = place - below as f64;
    Some(if share == 0.0 || low == high {
        low
    } else {
        low + (high - low) * share
    })
}

/// A straight line `y = intercept + slope * x`.
///
/// Over message lengths in bytes and cycles per message, `slope` is the cost
/// per byte and `intercept` the fixed cost per message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Units of y per unit of x.
    pub slope: f64,
    /// The value of y at x = 0.
    pub intercept: f64,
}

impl Line {
    /// The line's value at `x`.
    pub fn at(self, x: f64) -> f64 {
        self.intercept + self.slope * x
    }
}

/// The line with the least sum of squared vertical distances to `points`,
/// which are (x, y); `None` unless there are two different x and all numbers
/// are finite.
pub fn least_squares(points: &[(f64, f64)]) -> Option<Line> {
    if points.iter().any(|(x, y)| !x.is_finite() || !y.is_finite()) || points.len() < 2 {
        return None;
    }
    let n = points.len() as f64;
    let mean_x = points.iter().map(|point| point.0).sum::<f64>() / n;
    let mean_y = points.iter().map(|point| point.1).sum::<f64>() / n;
    let spread: f64 = points.iter().map(|point| (point.0 - mean_x).powi(2)).sum();
    if spread <= 0.0 {
        return None;
    }
    let common: f64 = points
        .iter()
        .map(|point| (point.0 - mean_x) * (point.1 - mean_y))
        .sum();
    let slope = common / spread;
    Some(Line {
        slope,
        intercept: mean_y - slope * mean_x,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_statistics() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[f64::NAN, 1.0]), None);
        assert_eq!(median(&[7.0]), Some(7.0));
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(quartiles(&[5.0, 1.0, 4.0, 2.0, 3.0]), Some((2.0, 3.0, 4.0)));
        assert_eq!(quartiles(&[1.0, 2.0]), Some((1.25, 1.5, 1.75)));
        assert_eq!(quantile(&[1.0, 9.0], 0.0), Some(1.0));
        assert_eq!(quantile(&[1.0, 9.0], 1.0), Some(9.0));
        assert_eq!(quantile(&[1.0, 9.0], 7.0), Some(9.0));
        assert_eq!(median(&[f64::INFINITY, f64::INFINITY]), Some(f64::INFINITY));
    }

    #[test]
    fn line_through_points() {
        let exact: Vec<(f64, f64)> = (0..20)
            .map(|x| (f64::from(x), 40.0 + 0.25 * f64::from(x)))
            .collect();
        let line = least_squares(&exact).unwrap();
        assert!((line.slope - 0.25).abs() < 1e-12 && (line.intercept - 40.0).abs() < 1e-12);
        assert!((line.at(100.0) - 65.0).abs() < 1e-9);

        // By hand: x 0, 1, 2; y 0, 2, 1 -> slope 1/2, intercept 1/2.
        let line = least_squares(&[(0.0, 0.0), (1.0, 2.0), (2.0, 1.0)]).unwrap();
        assert!((line.slope - 0.5).abs() < 1e-12 && (line.intercept - 0.5).abs() < 1e-12);
    }

    #[test]
    fn no_line() {
        assert_eq!(least_squares(&[]), None);
        assert_eq!(least_squares(&[(1.0, 1.0)]), None);
        assert_eq!(least_squares(&[(1.0, 1.0), (1.0, 2.0)]), None);
        assert_eq!(least_squares(&[(1.0, 1.0), (2.0, f64::NAN)]), None);
    }
}
