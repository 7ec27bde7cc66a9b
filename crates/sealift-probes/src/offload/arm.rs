//! Clients and devices as an arm: what is timed again and again.

use super::client::Client;
use super::race::Race;
use super::{Cipher, OffloadSpec, Way};
use crate::cores::Cores;
use crate::crew::Crew;
use crate::primitives::aws_lc_version;
use crate::tdes::TripleDes;
use crate::{Arm, ArmError, Sample, Verified};
use sealift::{Engine, Patience, Settings};
use std::sync::Arc;
use std::time::Duration;

/// Clients that hand batches over to cores, every one of which is compared with what another library gives.
///
/// An operation is a message.
pub struct OffloadArm {
    way: Way,
    clients: Vec<Client>,
    crew: Crew,
    race: Arc<Race>,
    verified: Verified,
    detail: String,
    batch: u64,
}

impl OffloadArm {
    /// Opens the devices, makes the messages and works a first round, asking before each client whether
    /// that is still wanted.
    ///
    /// # Errors
    /// A spec that can't be; more devices than cores; a wrong result; [`ArmError::Stopped`].
    pub fn prepare_while(
        spec: &OffloadSpec,
        wanted: &mut dyn FnMut() -> bool,
    ) -> Result<Self, ArmError> {
        spec.check()?;
        let names = devices(spec)?;
        let specs: Vec<_> = names.iter().map(String::as_str).collect();
        let engine = Engine::open(&specs, &[&TripleDes], settings())?;
        let opened: Vec<_> = engine.devices().map(|(id, _)| id).zip(specs).collect();
        let race = Arc::new(Race::of(spec.threads));
        let mut clients = vec![];
        for number in 0..spec.threads {
            if !wanted() {
                return Err(ArmError::Stopped { device: names.join(", ") });
            }
            let own = opened[number % opened.len()];
            clients.push(Client::make(spec, &engine, own, number, &race)?);
        }
        let crew = match spec.way {
            Way::CallingThread => Crew::of(spec.threads),
            Way::Sleeping | Way::Polling => Crew::anywhere(),
        };
        let against = match spec.cipher {
            Cipher::TripleDes => format!("AWS-LC {}", aws_lc_version()),
            Cipher::AesGcm => "library".to_owned(),
        };
        let mut arm = Self {
            way: spec.way,
            clients,
            crew,
            race,
            verified: Verified::Against(vec![against]),
            detail: detail(&engine),
            batch: spec.batch as u64,
        };
        // The first starts the devices' threads; the second gives the pace.
        arm.crew.run(&mut arm.clients, 1)?;
        arm.sample(WARM_UP_SECONDS)?;
        arm.race.forget();
        Ok(arm)
    }
}

impl Arm for OffloadArm {
    fn sample(&mut self, seconds: f64) -> Result<Sample, ArmError> {
        let rounds = self.crew.times_for(seconds);
        let sample = self.crew.run(&mut self.clients, rounds)?;
        if self.way == Way::CallingThread {
            return Ok(sample);
        }
        // Who hands over waits, and gives its core to a device, by design: neither says that something
        // else ran there, and the clock just after a wait is not the one of the work. Preemptions are
        // counts of their own.
        Ok(Sample { cpu_share: 1.0, involuntary_switches: 0, clock_ghz: None, ..sample })
    }

    fn verified(&self) -> &Verified {
        &self.verified
    }

    fn detail(&self) -> &str {
        &self.detail
    }

    fn cores(&self) -> &[usize] {
        self.crew.cores()
    }

    fn counts(&self) -> Vec<(&'static str, u64)> {
        let totals = self.race.totals();
        let (all, clients) = (totals.all, totals.clients);
        vec![
            ("messages_checked", self.clients.iter().map(|client| client.checked).sum()),
            ("messages_worked", totals.batches * self.batch),
            ("batches_worked", totals.batches),
            ("sleeps_of_clients", clients.sleeps),
            ("sleeps_of_devices", all.sleeps.saturating_sub(clients.sleeps)),
            ("preemptions", all.preempted),
            ("user_ns", all.user_ns),
            ("kernel_ns", all.kernel_ns),
        ]
    }
}

/// The spec of each device, on a core of its own.
fn devices(spec: &OffloadSpec) -> Result<Vec<String>, ArmError> {
    let cores = Cores::of(spec.devices);
    let driver = spec.cipher.driver();
    let names: Vec<_> =
        cores.numbers().iter().map(|core| format!("{driver}:cores={core}")).collect();
    if names.len() == spec.devices {
        return Ok(names);
    }
    let what = format!("{} devices on a core each", spec.devices);
    let reason = "this process may use fewer cores, or keep no thread to one: take fewer devices";
    Err(ArmError::Absent { what, reason: reason.to_owned() })
}

/// Cores are slow where many threads share them, and none of them dies.
fn settings() -> Settings {
    let patience = Patience { extra: PATIENCE, ..Patience::default() };
    Settings { patience, ..Settings::on_one_thread() }
}

fn detail(engine: &Engine) -> String {
    let names: Vec<_> = engine.devices().map(|(_, device)| device.name.as_str()).collect();
    let told = engine.devices().next().map_or("", |(_, device)| device.detail.as_str());
    format!("{}: {told}", names.join(", "))
}

const WARM_UP_SECONDS: f64 = 0.001;
const PATIENCE: Duration = Duration::from_secs(60);
