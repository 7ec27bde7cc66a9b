//! Simulated clients against what queueing theory says of them.

use sealift_core::Cost;
use sealift_engine::DeviceId;
use sealift_engine::simulate::mva::{Network, Station, bounds, solve};
use sealift_engine::simulate::{
    Draw, Jitter, Load, LoadReport, Model, Placement, Pool, Shapes, pool,
};

const BATCHES: u64 = 20_000;
const SERVICE_NS: f64 = 10_000.0;
const THINK_NS: f64 = 40_000.0;

/// One message of 64 bytes costs `SERVICE_NS` in the mean.
fn model(name: &str, workers: usize) -> Model {
    let cost = Cost::new(3_600.0, 0.0, 100.0).unwrap();
    let (jitter, seed) = (Jitter::Exponential, name.bytes().map(u64::from).sum());
    Model { workers, slots: 256, jitter, seed, ..Model::new(name, cost) }
}

fn small() -> Shapes {
    Shapes::seals(Draw::Exactly(1.0), Draw::Exactly(64.0))
}

fn ids(pool: &Pool) -> Vec<DeviceId> {
    pool.engine.devices().map(|(id, _)| id).collect()
}

fn equal_devices(count: usize) -> Pool {
    let names = ["a", "b", "c", "d"];
    pool(names[..count].iter().map(|name| model(name, 1))).unwrap()
}

fn closed(pool: &Pool, clients: u32, placement: Placement, think_ns: Draw) -> LoadReport {
    let load = Load::closed(clients, think_ns, small(), BATCHES);
    let report = Load { placement, seed: 11, ..load }.drive(&pool.engine, &pool.clock).unwrap();
    assert_eq!((report.batches, report.wrong, report.failed), (BATCHES, 0, 0));
    assert_eq!((report.lost, report.doubled, report.refused), (0, 0, 0));
    report
}

fn thought() -> Draw {
    Draw::Exponential { mean: THINK_NS }
}

fn within(found: f64, expected: f64, share: f64) -> bool {
    (found - expected).abs() <= share * expected
}

/// Throughput, response and bounds of `clients` in all, in `parts` networks of their own.
fn agrees(report: &LoadReport, network: &Network, clients: u32, parts: u32) {
    let theory = solve(network, clients / parts).unwrap();
    let most = bounds(network, clients / parts).unwrap();
    let parts = f64::from(parts);
    let (found, expected) = (report.batches_per_s, parts * theory.throughput_per_s);
    assert!(within(found, expected, 0.02), "{clients} clients: {found} but {expected} a second");
    let (found, expected) = (report.response_ns_mean, theory.response_ns);
    assert!(within(found, expected, 0.03), "{clients} clients: {found} but {expected} ns");
    // The mean of what was drawn lies a little beside the true one, and the bound with it.
    assert!(report.batches_per_s <= parts * most.throughput_per_s_max * 1.02, "{report:?}");
    assert!(report.response_ns_mean >= most.response_ns_min * 0.97, "{report:?}");
}

#[test]
fn closed_clients_at_one_device_agree_with_mean_value_analysis() {
    for workers in [1, 2, 4] {
        for clients in [1, 4, 16] {
            let pool = pool([model("a", workers)]).unwrap();
            let on = Placement::PerClient(ids(&pool));
            let report = closed(&pool, clients, on, thought());
            let servers = u32::try_from(workers).unwrap();
            let network = Network::single(SERVICE_NS, servers, THINK_NS);
            agrees(&report, &network, clients, 1);
            let busy = solve(&network, clients).unwrap().stations[0].utilisation;
            assert!(within(report.devices[0].utilisation, busy, 0.02), "{report:?}");
        }
    }
}

#[test]
fn clients_with_a_device_each_agree_with_as_many_networks() {
    for devices in [2, 4] {
        for clients in [4, 16] {
            let pool = equal_devices(devices);
            let on = Placement::PerClient(ids(&pool));
            let report = closed(&pool, clients, on, thought());
            let network = Network::single(SERVICE_NS, 1, THINK_NS);
            agrees(&report, &network, clients, u32::try_from(devices).unwrap());
        }
    }
}

#[test]
fn batches_spread_at_random_agree_with_one_network_of_several_queues() {
    for devices in [2, 4] {
        for clients in [1, 4, 16] {
            let pool = equal_devices(devices);
            let on = Placement::PerBatch(ids(&pool));
            let report = closed(&pool, clients, on, thought());
            let demand_ns = SERVICE_NS / devices as f64;
            let queue = Station::Queue { demand_ns, servers: 1 };
            let network = Network { stations: vec![queue; devices], think_ns: THINK_NS };
            agrees(&report, &network, clients, 1);
        }
    }
}

#[test]
fn no_clients_ever_exceed_the_bounds() {
    for (workers, devices) in [(1, 1), (4, 1), (1, 2), (2, 4)] {
        for clients in [1, 4, 20] {
            let (jitter, names) = (Jitter::None, ["a", "b", "c", "d"]);
            let models =
                names[..devices].iter().map(|name| Model { jitter, ..model(name, workers) });
            let pool = pool(models).unwrap();
            let load = Load::closed(clients, Draw::Exactly(THINK_NS), small(), 1_000);
            let on = Placement::PerClient(ids(&pool));
            let report = Load { placement: on, ..load }.drive(&pool.engine, &pool.clock).unwrap();
            let servers = u32::try_from(workers).unwrap();
            let parts = clients.min(u32::try_from(devices).unwrap());
            let network = Network::single(SERVICE_NS, servers, THINK_NS);
            let most = bounds(&network, clients.div_ceil(parts)).unwrap();
            let throughput_most = f64::from(parts) * most.throughput_per_s_max;
            assert!(report.batches_per_s <= throughput_most * (1.0 + 1e-9), "{report:?}");
            let least = bounds(&network, clients / parts).unwrap();
            // Clients that start together leave a little early at the very end.
            assert!(report.response_ns_mean >= least.response_ns_min * 0.98, "{report:?}");
            assert!(report.devices.iter().all(|device| device.utilisation <= 1.0 + 1e-9));
        }
    }
}

#[test]
fn the_law_of_thought_does_not_matter() {
    let network = Network::single(SERVICE_NS, 1, THINK_NS);
    for think_ns in [Draw::Exactly(THINK_NS), Draw::Even { least: 0.0, most: 2.0 * THINK_NS }] {
        let pool = equal_devices(1);
        let report = closed(&pool, 4, Placement::PerBatch(ids(&pool)), think_ns);
        agrees(&report, &network, 4, 1);
    }
}

/// Open arrivals at one exponential server: response = 1 / (service rate - arrival rate), and 99 of 100
/// stay within ln(100) times that.
#[test]
fn open_arrivals_agree_with_the_single_server_queue() {
    for load in [0.3, 0.6] {
        let pool = equal_devices(1);
        let placement = Placement::PerBatch(ids(&pool));
        let arrivals = Load::open(load * 1e9 / SERVICE_NS, small(), 60_000);
        let report = Load { placement, ..arrivals }.drive(&pool.engine, &pool.clock).unwrap();
        let expected = SERVICE_NS / (1.0 - load);
        assert!(within(report.response_ns_mean, expected, 0.04), "{expected} but {report:?}");
        let p99 = report.response_ns_p99 as f64;
        assert!(within(p99, expected * 100f64.ln(), 0.08), "{report:?}");
        assert!(within(report.devices[0].utilisation, load, 0.03), "{report:?}");
        assert_eq!((report.batches, report.wrong, report.lost), (60_000, 0, 0));
    }
}
