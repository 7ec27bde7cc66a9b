//! What theory says about closed clients: exact mean-value analysis (Reiser and Lavenberg, 1980) and
//! asymptotic bounds. The oracle of the simulated clients.
//!
//! It holds for one class of clients, exponential service at queueing stations, and any think time.

mod exact;

pub use exact::{Solution, StationLoad, solve};

use crate::simulate::SimulationError;

/// A closed network: clients think, visit every station and start again.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// Where the clients' work is done.
    pub stations: Vec<Station>,
    /// How long a client thinks between its visits, in nanoseconds.
    pub think_ns: f64,
}

/// Where work waits and is served.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Station {
    /// One queue before `servers` equal servers.
    Queue {
        /// Service that a client needs here in one round (visits times service time), in nanoseconds.
        demand_ns: f64,
        /// How many are served at a time.
        servers: u32,
    },
    /// Nobody waits: everyone is delayed by so much.
    Delay {
        /// Time that a client spends here in one round, in nanoseconds.
        demand_ns: f64,
    },
}

/// What no policy and no luck can beat (Denning and Buzen, 1978).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// min(N / (D + Z), 1 / D of the slowest station), in rounds a second.
    pub throughput_per_s_max: f64,
    /// max(D, N times D of the slowest station - Z), in nanoseconds.
    pub response_ns_min: f64,
}

/// The asymptotic bounds of a network with so many clients.
///
/// # Errors
/// A network without work, and terms that are negative, infinite or no number.
pub fn bounds(network: &Network, clients: u32) -> Result<Bounds, SimulationError> {
    network.check()?;
    let clients = f64::from(clients);
    let demand_ns: f64 = network.stations.iter().map(Station::demand_ns).sum();
    let slowest_ns = network.stations.iter().map(Station::per_server_ns).fold(0.0, f64::max);
    let alone_per_ns = clients / (demand_ns + network.think_ns);
    Ok(Bounds {
        throughput_per_s_max: 1e9 * alone_per_ns.min(1.0 / slowest_ns),
        response_ns_min: demand_ns.max(clients * slowest_ns - network.think_ns),
    })
}

impl Network {
    /// Clients that think and visit one queue.
    pub fn single(demand_ns: f64, servers: u32, think_ns: f64) -> Self {
        Self { stations: vec![Station::Queue { demand_ns, servers }], think_ns }
    }

    fn check(&self) -> Result<(), SimulationError> {
        let is_time = |value: f64| value.is_finite() && value >= 0.0;
        if !is_time(self.think_ns) {
            return Err(SimulationError::time("think_ns", self.think_ns));
        }
        for station in &self.stations {
            if !is_time(station.demand_ns()) {
                return Err(SimulationError::time("demand_ns", station.demand_ns()));
            }
            if matches!(station, Station::Queue { servers: 0, .. }) {
                return Err(SimulationError::Zero { what: "servers" });
            }
        }
        let round_ns = self.think_ns + self.stations.iter().map(Station::demand_ns).sum::<f64>();
        if round_ns > 0.0 { Ok(()) } else { Err(SimulationError::Zero { what: "round_ns" }) }
    }
}

impl Station {
    fn demand_ns(&self) -> f64 {
        let (Self::Queue { demand_ns, .. } | Self::Delay { demand_ns }) = self;
        *demand_ns
    }

    /// Time between two departures of a station that is never idle.
    fn per_server_ns(&self) -> f64 {
        match self {
            Self::Queue { demand_ns, servers } => demand_ns / f64::from(*servers),
            Self::Delay { .. } => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_cross_where_the_slowest_station_takes_over() {
        let queue = |demand_ns| Station::Queue { demand_ns, servers: 1 };
        let network = Network { stations: vec![queue(2e9), queue(3e9), queue(1e9)], think_ns: 4e9 };
        // D = 6 s and Z = 4 s: a client alone needs 10 s, and the slowest station takes one each 3 s.
        let at = |clients| bounds(&network, clients).unwrap();
        let near = |found: f64, expected: f64| (found - expected).abs() < 1e-9 * expected;
        assert!(near(at(1).throughput_per_s_max, 0.1) && near(at(3).throughput_per_s_max, 0.3));
        assert!(near(at(4).throughput_per_s_max, 1.0 / 3.0));
        assert!(near(at(1).response_ns_min, 6e9) && near(at(10).response_ns_min, 26e9));
        let two = Network::single(3e9, 2, 0.0);
        assert!(near(bounds(&two, 9).unwrap().throughput_per_s_max, 2.0 / 3.0));
    }

    #[test]
    fn a_network_that_cannot_be_is_refused_by_name() {
        let refused = |network: &Network| bounds(network, 1).unwrap_err().to_string();
        for value in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(refused(&Network::single(value, 1, 1.0)).contains("demand_ns"), "{value}");
            assert!(refused(&Network::single(1.0, 1, value)).contains("think_ns"), "{value}");
        }
        assert!(refused(&Network::single(1.0, 0, 1.0)).contains("servers"));
        assert!(refused(&Network::single(0.0, 1, 0.0)).contains("round_ns"));
    }
}
