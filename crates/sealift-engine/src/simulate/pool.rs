use super::{Machine, Model, SimulationError};
use crate::Engine;
use sealift_core::{Device, SimulatedClock};
use std::sync::Arc;

/// An engine over simulated devices, with a hold on clock and devices.
#[derive(Clone, Debug)]
pub struct Pool {
    /// The engine.
    pub engine: Engine,
    /// Its time.
    pub clock: Arc<SimulatedClock>,
    /// Its devices, in its order.
    pub machines: Vec<Arc<Machine>>,
}

/// Opens these models and puts an engine over them.
///
/// # Errors
/// A model with a value out of its range; none at all; two of one name.
pub fn pool(models: impl IntoIterator<Item = Model>) -> Result<Pool, SimulationError> {
    let clock = Arc::new(SimulatedClock::new());
    let mut machines = vec![];
    let engine = Engine::over::<SimulationError>(Arc::clone(&clock) as _, |context| {
        for model in models {
            machines.push(model.open(&clock, &context.notify)?);
        }
        Ok(machines.iter().map(|machine| Arc::clone(machine) as Arc<dyn Device>).collect())
    })?;
    Ok(Pool { engine, clock, machines })
}
