use thiserror::Error;

/// What a batch costs on a device: a set-up, so much a message and so much a byte.
///
/// Every term is finite and not negative, which is why the fields are private: what comes from outside
/// goes through [`Cost::new`] and is refused, what was computed through [`Cost::clamped`].
/// Bytes are texts and aads together, as in [`Shape::bytes`](crate::Shape::bytes).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    setup_ns: f64,
    per_message_ns: f64,
    per_byte_ns: f64,
}

impl Cost {
    /// A cost of three terms in nanoseconds.
    ///
    /// # Errors
    /// The first term that is negative, infinite or no number.
    pub const fn new(
        setup_ns: f64,
        per_message_ns: f64,
        per_byte_ns: f64,
    ) -> Result<Self, CostError> {
        if !is_cost(setup_ns) {
            return Err(CostError { term: "setup_ns", value: setup_ns });
        }
        if !is_cost(per_message_ns) {
            return Err(CostError { term: "per_message_ns", value: per_message_ns });
        }
        if !is_cost(per_byte_ns) {
            return Err(CostError { term: "per_byte_ns", value: per_byte_ns });
        }
        Ok(Self { setup_ns, per_message_ns, per_byte_ns })
    }

    /// A cost of three terms in nanoseconds, each brought into range: what is negative or no number
    /// becomes 0, infinity the largest number there is.
    pub const fn clamped(setup_ns: f64, per_message_ns: f64, per_byte_ns: f64) -> Self {
        Self {
            setup_ns: clamp(setup_ns),
            per_message_ns: clamp(per_message_ns),
            per_byte_ns: clamp(per_byte_ns),
        }
    }

    /// What every batch costs, however small, in nanoseconds.
    pub const fn setup_ns(&self) -> f64 {
        self.setup_ns
    }

    /// What each message adds, in nanoseconds.
    pub const fn per_message_ns(&self) -> f64 {
        self.per_message_ns
    }

    /// What each byte of text and aad adds, in nanoseconds.
    pub const fn per_byte_ns(&self) -> f64 {
        self.per_byte_ns
    }

    /// Nanoseconds for a batch of `messages` with `bytes` in all; finite, whatever is asked.
    pub const fn of(&self, messages: u64, bytes: u64) -> f64 {
        let ns =
            self.setup_ns + self.per_message_ns * messages as f64 + self.per_byte_ns * bytes as f64;
        ns.min(f64::MAX)
    }

    /// From which message size on a batch of `messages` equal ones is at least as fast here as on
    /// `other`.
    pub fn break_even_bytes(&self, other: &Self, messages: u64) -> BreakEven {
        // Per message, so that no product of two large numbers is taken: the result is never NaN.
        let setup = (self.setup_ns - other.setup_ns) / messages.max(1) as f64;
        let (head, slope) = match messages {
            0 => (setup, 0.0),
            _ => (
                setup + (self.per_message_ns - other.per_message_ns),
                self.per_byte_ns - other.per_byte_ns,
            ),
        };
        let bytes = -head / slope;
        match (head <= 0.0, slope <= 0.0) {
            (true, true) => BreakEven::Always,
            (true, false) if bytes < f64::INFINITY => BreakEven::UpTo(bytes.max(0.0)),
            (true, false) => BreakEven::Always,
            (false, true) if slope < 0.0 && bytes < f64::INFINITY => BreakEven::From(bytes),
            (false, _) => BreakEven::Never,
        }
    }
}

/// The message sizes at which one device is at least as fast as another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BreakEven {
    /// At none.
    Never,
    /// At all.
    Always,
    /// At this many bytes a message and more.
    From(f64),
    /// At this many bytes a message and fewer.
    UpTo(f64),
}

/// A term of a [`Cost`] that is none.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[error("{term} is {value}: a cost is a finite number of nanoseconds, zero or more")]
pub struct CostError {
    /// Which term.
    pub term: &'static str,
    /// What was given for it.
    pub value: f64,
}

const fn is_cost(ns: f64) -> bool {
    ns >= 0.0 && ns < f64::INFINITY
}

