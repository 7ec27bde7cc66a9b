//! As interpolate.c: for each number on a line of input, the sum of that many interpolations, in 65,536ths.

use std::io::{self, BufRead};

fn interpolate(table: &[f64], x: f64) -> f64 {
    let k = x as usize;
    table[k] + (table[k + 1] - table[k]) * (x - k as f64)
}

fn sum(table: &[f64], count: u32) -> f64 {
    (0..count)
        .map(|i| {
            let position = i.wrapping_mul(0x9E37_79B9);
            interpolate(table, f64::from(position >> 6) / 65536.0)
        })
        .sum()
}

fn main() {
    let table: Vec<f64> = (0..=1024).map(|k| f64::from(k * (11 * k + 37) % 4096)).collect();
    for line in io::stdin().lock().lines() {
        let count = line.expect("a line of text").trim().parse().expect("a number");
        println!("{}", (65536.0 * sum(&table, count)) as i64);
    }
}
