//! The loops of products.c, on f32.

const SIDE: usize = 32;
const LITERAL: f32 = 1.5;
type Matrix = [[f32; SIDE]; SIDE];

fn filled(element: impl Fn(usize, usize) -> usize) -> Matrix {
    std::array::from_fn(|i| std::array::from_fn(|k| element(i, k) as f32))
}

/// The sum over all products, of the elements of each.
#[no_mangle]
pub extern "C" fn products(rounds: u32) -> f64 {
    let mut a = filled(|i, k| (3 * i + k) % 8);
    let b = filled(|i, k| (i + 5 * k) % 8);
    let mut sum = 0.0;
    for round in 0..rounds {
        // No round's product is another's.
        a[0][0] = (round % 8) as f32;
        let mut c = [[0.0; SIDE]; SIDE];
        for i in 0..SIDE {
            for k in 0..SIDE {
                for j in 0..SIDE {
                    c[i][j] += b[k][j] * (a[i][k] * LITERAL);
                }
            }
        }
        let mut columns = [0.0; SIDE];
        for row in &c {
            for j in 0..SIDE {
                columns[j] += row[j];
            }
        }
        sum += columns.iter().map(|&column| f64::from(column)).sum::<f64>();
    }
    sum
}