const fn clamp(ns: f64) -> f64 {
    ns.max(0.0).min(f64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_wrong_term_is_refused_by_name_and_value() {
        let refused = |terms: [f64; 3]| Cost::new(terms[0], terms[1], terms[2]).unwrap_err();
        assert_eq!(
            refused([-1.0, 0.0, 0.0]).to_string(),
            "setup_ns is -1: a cost is a finite number of nanoseconds, zero or more"
        );
        assert_eq!(refused([0.0, f64::INFINITY, 0.0]).term, "per_message_ns");
        assert!(refused([0.0, 0.0, f64::NAN]).value.is_nan());
    }

    #[test]
    fn what_is_out_of_range_is_clamped() {
        let clamped = Cost::clamped(-1.0, f64::NAN, f64::INFINITY);
        assert_eq!(clamped, cost(0.0, 0.0, f64::MAX));
    }

    #[test]
    fn a_batch_costs_its_set_up_its_messages_and_its_bytes() {
        assert_eq!(cost(200.0, 40.0, 0.5).of(10, 1_000), 1_100.0);
        assert_eq!(cost(200.0, 40.0, 0.5).of(0, 0), 200.0);
        assert_eq!(cost(f64::MAX, f64::MAX, f64::MAX).of(u64::MAX, u64::MAX), f64::MAX);
    }

    #[test]
    fn the_further_device_pays_from_a_size_on_that_falls_with_the_batch() {
        let (near, far) = (cost(200.0, 40.0, 0.25), cost(30_200.0, 40.0, 0.0));
        assert_eq!(far.break_even_bytes(&near, 1), BreakEven::From(120_000.0));
        assert_eq!(far.break_even_bytes(&near, 1_000), BreakEven::From(120.0));
        assert_eq!(near.break_even_bytes(&far, 1_000), BreakEven::UpTo(120.0));
        assert_eq!(far.break_even_bytes(&near, 0), BreakEven::Never);
        assert_eq!(near.break_even_bytes(&far, 0), BreakEven::Always);
    }

    #[test]
    fn equal_costs_are_as_fast_as_each_other_at_all_sizes() {
        let one = cost(200.0, 40.0, 0.25);
        assert_eq!(one.break_even_bytes(&one, 16), BreakEven::Always);
        assert_eq!(cost(201.0, 40.0, 0.25).break_even_bytes(&one, 16), BreakEven::Never);
    }

    proptest! {
        #[test]
        fn break_even_agrees_with_what_the_batches_cost(
            ours in any_cost(), other in any_cost(), messages in 0..10_000u64, size in 0..100_000u64,
        ) {
            let faster = match ours.break_even_bytes(&other, messages) {
                BreakEven::Never => false,
                BreakEven::Always => true,
                BreakEven::From(bytes) => size as f64 >= bytes,
                BreakEven::UpTo(bytes) => size as f64 <= bytes,
            };
            let (ours_ns, other_ns) =
                (ours.of(messages, messages * size), other.of(messages, messages * size));
            // Right at the break-even rounding decides.
            prop_assume!((ours_ns - other_ns).abs() > 1e-9 * ours_ns);
            prop_assert_eq!(faster, ours_ns < other_ns);
        }

        #[test]
        fn break_even_of_any_costs_is_a_finite_size_or_none(
            ours in any_terms(), other in any_terms(), messages: u64,
        ) {
            match ours.break_even_bytes(&other, messages) {
                BreakEven::Never | BreakEven::Always => {}
                BreakEven::From(bytes) | BreakEven::UpTo(bytes) => {
                    prop_assert!(bytes >= 0.0 && bytes.is_finite());
                }
            }
        }
    }

    fn cost(setup_ns: f64, per_message_ns: f64, per_byte_ns: f64) -> Cost {
        Cost::new(setup_ns, per_message_ns, per_byte_ns).unwrap()
    }

    /// Few values, so that terms are often equal or zero.
    fn any_cost() -> impl Strategy<Value = Cost> {
        let term = |values: &[f64]| prop::sample::select(values.to_vec());
        (
            term(&[0.0, 200.0, 30_000.0, 60_000.0]),
            term(&[0.0, 2.0, 40.0, 500.0]),
            term(&[0.0, 0.05, 0.3, 8.0]),
        )
            .prop_map(|(setup_ns, per_message_ns, per_byte_ns)| {
                cost(setup_ns, per_message_ns, per_byte_ns)
            })
    }

    fn any_terms() -> impl Strategy<Value = Cost> {
        any::<[f64; 3]>().prop_map(|terms| Cost::clamped(terms[0], terms[1], terms[2]))
    }
}
