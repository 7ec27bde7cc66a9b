//! How many DPU instructions a second one core simulates: `cargo bench -p dpu-sim`.

use dpu_sim::{Dpu, Outcome, Timing, assemble};
use std::fmt::Write;
use std::time::Instant;

/// What AES is made of: extract a byte, look it up, xor.
fn program(tasklets: u32) -> String {
    let mut source = format!(
        "jeq id, {}, work
         boot id, 1
         work: move r0, 2000000
         move r8, 4
         again:
        ",
        tasklets - 1
    );
    for _ in 0..16 {
        let _ = writeln!(source, "mul_uh_ul r3, r1, r8\nlw r4, r3, table\nxor r1, r1, r4");
    }
    source + "add r0, r0, -1\njneq r0, 0, again\nstop\n.data\ntable: .zero 1024\n"
}

fn main() {
    for tasklets in [1, 11, 16, 24] {
        for hazard in [false, true] {
            let mut dpu = Dpu::new(Timing { hazard, ..Timing::default() });
            dpu.load(&assemble(&program(tasklets)).expect("the program is right"));
            let mut best = 0.0_f64;
            for _ in 0..5 {
                dpu.reset_counters();
                dpu.boot();
                let started = Instant::now();
                assert_eq!(dpu.run(20_000_000), Outcome::Limit);
                best = best.max(20.0 / started.elapsed().as_secs_f64());
            }
            println!(
                "{tasklets:2} tasklets, hazard {hazard:5}: {best:6.1} million instructions a second"
            );
        }
    }
}
