//! What machine.json says: facts of this machine, each a value or why there is none.

use crate::nvml::Nvml;
use sealift_probes::effective_clock_ghz;
use serde_json::{Map, Value, json};
use std::fs;
use std::thread::available_parallelism;

/// By name, with the unit last.
pub(crate) type Facts = Map<String, Value>;

/// A value, or the reason why there is none.
pub(crate) fn fact(value: Result<impl Into<Value>, String>) -> Value {
    match value {
        Ok(value) => json!({"value": value.into(), "reason": null}),
        Err(reason) => json!({"value": null, "reason": reason}),
    }
}

/// Facts of this machine.
pub(crate) fn facts(nvml: &Result<Nvml, String>) -> Facts {
    let library = || nvml.as_ref().map_err(Clone::clone);
    let text = |text: Result<String, String>| fact(text.map(Value::from));
    let clock = effective_clock_ghz().ok_or("the processor's clock could not be timed".to_owned());
    let cores = available_parallelism().map(|cores| Value::from(cores.get()));
    let facts = [
        ("cpu_model", text(cpuinfo("model name"))),
        ("cpu_flags", fact(cpuinfo("flags").map(|flags| flags_of(&flags)))),
        ("cores_affinity", fact(cores.map_err(|error| error.to_string()))),
        (
            "kernel",
            text(read("/proc/sys/kernel/osrelease").map(|text| format!("Linux {}", text.trim()))),
        ),
        ("versions", fact(Ok(vec![format!("sealift-gpu {}", env!("CARGO_PKG_VERSION"))]))),
        ("load_1min", fact(load_1min())),
        ("core_clock_ghz", fact(clock)),
        ("nvidia_driver", text(library().and_then(Nvml::driver))),
        ("nvidia_gpus", fact(library().map(Nvml::gpus))),
    ];
    facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Mean number of runnable tasks over the last minute.
pub(crate) fn load_1min() -> Result<f64, String> {
    let text = read("/proc/loadavg")?;
    let first = text.split(' ').next().and_then(|load| load.parse().ok());
    first.ok_or_else(|| format!("/proc/loadavg holds {text:?}"))
}

fn cpuinfo(name: &str) -> Result<String, String> {
    let text = read("/proc/cpuinfo")?;
    let mut fields = text.lines().filter_map(|line| line.split_once(':'));
    let found = fields.find(|(key, _)| key.trim() == name);
    let value = found.map(|(_, value)| value.trim().to_owned());
    value.ok_or_else(|| format!("no {name:?} in /proc/cpuinfo"))
}

fn flags_of(line: &str) -> Vec<&'static str> {
    let present: Vec<_> = line.split(' ').collect();
    FLAGS.into_iter().filter(|flag| present.contains(flag)).collect()
}

fn read(path: &str) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))
}

/// Those that kernels of processors are chosen by.
const FLAGS: [&str; 9] =
    ["aes", "pclmulqdq", "avx", "avx2", "vaes", "vpclmulqdq", "avx512f", "avx512bw", "hypervisor"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fact_has_a_value_or_a_reason() {
        let facts = facts(&Err("there is no NVML".to_owned()));
        for (name, fact) in &facts {
            assert_ne!(fact["value"].is_null(), fact["reason"].is_null(), "{name}: {fact}");
        }
        assert_eq!(facts["nvidia_driver"]["reason"], "there is no NVML");
        assert!(facts["cores_affinity"]["value"].as_u64().unwrap() >= 1);
        assert!(facts["kernel"]["value"].as_str().unwrap().starts_with("Linux "), "{facts:?}");
    }
}
