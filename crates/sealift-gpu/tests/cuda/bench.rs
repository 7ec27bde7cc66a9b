//! What the lab measures, over CUDA.

use super::load::gpu;
use fake_cuda::Fake;
use sealift_core::KeyLength;
use sealift_gpu::GpuError;
use sealift_gpu::bench::{
    Bench, BenchSpec, Code, CopyBench, Direction, Grid, Mode, Plan, Shape, Unit, UnitBench,
};
use sealift_gpu::message::Operation;
use sealift_gpu::variant::Tables;

fn spec(code: Code, mode: Mode) -> BenchSpec {
    let shape = Shape {
        messages: 9,
        text_bytes: 100,
        aad_bytes: 5,
        key: KeyLength::Aes192,
        plan: Plan::All(Operation::Open),
        own_keys: true,
    };
    // No multiple of a warp.
    let grid = Some(Grid { groups: 3, group_items: 7 });
    BenchSpec { code, mode, grid, shape, seed: 7 }
}

#[test]
fn the_published_code_is_launched_on_any_grid_and_ours_in_warps() {
    let fake = Fake::new().unwrap();
    let gpu = gpu(&fake).unwrap();
    for mode in [Mode::Replicated, Mode::Partitioned] {
        let mut bench = Bench::new(&gpu, &spec(Code::Published, mode)).unwrap();
        let took = bench.run_with_copies(2).unwrap();
        assert!(took.copy_in_ns > 0 && took.compute_ns > 0 && took.copy_out_ns > 0, "{took:?}");
        let (results, times) = if mode == Mode::Replicated { (21, 21) } else { (9, 1) };
        assert_eq!(bench.check().unwrap(), results);
        assert_eq!((bench.operations(), bench.bytes()), (9 * times, 900 * times));
        assert_eq!(bench.private_bytes(), 21 * 11_280);
    }
    for (mode, plan) in [(Mode::Replicated, Plan::Verified), (Mode::Partitioned, Plan::Refused)] {
        let shape = Shape { plan, ..spec(Code::Published, mode).shape };
        Bench::new(&gpu, &BenchSpec { shape, ..spec(Code::Published, mode) }).unwrap();
    }
    let ours = spec(Code::Ours(Tables::FourForEachLane), Mode::Partitioned);
    let error = Bench::new(&gpu, &ours).err().unwrap().to_string();
    assert!(error.contains("a multiple of 32, and not of 7"), "{error}");
    for text_bytes in [100, 40_000] {
        let shape = Shape { text_bytes, ..ours.shape };
        let mut bench = Bench::new(&gpu, &BenchSpec { grid: None, shape, ..ours }).unwrap();
        assert!(bench.run(3).unwrap().compute_ns > 0);
        assert_eq!(bench.check().unwrap(), 9);
        assert_eq!(bench.private_bytes(), 0);
    }
}

#[test]
fn every_unit_is_checked_and_bits_are_multiplied_by_newer_devices_in_warps() {
    let fake = Fake::new().unwrap();
    let device = gpu(&fake).unwrap();
    let grid = Grid { groups: 2, group_items: 64 };
    for unit in Unit::ALL {
        let mut bench = UnitBench::new(&device, unit, grid, 1_021).unwrap();
        assert!(bench.run(2).unwrap().compute_ns > 0);
        assert_eq!((bench.check().unwrap(), bench.lane_operations()), (128, 8 * 1_021 * 128));
    }
    let thin = Grid { groups: 2, group_items: 7 };
    UnitBench::new(&device, Unit::Lop3, thin, 5).unwrap();
    let error = UnitBench::new(&device, Unit::Bmma, thin, 5).err().unwrap().to_string();
    assert!(error.contains("BMMA works in groups of a multiple of 32, and not of 7"), "{error}");
    drop(device);
    fake.plan("capability=75");
    let error = UnitBench::new(&gpu(&fake).unwrap(), Unit::Bmma, grid, 5).err().unwrap();
    assert!(matches!(error, GpuError::Unfit { .. }), "{error}");
    assert!(error.to_string().contains("it lacks BMMA"), "{error}");
}

#[test]
fn a_result_that_comes_from_no_kernel_is_noticed() {
    let fake = Fake::new().unwrap();
    let gpu = gpu(&fake).unwrap();
    let mut bench = Bench::new(&gpu, &spec(Code::Published, Mode::Partitioned)).unwrap();
    bench.run(0).unwrap();
    let error = bench.check().unwrap_err();
    assert!(matches!(error, GpuError::Wrong { .. }), "{error}");
}

#[test]
fn parts_of_the_results_are_compared_in_turn() {
    let fake = Fake::new().unwrap();
    let gpu = gpu(&fake).unwrap();
    let spec = spec(Code::Published, Mode::Partitioned);
    // Two in a part, and one is left.
    let shape = Shape { messages: 5, text_bytes: 500_000, ..spec.shape };
    let mut bench = Bench::new(&gpu, &BenchSpec { shape, ..spec }).unwrap();
    for count in [2, 2, 1, 2] {
        bench.run(1).unwrap();
        assert_eq!(bench.check_part().unwrap(), count);
    }
    fake.plan("idle");
    bench.run(1).unwrap();
    let error = bench.check_part().unwrap_err().to_string();
    assert!(error.contains("message 2 of 5 differs"), "{error}");
}

#[test]
fn copies_go_each_way_and_both_at_once() {
    let fake = Fake::new().unwrap();
    let gpu = gpu(&fake).unwrap();
    let mut bench = CopyBench::new(&gpu, 100_000).unwrap();
    let [one_way, back, both] = Direction::ALL.map(|direction| bench.run(direction, 2).unwrap());
    assert!(one_way.copy_in_ns > 0 && one_way.copy_out_ns == 0, "{one_way:?}");
    assert!(back.copy_in_ns == 0 && back.copy_out_ns > 0, "{back:?}");
    assert!(both.copy_in_ns > 0 && both.copy_out_ns > 0, "{both:?}");
    assert_eq!((bench.check().unwrap(), bench.bytes()), (200_000, 100_000));
    for direction in Direction::ALL {
        bench.forget().unwrap();
        let error = bench.check_part(direction).unwrap_err();
        assert!(matches!(error, GpuError::Wrong { .. }), "{direction:?}: {error}");
        bench.check().unwrap();
        bench.forget().unwrap();
        bench.run(direction, 1).unwrap();
        let ways = if direction == Direction::Both { 2 } else { 1 };
        assert_eq!(bench.check_part(direction).unwrap(), ways * 100_000);
    }
    assert!(CopyBench::new(&gpu, 0).is_err());
}
