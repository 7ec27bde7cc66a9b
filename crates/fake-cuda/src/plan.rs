//! What a test orders.

use crate::code::Code;
use std::str::FromStr;

/// The machine that is played, and what goes wrong on it.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// How many devices there are.
    pub(crate) devices: u32,
    /// The driver's version as CUDA counts it: 13000 is 13.0.
    pub(crate) driver: u32,
    /// The compute capability in tenths.
    pub(crate) capability: u32,
    /// The most dynamic shared memory a block can ask for, in bytes.
    pub(crate) shared: u32,
    /// A device's memory in bytes.
    pub(crate) memory: u64,
    /// How often an event is asked in vain.
    pub(crate) late: u32,
    /// No event is ever ready.
    pub(crate) never: bool,
    /// Kernels do nothing.
    pub(crate) idle: bool,
    faults: Vec<Fault>,
}

/// A call that fails.
#[derive(Clone, Debug)]
struct Fault {
    /// The function's name; none for whichever is called.
    function: Option<String>,
    /// Which call, from 1.
    call: u64,
    failure: Failure,
}

/// How a call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// This call alone.
    Once(Code),
    /// The device is lost with it.
    Lost(Code),
}

impl Plan {
    /// What an order without a value turns on.
    fn switch(&mut self, order: &str) -> Option<&mut bool> {
        match order {
            "never" => Some(&mut self.never),
            "idle" => Some(&mut self.idle),
            _ => None,
        }
    }

    /// What is ordered for a call: the `nth` of its function, and the `total`th of all.
    pub(crate) fn failure(&self, function: &str, nth: u64, total: u64) -> Option<Failure> {
        let meant = |fault: &&Fault| match &fault.function {
            Some(name) => name == function && fault.call == nth,
            None => fault.call == total,
        };
        self.faults.iter().find(meant).map(|fault| fault.failure)
    }
}

impl Default for Plan {
    /// A machine with one device, on which nothing goes wrong.
    fn default() -> Self {
        Self {
            devices: 1,
            driver: 13_000,
            capability: 90,
            shared: 227 << 10,
            memory: 8 << 30,
            late: 0,
            never: false,
            idle: false,
            faults: vec![],
        }
    }
}

/// Reads `devices=2,late=3,never,idle,cuLaunchKernel@2=701,any@40=719!`, or nothing but spaces.
impl FromStr for Plan {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut plan = Self::default();
        for order in text.split(',').map(str::trim).filter(|order| !order.is_empty()) {
            let wrong = || format!("{order:?} is no order");
            if let Some(switch) = plan.switch(order) {
                *switch = true;
                continue;
            }
            let (what, value) = order.split_once('=').ok_or_else(wrong)?;
            if let Some((function, call)) = what.split_once('@') {
                let function = (function != "any").then(|| function.to_owned());
                let call = call.parse().map_err(|_| wrong())?;
                let failure = match value.strip_suffix('!') {
                    Some(code) => Failure::Lost(code.parse().map_err(|_| wrong())?),
                    None => Failure::Once(value.parse().map_err(|_| wrong())?),
                };
                plan.faults.push(Fault { function, call, failure });
                continue;
            }
            let number: u64 = value.parse().map_err(|_| wrong())?;
            let small = u32::try_from(number).map_err(|_| wrong());
            match what {
                "devices" => plan.devices = small?,
                "driver" => plan.driver = small?,
                "capability" => plan.capability = small?,
                "shared" => plan.shared = small?,
                "late" => plan.late = small?,
                "memory" => plan.memory = number,
                _ => return Err(wrong()),
            }
        }
        Ok(plan)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_read_and_found_by_their_call() {
        let plan: Plan = "devices=2, never,cuMemAlloc_v2@3=2,any@7=719!".parse().unwrap();
        assert_eq!((plan.devices, plan.never), (2, true));
        assert_eq!(plan.failure("cuMemAlloc_v2", 3, 6), Some(Failure::Once(2)));
        assert_eq!(plan.failure("cuMemAlloc_v2", 2, 6), None);
        assert_eq!(plan.failure("cuInit", 1, 7), Some(Failure::Lost(719)));
    }

    #[test]
    fn what_is_no_order_is_refused() {
        for text in ["x", "late=x", "colour=7", "cuInit@x=1", "cuInit@1=", "devices=-1"] {
            let refused = text.parse::<Plan>().unwrap_err();
            assert!(refused.contains("is no order"), "{refused}");
        }
    }
}
