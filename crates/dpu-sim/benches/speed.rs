//! How many DPU instructions a second one core simulates: `cargo bench -p dpu-sim`.

use dpu_sim::host::{DpuSet, Launch, Push};
use dpu_sim::kernels::many::{self, Layout, Message, Operation};
use dpu_sim::kernels::{Division, KeySize, RoundKeys, ctr, ctr_parameters};
use dpu_sim::{Dpu, Outcome, Preset, Region, Timing, assemble};
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
    one_dpu();
    if is_wanted("640 DPUs") {
        many_dpus();
    }
}

/// Arguments name what is run; without any, all is.
fn is_wanted(name: &str) -> bool {
    let mut wanted =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).peekable();
    wanted.peek().is_none() || wanted.any(|argument| name.contains(&argument))
}

/// 640 DPUs encrypt 64 KiB each in CTR, on all of this machine's threads.
fn many_dpus() {
    let right = "the program is right";
    let preset = Preset::named("upmem-640-267").expect("it is one of the presets");
    let mut set = DpuSet::alloc(640, &preset).expect("there are 640");
    let division = Division::new(16, 1024).expect("they fit");
    set.load(&assemble(&ctr(division, KeySize::Aes128)).expect(right)).expect("none runs");
    let keys = RoundKeys::new(&[7; 16]).expect("16 bytes are a key").bytes();
    set.broadcast_to("round_keys", 0, &keys).expect(right);
    set.broadcast_to("length", 0, &65_536_u32.to_le_bytes()).expect(right);
    set.broadcast_to("nonce", 0, &ctr_parameters(&[9; 12], 1)).expect(right);
    for dpu in 0..640 {
        set.prepare_xfer(dpu, vec![0; 65_536]).expect("there are 640");
    }
    let there = set.push_xfer(Push::ToDpus, "__sys_used_mram_end", 0, 65_536).expect(right);
    let started = Instant::now();
    set.launch(Launch::Synchronous).expect("no DPU faults");
    let simulating = started.elapsed().as_secs_f64();
    let back = set.push_xfer(Push::FromDpus, "__sys_used_mram_end", 0, 65_536).expect(right);
    let simulated = set.simulated_seconds().expect("none runs");
    println!(
        "640 DPUs x 64 KiB of CTR: {simulating:.1} s to simulate {simulated:.4} s; bus {:.4} s, copies here {:.4} s",
        there.bus_seconds + back.bus_seconds,
        there.copy_seconds + back.copy_seconds
    );
}

fn one_dpu() {
    let right = "the program is right";
    for tasklets in [1, 11, 16, 24] {
        speed(&format!("{tasklets} tasklets in step"), &program(tasklets), &|_| ());
    }
    let division = Division::new(16, 1024).expect("they fit");
    let keys = RoundKeys::new(&[7; 16]).expect("16 bytes are a key").bytes();
    speed("16 tasklets of CTR", &ctr(division, KeySize::Aes128), &|dpu| {
        for (name, bytes) in
            [("round_keys", keys.as_slice()), ("length", &(64_u32 << 20).to_le_bytes())]
        {
            let symbol = dpu.symbol(name).expect(right).clone();
            dpu.write(symbol.region, u64::from(symbol.offset), bytes).expect("it fits");
        }
    });
    let message = Message {
        operation: Operation::Seal,
        key: 0,
        nonce: &[1; 12],
        aad: &[2; 20],
        text: &[3; 128],
    };
    let layout = Layout::new(&[&[7; 16]], &vec![message; 4000]).expect("they fit");
    speed("16 tasklets of many messages", &many::program(division), &|dpu| {
        dpu.write(Region::Mram, 0, layout.image()).expect("it fits");
    });
}

/// How long this thread had a core, where the system tells. Other work on the machine counts less that way.
fn core_seconds() -> Option<f64> {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    told.split_whitespace().next()?.parse::<f64>().ok().map(|nanoseconds| nanoseconds * 1e-9)
}

/// The best of five runs of 20 million instructions, with and without the hazard.
fn speed(name: &str, source: &str, prepare: &dyn Fn(&mut Dpu)) {
    if !is_wanted(name) {
        return;
    }
    let program = assemble(source).expect("the program is right");
    for hazard in [false, true] {
        let mut dpu = Dpu::new(Timing { hazard, ..Timing::default() });
        let (mut best, mut busy) = (0.0_f64, 0.0_f64);
        for _ in 0..5 {
            dpu.load(&program);
            prepare(&mut dpu);
            dpu.boot();
            let (started, before) = (Instant::now(), core_seconds());
            assert_eq!(dpu.run(20_000_000), Outcome::Limit);
            best = best.max(20.0 / started.elapsed().as_secs_f64());
            busy = busy
                .max(before.zip(core_seconds()).map_or(0.0, |(before, now)| 20.0 / (now - before)));
        }
        println!(
            "{name}, hazard {hazard:5}: {best:6.1} million instructions a second, {busy:6.1} of this core's time"
        );
    }
}
