/// A median and the interval that holds the true one with 95 %, by order statistics.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interval {
    pub(crate) low: f64,
    pub(crate) median: f64,
    pub(crate) high: f64,
}

impl Interval {
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut sorted: Vec<_> = values.into_iter().collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let (count, outside) = (sorted.len(), outside(sorted.len()));
        let median = f64::midpoint(sorted[(count - 1) / 2], sorted[count / 2]);
        Self { low: sorted[outside], median, high: sorted[count - 1 - outside] }
    }
}

/// How many values lie outside on either side: the most whose binomial probability is at most 2.5 %.
/// With five values or fewer the interval is all of them and holds less than 95 %.
fn outside(count: usize) -> usize {
    let (mut probability, mut sum, mut outside) = (0.5f64.powf(count as f64), 0.0, 0);
    while outside < count / 2 {
        sum += probability;
        if sum > 0.025 {
            return usize::max(outside, 1) - 1;
        }
        probability *= (count - outside) as f64 / (outside + 1) as f64;
        outside += 1;
    }
    0
}
