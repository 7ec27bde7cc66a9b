use super::{Network, Station};
use crate::simulate::SimulationError;
use std::collections::HashMap;

/// Stations with several servers that a network may have: each doubles the work.
const MULTI_SERVER_MAX: usize = 10;

/// A network with so many clients in the long run.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// Clients in the network.
    pub clients: u32,
    /// Rounds finished in a second.
    pub throughput_per_s: f64,
    /// From leaving one thought to the next, in nanoseconds.
    pub response_ns: f64,
    /// Every station, in the network's order.
    pub stations: Vec<StationLoad>,
}

/// What a station has to do in the long run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StationLoad {
    /// Time a client spends here in one round, in nanoseconds.
    pub residence_ns: f64,
    /// Clients that are here, those served included.
    pub clients: f64,
    /// Share of its servers that are busy; at a delay the number of clients.
    pub utilisation: f64,
}

/// Solves a network for so many clients.
///
/// Queues of one server are exact by their mean lengths, those of several by the probabilities that
/// servers are idle. That of an empty station is the quotient of two throughputs (Reiser, 1981) and not
/// a difference, which loses all its digits near saturation.
///
/// # Errors
/// No clients; a network without work; terms that are negative, infinite or no number; more than ten
/// stations of several servers.
pub fn solve(network: &Network, clients: u32) -> Result<Solution, SimulationError> {
    network.check()?;
    if clients == 0 {
        return Err(SimulationError::Zero { what: "clients" });
    }
    let several = (0..network.stations.len()).filter(|&at| servers(&network.stations[at]) > 1);
    let several: Vec<_> = several.collect();
    if several.len() > MULTI_SERVER_MAX {
        let (found, max) = (several.len(), MULTI_SERVER_MAX);
        return Err(SimulationError::TooMany { what: "stations of several servers", found, max });
    }
    let mut solver = Solver { network, clients, known: HashMap::new() };
    Ok(solver.without(&[], &several))
}

struct Solver<'n> {
    network: &'n Network,
    clients: u32,
    /// Throughputs per nanosecond for 1, 2, ... clients, without the stations named.
    known: HashMap<Vec<usize>, Vec<f64>>,
}

impl Solver<'_> {
    /// Solves the network without the stations `gone`; `several` are the others with several servers.
    fn without(&mut self, gone: &[usize], several: &[usize]) -> Solution {
        let complements: HashMap<usize, Vec<f64>> =
            several.iter().map(|&at| (at, self.throughputs(gone, several, at))).collect();
        let mut states: Vec<_> = self.network.stations.iter().map(State::empty).collect();
        let here = |at: &usize| !gone.contains(at);
        let mut solution = None;
        let mut throughputs = vec![];
        for clients in 1..=self.clients {
            let residences: Vec<_> = (0..states.len())
                .map(|at| if here(&at) { states[at].residence_ns() } else { 0.0 })
                .collect();
            let response_ns: f64 = residences.iter().sum();
            let per_ns = f64::from(clients) / (response_ns + self.network.think_ns);
            throughputs.push(per_ns);
            for at in (0..states.len()).filter(here) {
                let alone_per_ns = complements.get(&at).map(|found| found[clients as usize - 1]);
                states[at].arrive(per_ns, residences[at], alone_per_ns);
            }
            solution = Some((per_ns, response_ns, residences));
        }
        self.known.insert(gone.to_vec(), throughputs);
        self.describe(solution.unwrap_or_default())
    }

    /// Throughputs of the network without `gone` and the station `at`.
    fn throughputs(&mut self, gone: &[usize], several: &[usize], at: usize) -> Vec<f64> {
        let mut gone = [gone, &[at]].concat();
        gone.sort_unstable();
        if !self.known.contains_key(&gone) {
            let rest: Vec<_> = several.iter().copied().filter(|&other| other != at).collect();
            self.without(&gone, &rest);
        }
        self.known[&gone].clone()
    }

    fn describe(&self, (per_ns, response_ns, residences): (f64, f64, Vec<f64>)) -> Solution {
        let load = |(station, residence_ns): (&Station, f64)| StationLoad {
            residence_ns,
            clients: per_ns * residence_ns,
            utilisation: match station {
                Station::Queue { .. } => per_ns * station.per_server_ns(),
                Station::Delay { demand_ns } => per_ns * demand_ns,
            },
        };
        let stations = self.network.stations.iter().zip(residences).map(load).collect();
        Solution { clients: self.clients, throughput_per_s: 1e9 * per_ns, response_ns, stations }
    }
}

