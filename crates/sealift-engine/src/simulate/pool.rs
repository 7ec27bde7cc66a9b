use super::{Machine, Model, SimulationError};
use crate::{Engine, Settings};
use sealift_core::{Context, Device, SimulatedClock};
use std::cell::RefCell;
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

/// Opens these models and puts an engine with the usual settings over them.
///
/// # Errors
/// As [`pool_with`].
pub fn pool(models: impl IntoIterator<Item = Model>) -> Result<Pool, SimulationError> {
    pool_with(Settings::default(), models)
}

/// Opens these models and puts an engine over them.
///
/// # Errors
/// A model with a value out of its range; none at all; two of one name; an audit that nobody could do.
pub fn pool_with(
    settings: Settings,
    models: impl IntoIterator<Item = Model>,
) -> Result<Pool, SimulationError> {
    let clock = Arc::new(SimulatedClock::new());
    let machines = RefCell::new(vec![]);
    let open = models.into_iter().map(|model| {
        let (clock, machines) = (&clock, &machines);
        move |context: &Context| {
            let machine = model.open(clock, &context.notify)?;
            machines.borrow_mut().push(Arc::clone(&machine));
            Ok::<_, SimulationError>(machine as Arc<dyn Device>)
        }
    });
    let engine = Engine::with_settings(Arc::clone(&clock) as _, settings, open)?;
    let machines = machines.into_inner();
    Ok(Pool { engine, clock, machines })
}
