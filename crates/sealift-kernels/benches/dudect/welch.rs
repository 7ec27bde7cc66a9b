//! Welch's t of two samples of times, of all of them and of the faster ones.

/// The largest t that was found.
#[derive(Clone)]
pub(crate) struct Found {
    pub(crate) t: f64,
    /// Which of the times it is of.
    pub(crate) kept: String,
    /// Times of both classes together.
    pub(crate) samples: usize,
    /// Of both classes together.
    pub(crate) median: u64,
    /// By how many ticks the median of the second class is above that of the first.
    pub(crate) difference: f64,
}

/// The largest t of two classes: of all times, of those up to some percentile of both together, which leaves
/// interrupts out, and of the squares of their distance from the mean.
pub(crate) fn found(classes: &[Vec<u64>; 2]) -> Found {
    let mut all: Vec<u64> = classes.iter().flatten().copied().collect();
    all.sort_unstable();
    let at = |share: f64| all[index(all.len(), share)];
    let mut found = vec![];
    for percent in PERCENTILES {
        let most = at(percent / 100.0);
        let kept = classes.each_ref().map(|class| kept(class, most));
        found.push((t(&kept), format!("{percent} % of the times")));
        if percent <= 99.0 {
            found.push((t(&squares(&kept)), format!("their spread within {percent} %")));
        }
    }
    let larger = |a: &(f64, String), b: &(f64, String)| a.0.abs().total_cmp(&b.0.abs());
    let (t, kept) = found.into_iter().max_by(larger).unwrap();
    let [first, second] = classes.each_ref().map(|class| {
        let mut class = class.clone();
        class.sort_unstable();
        class[index(class.len(), 0.5)] as f64
    });
    Found { t, kept, samples: all.len(), median: at(0.5), difference: second - first }
}

fn kept(class: &[u64], most: u64) -> Vec<f64> {
    class.iter().filter(|ticks| **ticks <= most).map(|ticks| *ticks as f64).collect()
}

fn squares(classes: &[Vec<f64>; 2]) -> [Vec<f64>; 2] {
    classes.each_ref().map(|class| {
        let mean = mean(class);
        class.iter().map(|ticks| (ticks - mean).powi(2)).collect()
    })
}

fn t([a, b]: &[Vec<f64>; 2]) -> f64 {
    let error = (variance(a) / a.len() as f64 + variance(b) / b.len() as f64).sqrt();
    if error > 0.0 { (mean(a) - mean(b)) / error } else { 0.0 }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn variance(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (values.len() as f64 - 1.0)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a length")]
fn index(len: usize, share: f64) -> usize {
    (((len - 1) as f64) * share) as usize
}

/// How many values of t are looked at.
pub(crate) const STATISTICS: usize = 2 * PERCENTILES.len() - 2;

const PERCENTILES: [f64; 6] = [100.0, 99.9, 99.0, 95.0, 80.0, 50.0];
