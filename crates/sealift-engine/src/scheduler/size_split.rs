use super::policy::{Asked, Choice, NamedPolicy, Policy, Reach};
use super::quote::{Because, Candidate};
use sealift_core::{BreakEven, Spec};

pub(super) const SIZE_SPLIT: NamedPolicy = NamedPolicy {
    name: "size-split",
    summary: "short messages on the first device, long ones on the last (bytes=4096; else as measured)",
    make,
};

/// The mean length of a batch's texts decides between the first candidate and the last one.
#[derive(Clone, Debug)]
struct SizeSplit {
    /// Where long messages begin; none takes the size from which the last device is faster.
    threshold_bytes: Option<f64>,
}

fn make(spec: &Spec) -> Result<Box<dyn Policy>, String> {
    spec.only(&["bytes"]).map_err(|error| error.to_string())?;
    let threshold_bytes = match spec.setting("bytes") {
        None => None,
        Some(text) => Some(text.parse::<u32>().map(f64::from).map_err(|_| {
            format!("bytes={text} is no length: write size-split:bytes=4096, or leave it out")
        })?),
    };
    Ok(Box::new(SizeSplit { threshold_bytes }))
}

impl Policy for SizeSplit {
    fn name(&self) -> &'static str {
        SIZE_SPLIT.name
    }

    fn reach(&self) -> Reach {
        Reach::Ends
    }

    #[expect(clippy::cast_precision_loss, reason = "lengths are far under 2^52")]
    fn choose(&mut self, asked: &Asked<'_>) -> Choice {
        let [first, .., last] = asked.candidates else {
            return Choice { device: asked.candidates[0].device, because: Because::OnlyOne };
        };
        let messages = asked.shape.messages.max(1);
        let mean_bytes = asked.shape.text_bytes as f64 / messages as f64;
        let is_large = match self.threshold_bytes {
            Some(threshold_bytes) => mean_bytes >= threshold_bytes,
            None => is_past_break_even(first, last, mean_bytes, messages as u64),
        };
        if is_large {
            Choice { device: last.device, because: Because::Large }
        } else {
            Choice { device: first.device, because: Because::Small }
        }
    }

    fn explores(&self) -> bool {
        self.threshold_bytes.is_none()
    }
}

/// Whether the last device is as fast as the first one at this size, when both are idle.
fn is_past_break_even(first: &Candidate, last: &Candidate, mean_bytes: f64, messages: u64) -> bool {
    match last.cost.break_even_bytes(&first.cost, messages) {
        BreakEven::Never => false,
        BreakEven::Always => true,
        BreakEven::From(bytes) => mean_bytes >= bytes,
        BreakEven::UpTo(bytes) => mean_bytes <= bytes,
    }
}
