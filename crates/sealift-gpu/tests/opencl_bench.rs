//! What the lab measures, on the first OpenCL device, which is a processor where there is no GPU.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use sealift_core::KeyLength;
use sealift_gpu::GpuError;
use sealift_gpu::bench::{
    Bench, BenchSpec, Code, CopyBench, Direction, Grid, Mode, Plan, Shape, Type, TypesBench, Unit,
    UnitBench,
};
use sealift_gpu::gpu::Gpu;
use sealift_gpu::message::Operation;
use sealift_gpu::opencl;
use sealift_gpu::variant::Tables;
use std::sync::Arc;

/// The first device; none where there is none, unless `SEALIFT_REQUIRE` names it.
fn device() -> Option<Arc<dyn Gpu>> {
    match opencl::open(opencl::LIBRARY, Some(0)) {
        Ok(device) => {
            sealift_testing::ran("opencl");
            Some(device)
        }
        Err(error) => {
            sealift_testing::skip("opencl", &error.to_string()).unwrap();
            None
        }
    }
}

fn shape(plan: Plan, text_bytes: usize) -> Shape {
    let key = KeyLength::Aes128;
    Shape { messages: 5, text_bytes, aad_bytes: 21, key, plan, own_keys: true }
}

const PLANS: [Plan; 6] = [
    Plan::All(Operation::Seal),
    Plan::All(Operation::Open),
    Plan::All(Operation::Verify),
    Plan::All(Operation::CounterMode),
    Plan::Verified,
    Plan::Refused,
];

#[test]
fn the_published_code_gives_what_this_processor_gives() {
    let Some(gpu) = device() else { return };
    let (code, grid) = (Code::Published, Some(Grid { groups: 2, group_items: 3 }));
    for plan in PLANS {
        for (mode, text_bytes) in [(Mode::Partitioned, 100), (Mode::Replicated, 128)] {
            let shape = shape(plan, text_bytes);
            let mut bench =
                Bench::new(&gpu, &BenchSpec { code, mode, grid, shape, seed: 3 }).unwrap();
            assert!(bench.run(1).unwrap().compute_ns > 0);
            assert_eq!(bench.check().unwrap(), if mode == Mode::Replicated { 6 } else { 5 });
        }
    }
    for key in [KeyLength::Aes192, KeyLength::Aes256] {
        let shape = Shape { key, own_keys: false, ..shape(Plan::All(Operation::Seal), 0) };
        let mode = Mode::Partitioned;
        Bench::new(&gpu, &BenchSpec { code, mode, grid, shape, seed: 4 }).unwrap();
    }
}

#[test]
fn our_code_is_measured_with_short_and_long_texts() {
    let Some(gpu) = device() else { return };
    let (code, mode) = (Code::Ours(Tables::OneShared), Mode::Partitioned);
    for plan in PLANS {
        for text_bytes in [128, 20_000] {
            let shape = shape(plan, text_bytes);
            let spec = BenchSpec { code, mode, grid: None, shape, seed: 5 };
            let mut bench = Bench::new(&gpu, &spec).unwrap();
            let took = bench.run_with_copies(2).unwrap();
            assert!(took.copy_in_ns > 0 && took.compute_ns > 0 && took.copy_out_ns > 0, "{took:?}");
            assert_eq!(bench.check().unwrap(), 5);
            assert_eq!(bench.bytes(), 5 * text_bytes as u64);
        }
    }
}

#[test]
fn every_type_of_numbers_is_computed_right() {
    let Some(gpu) = device() else { return };
    for of in Type::ALL {
        let mut bench = TypesBench::new(&gpu, of, Grid { groups: 2, group_items: 5 }).unwrap();
        assert!(bench.run(1).unwrap().compute_ns > 0);
        assert_eq!((bench.check().unwrap(), bench.operations()), (10, 36 * 512 * 10), "{of:?}");
        bench.forget().unwrap();
        assert!(bench.check().is_err(), "{of:?}");
    }
}

#[test]
fn copies_come_back_as_they_went() {
    let Some(gpu) = device() else { return };
    let mut bench = CopyBench::new(&gpu, 70_001).unwrap();
    let took = bench.run(Direction::Both, 2).unwrap();
    assert!(took.copy_in_ns > 0 && took.copy_out_ns > 0 && took.compute_ns == 0, "{took:?}");
    assert_eq!(bench.check().unwrap(), 140_002);
}

#[test]
fn what_opencl_can_not_do_is_said() {
    let Some(gpu) = device() else { return };
    let grid = Grid { groups: 1, group_items: 32 };
    let error = UnitBench::new(&gpu, Unit::Imad, grid, 5).err().unwrap();
    assert!(matches!(error, GpuError::Unfit { .. }), "{error}");
    let said = "program lab-units is of NVIDIA's instructions: open it as cuda";
    assert!(error.to_string().contains(said), "{error}");
    let wide = Grid { groups: 1, group_items: 1 << 20 };
    let error = TypesBench::new(&gpu, Type::Int, wide).err().unwrap();
    assert!(matches!(error, GpuError::NoSuchBench { .. }), "{error}");
}
