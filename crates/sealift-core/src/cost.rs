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