/// A station with the clients so far.
struct State {
    station: Station,
    clients: f64,
    /// How likely 0, 1, ... clients are here, for fewer clients than servers.
    fewer: Vec<f64>,
}

impl State {
    fn empty(station: &Station) -> Self {
        let mut fewer = vec![0.0; servers(station) as usize];
        fewer.iter_mut().take(1).for_each(|nobody| *nobody = 1.0);
        Self { station: *station, clients: 0.0, fewer }
    }

    /// What one more client meets here: what those before it left (the arrival theorem).
    fn residence_ns(&self) -> f64 {
        let Station::Queue { demand_ns, servers } = self.station else {
            return self.station.demand_ns();
        };
        let idle = self.fewer.iter().zip((0..servers).rev()).map(|(p, idle)| p * f64::from(idle));
        demand_ns / f64::from(servers) * (1.0 + self.clients + idle.sum::<f64>())
    }

    /// Takes in one more client. `alone_per_ns` is the throughput of the network without this station.
    fn arrive(&mut self, per_ns: f64, residence_ns: f64, alone_per_ns: Option<f64>) {
        if residence_ns == 0.0 {
            // Nobody stays, and a network of nothing else has no finite throughput.
            return;
        }
        self.clients = per_ns * residence_ns;
        let Some(alone_per_ns) = alone_per_ns else { return };
        let busy = per_ns * self.station.demand_ns();
        let before = self.fewer.clone();
        self.fewer[0] = before[0] * per_ns / alone_per_ns;
        for here in 1..before.len() {
            self.fewer[here] = before[here - 1] * busy / here as f64;
        }
    }
}

