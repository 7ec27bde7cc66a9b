//! plan.json: every cell that is to be measured.

use crate::device::Device;
use crate::options::Options;
use crate::part::Step;
use serde_json::{Map, Value, json};

/// A value for each axis.
pub(crate) type Cell = Map<String, Value>;

/// What is to be measured of one kind.
#[derive(Clone, Debug)]
pub(crate) struct Experiment {
    /// As the lab calls it.
    pub(crate) name: &'static str,
    /// What the document calls it; "" where it is of none.
    pub(crate) id: &'static str,
    /// Whether it is the lab's, which then sets beside it what was published.
    pub(crate) of_the_lab: bool,
    /// What it measures, in a line.
    pub(crate) title: &'static str,
    /// What it asks.
    pub(crate) why: &'static str,
    /// What one operation is.
    pub(crate) operation: &'static str,
    /// Names and titles of what is varied.
    pub(crate) axes: &'static [(&'static str, &'static str)],
    /// Which of them tells the cells of a group apart.
    pub(crate) compare: &'static str,
    /// Its figure.
    pub(crate) plot: Option<Plot>,
    /// The cells that are compared with each other, the reference first.
    pub(crate) groups: Vec<Vec<Cell>>,
}

/// A figure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plot {
    /// What stands on the horizontal axis.
    pub(crate) x: &'static str,
    /// On the vertical one.
    pub(crate) y: &'static str,
    /// What colours the lines.
    pub(crate) z: &'static str,
    /// What has a figure for each of its values.
    pub(crate) facet: &'static str,
    /// The only cells that are shown: an axis, and its value.
    pub(crate) only: Option<(&'static str, &'static str)>,
    /// Which axes are logarithmic: the horizontal and the vertical one.
    pub(crate) log: [bool; 2],
}

impl Plot {
    /// A figure for each device.
    pub(crate) const fn by([x, y, z]: [&'static str; 3]) -> Self {
        Self { x, y, z, facet: "device", only: None, log: [true, false] }
    }

    fn as_json(&self, title: &str) -> Value {
        let [log_x, log_y] = self.log;
        let only: Map<_, _> =
            self.only.into_iter().map(|(axis, value)| (axis.to_owned(), value.into())).collect();
        json!({
            "x": self.x, "y": self.y, "z": self.z, "title": title, "facet": self.facet,
            "where": only, "log_x": log_x, "log_y": log_y
        })
    }
}

/// A cell of values in the order of axes.
pub(crate) fn cell<const N: usize>(
    axes: &[(&'static str, &'static str)],
    values: [Value; N],
) -> Cell {
    let names = axes.iter().map(|(name, _)| (*name).to_owned());
    names.zip(values).collect()
}

/// What stands on an axis of a cell; 0 for what is no number.
pub(crate) fn number(cell: &Cell, axis: &str) -> u64 {
    cell.get(axis).and_then(Value::as_u64).unwrap_or_default()
}

/// What stands on an axis of a cell; "" for what is no text.
pub(crate) fn text<'c>(cell: &'c Cell, axis: &str) -> &'c str {
    cell.get(axis).and_then(Value::as_str).unwrap_or_default()
}

/// The blocks that a group gets at most.
pub(crate) const BLOCKS: usize = 24;

impl Experiment {
    fn as_json(&self) -> Value {
        let axes = self.axes.iter().map(|(name, title)| json!({"name": name, "title": title}));
        let plot = self.plot.map(|plot| plot.as_json(self.title));
        json!({
            "name": self.name,
            "id": self.id,
            // What the lab can't measure: it says who does.
            "file": (!self.of_the_lab).then_some(PROGRAM),
            "file_sha256": null,
            "title": self.title,
            "why": self.why,
            "axes": axes.collect::<Vec<_>>(),
            "plots": plot.into_iter().collect::<Vec<_>>(),
            "operation": self.operation,
            "compare": self.compare,
            "weight": 1.0,
            "blocks": BLOCKS,
            "groups": self.groups,
            "legend": {},
            "left_out": [],
            "whole_s": 0.0,
            "origin": "measured",
            "takes_s": null,
        })
    }
}

/// The plan of a run.
pub(crate) fn plan(options: &Options, chosen: &[&Device], created: &str) -> Value {
    let of_step = |step: &Step| chosen.iter().flat_map(|device| step.experiments(device)).collect();
    let experiments = joined(options.steps.iter().flat_map(|step| -> Vec<_> { of_step(step) }));
    json!({
        "schema": "sealift-run/1",
        "version": env!("CARGO_PKG_VERSION"),
        "created": created,
        "command": options.words,
        "seed": options.seed,
        "budget_s": options.budget.as_secs_f64(),
        "quick": false,
        "restarts": 1,
        "threads": [],
        "experiments": experiments.iter().map(Experiment::as_json).collect::<Vec<_>>(),
    })
}

/// Experiments of several devices under one name each.
fn joined(all: impl IntoIterator<Item = Experiment>) -> Vec<Experiment> {
    let mut experiments: Vec<Experiment> = vec![];
    for each in all {
        match experiments.iter_mut().find(|known| known.name == each.name) {
            Some(known) => known.groups.extend(each.groups),
            None => experiments.push(each),
        }
    }
    experiments
}

const PROGRAM: &str = "sealift-gpu";
