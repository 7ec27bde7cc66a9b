//! A straight line through a card's predictions.

use super::line::Line;
use sealift_core::Cost;

/// The cost that meets the model best over [`MESSAGES`] and [`BYTES`], by least squares of relative
/// errors.
pub(super) fn cost(line: &Line) -> Cost {
    let shapes = MESSAGES.iter().flat_map(|messages| BYTES.map(|bytes| (*messages, bytes)));
    let points: Vec<[f64; 3]> = shapes
        .map(|(messages, bytes)| {
            let batch_ns = line.predict(messages, bytes).batch_ns;
            [1.0, messages as f64, (messages * bytes) as f64].map(|term| term / batch_ns)
        })
        .collect();
    // No term may be negative: the best of the lines that leave some out.
    let lines = (1..8u8).filter_map(|used| best(&points, used));
    let error =
        |terms: &[f64; 3]| points.iter().map(|x| (dot(x, terms) - 1.0).powi(2)).sum::<f64>();
    let found = lines.min_by(|one, other| error(one).total_cmp(&error(other)));
    let [setup_ns, per_message_ns, per_byte_ns] = found.unwrap_or_default();
    Cost::clamped(setup_ns, per_message_ns, per_byte_ns)
}

/// The terms that meet all points best, those apart from `used` being 0; none where one is negative.
fn best(points: &[[f64; 3]], used: u8) -> Option<[f64; 3]> {
    let (mut matrix, mut right) = ([[0.0; 3]; 3], [0.0; 3]);
    for i in 0..3 {
        let is_used = |i: usize| used & (1 << i) != 0;
        matrix[i][i] = 1.0;
        if is_used(i) {
            let others = (0..3).filter(|j| is_used(*j));
            others.for_each(|j| matrix[i][j] = points.iter().map(|x| x[i] * x[j]).sum());
            right[i] = points.iter().map(|x| x[i]).sum();
        }
    }
    let whole = determinant(&matrix);
    let terms = [0, 1, 2].map(|column| {
        let mut replaced = matrix;
        (0..3).for_each(|row| replaced[row][column] = right[row]);
        determinant(&replaced) / whole
    });
    terms.iter().all(|term| *term >= 0.0 && term.is_finite()).then_some(terms)
}

fn determinant([a, b, c]: &[[f64; 3]; 3]) -> f64 {
    a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0])
        + a[2] * (b[0] * c[1] - b[1] * c[0])
}

fn dot(a: &[f64; 3], b: &[f64; 3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

const MESSAGES: [u64; 6] = [1, 4, 16, 64, 256, 1024];
const BYTES: [u64; 6] = [16, 64, 256, 1024, 4096, 16_384];