fn servers(station: &Station) -> u32 {
    match station {
        Station::Queue { servers, .. } => *servers,
        Station::Delay { .. } => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(demand_ns: f64, servers: u32) -> Station {
        Station::Queue { demand_ns, servers }
    }

    fn near(found: f64, expected: f64) -> bool {
        (found - expected).abs() <= 1e-9 * expected.abs()
    }

    /// Worked by hand, one client after the other: residence = D (1 + clients there before).
    #[test]
    fn the_textbook_central_server_comes_out() {
        let stations = vec![queue(2e9, 1), queue(3e9, 1), queue(1e9, 1)];
        let network = Network { stations, think_ns: 4e9 };
        let at = |clients| solve(&network, clients).unwrap();
        let residences = |clients| at(clients).stations.iter().map(|s| s.residence_ns).collect();
        let close = |found: Vec<f64>, expected: [f64; 3]| {
            found.iter().zip(expected).all(|(found, expected)| near(*found, expected * 1e9))
        };
        assert!(close(residences(1), [2.0, 3.0, 1.0]) && near(at(1).throughput_per_s, 0.1));
        assert!(close(residences(2), [2.4, 3.9, 1.1]) && near(at(2).throughput_per_s, 2.0 / 11.4));
        let third = [2.0 * (1.0 + 4.8 / 11.4), 3.0 * (1.0 + 7.8 / 11.4), 1.0 + 2.2 / 11.4];
        assert!(close(residences(3), third), "{:?}", at(3));
        assert!(near(at(3).throughput_per_s, 3.0 / (third.iter().sum::<f64>() + 4.0)));
        assert!((at(3).throughput_per_s - 0.229).abs() < 0.0005);
    }

    /// M equal queues without thought: X(N) = N / (D (N + M - 1)).
    #[test]
    fn a_balanced_network_follows_its_closed_form() {
        for (queues, clients) in [(1, 1), (1, 40), (2, 5), (4, 16), (7, 100)] {
            let network =
                Network { stations: vec![queue(50.0, 1); queues as usize], think_ns: 0.0 };
            let expected = 1e9 * f64::from(clients) / (50.0 * f64::from(clients + queues - 1));
            let found = solve(&network, clients).unwrap();
            assert!(near(found.throughput_per_s, expected), "{queues} queues: {found:?}");
        }
    }

    /// Birth and death: with demand = think = 1, one server and two clients are idle together with
    /// probability 1/5, so X = 4/5; two servers and three clients: weights 1, 3, 3, 3/2, X = 12/8.5.
    #[test]
    fn machines_with_repairmen_come_out_as_by_hand() {
        let throughput = |servers, clients| {
            solve(&Network::single(1e9, servers, 1e9), clients).unwrap().throughput_per_s
        };
        assert!(near(throughput(1, 2), 0.8));
        assert!(near(throughput(2, 3), 12.0 / 8.5));
        assert!(near(throughput(3, 3), 1.5), "nobody waits where everybody has a server");
    }

    #[test]
    fn delays_add_time_and_no_queue() {
        let stations = vec![queue(100.0, 1), Station::Delay { demand_ns: 300.0 }];
        let inside = solve(&Network { stations, think_ns: 0.0 }, 5).unwrap();
        let thought = solve(&Network::single(100.0, 1, 300.0), 5).unwrap();
        assert!(near(inside.throughput_per_s, thought.throughput_per_s));
        assert!(near(inside.response_ns, thought.response_ns + 300.0));
    }

    /// Buzen's convolution, with all terms positive, for stations of any number of servers.
    fn convolved_per_s(network: &Network, clients: u32) -> f64 {
        let scale = bounds_scale(network);
        let n = clients as usize;
        let mut sums: Vec<f64> = vec![0.0; n + 1];
        sums[0] = 1.0;
        let mut fold = |factor: &dyn Fn(usize) -> f64| {
            let mut weights = vec![1.0; n + 1];
            (1..=n).for_each(|at| weights[at] = weights[at - 1] * factor(at));
            let convolved = |at: usize| (0..=at).map(|k| weights[k] * sums[at - k]).sum();
            sums = (0..=n).map(convolved).collect();
        };
        fold(&|at| network.think_ns / scale / at as f64);
        for station in &network.stations {
            let demand = station.demand_ns() / scale;
            match *station {
                Station::Queue { servers, .. } => {
                    fold(&|at| demand / at.min(servers as usize) as f64)
                }
                Station::Delay { .. } => fold(&|at| demand / at as f64),
            }
        }
        1e9 * sums[n - 1] / sums[n] / scale
    }

    fn bounds_scale(network: &Network) -> f64 {
        network.stations.iter().map(Station::per_server_ns).fold(1e-9, f64::max)
    }

    #[test]
    fn several_servers_agree_with_convolution_also_where_they_are_never_idle() {
        for (think_ns, clients) in [(0.0, 1), (0.0, 9), (1e3, 30), (1e5, 200), (5e3, 400)] {
            for servers in [1, 2, 4, 7] {
                let delay = Station::Delay { demand_ns: 70.0 };
                let stations = vec![queue(1e3, servers), queue(400.0, 1), queue(900.0, 2), delay];
                for stations in [stations[..1].to_vec(), stations] {
                    let network = Network { stations, think_ns };
                    let found = solve(&network, clients).unwrap();
                    let expected = convolved_per_s(&network, clients);
                    assert!(near(found.throughput_per_s, expected), "{expected} but {found:?}");
                    let inside: f64 = found.stations.iter().map(|s| s.clients).sum();
                    let thinking = found.throughput_per_s * think_ns / 1e9;
                    assert!(near(inside + thinking, f64::from(clients)), "{found:?}");
                    let most = crate::simulate::mva::bounds(&network, clients).unwrap();
                    assert!(found.throughput_per_s <= most.throughput_per_s_max * (1.0 + 1e-9));
                    assert!(found.response_ns >= most.response_ns_min * (1.0 - 1e-9));
                }
            }
        }
    }

    #[test]
    fn stations_without_demand_change_nothing() {
        let stations = vec![queue(0.0, 2), queue(10.0, 2), queue(0.0, 1)];
        let found = solve(&Network { stations, think_ns: 0.0 }, 8).unwrap();
        assert!(near(found.throughput_per_s, 0.2e9), "{found:?}");
        assert!(found.stations[0].clients == 0.0 && near(found.stations[1].clients, 8.0));
    }

    #[test]
    fn nobody_and_too_many_stations_are_refused() {
        let network = Network { stations: vec![queue(1.0, 2); 11], think_ns: 0.0 };
        assert!(solve(&network, 0).unwrap_err().to_string().contains("clients"));
        assert!(solve(&network, 1).unwrap_err().to_string().contains("11"));
    }
}
