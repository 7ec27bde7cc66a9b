//! The one place that turns an error into a Python exception.

use pyo3::exceptions::{PyBufferError, PyMemoryError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyType;
use sealift::{BatchError, CipherError, EngineError, KeyError, OpenError, POLICIES, TagError};

/// Everything that can go wrong between a Python call and its result.
pub(crate) enum Failure {
    /// The engine or the batch.
    Engine(EngineError),
    /// Already an exception.
    Python(PyErr),
    /// A key of a wrong length.
    Key(KeyError),
    /// A tag of a wrong length.
    Tag(TagError),
    /// A number or a layout that can't be right.
    Input(String),
    /// More bytes than there is memory for.
    NoMemory(String),
    /// A closed session.
    Closed(String),
    /// A key that has sealed as much as it may.
    SealLimit(String),
    /// Messages that did not open, of how many.
    InvalidTag { indices: Vec<usize>, messages: usize, hint: &'static str },
    /// Rows of a column did not open; `first` are the first of them.
    #[cfg(feature = "arrow")]
    NotOpened { message: String, first: Vec<usize> },
}

pub(crate) type Outcome<T> = Result<T, Failure>;

/// An object of the wrong kind.
pub(crate) fn wrong_type(message: impl Into<String>) -> PyErr {
    PyTypeError::new_err(message.into())
}

/// What pickling an object of this process raises.
pub(crate) fn not_pickled(what: &str) -> PyErr {
    PyTypeError::new_err(format!(
        "{what} can't be pickled: its keys and threads belong to this process; send keys and make it in the worker, \
         for example in the function that ProcessPoolExecutor(initializer=...) calls"
    ))
}

/// A buffer whose bytes don't lie as they should.
pub(crate) fn wrong_layout(message: impl Into<String>) -> PyErr {
    PyBufferError::new_err(message.into())
}

/// The name of an object's type, as in `str` and `numpy.ndarray`.
pub(crate) fn type_name(object: &Bound<'_, PyAny>) -> String {
    let name = object.get_type().fully_qualified_name();
    name.map_or_else(|_| "an object".to_owned(), |name| name.to_string())
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}

impl From<CipherError> for Failure {
    fn from(error: CipherError) -> Self {
        match error {
            CipherError::Device(error) => Self::Engine(error.into()),
            CipherError::SealLimit => Self::SealLimit(error.to_string()),
            other => Self::Input(other.to_string()),
        }
    }
}

impl From<BatchError> for Failure {
    fn from(error: BatchError) -> Self {
        Self::Engine(error.into())
    }
}

impl From<KeyError> for Failure {
    fn from(error: KeyError) -> Self {
        Self::Key(error)
    }
}

impl From<TagError> for Failure {
    fn from(error: TagError) -> Self {
        Self::Tag(error)
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        Python::attach(|py| match failure {
            Failure::Python(error) => error,
            Failure::Engine(EngineError::Batch(error @ BatchError::NoMemory { .. })) => {
                PyMemoryError::new_err(error.to_string())
            }
            Failure::Engine(error) => engine_error(py, &error),
            Failure::NoMemory(message) => PyMemoryError::new_err(message),
            Failure::Key(error) => raise(py, "InputError", error.to_string()),
            Failure::Tag(error) => raise(py, "InputError", error.to_string()),
            Failure::Input(message) => raise(py, "InputError", message),
            Failure::Closed(message) => raise(py, "SessionError", message),
            Failure::SealLimit(message) => raise(py, "SealLimitError", message),
            Failure::InvalidTag { indices, messages, hint } => {
                invalid_tag(py, &indices, messages, hint)
            }
            #[cfg(feature = "arrow")]
            Failure::NotOpened { message, first } => raise_invalid_tag(py, message, first),
        })
    }
}

fn engine_error(py: Python<'_>, error: &EngineError) -> PyErr {
    let class = match error {
        EngineError::Batch(_) | EngineError::LimitTooHigh { .. } => "InputError",
        EngineError::Policy { .. } | EngineError::Audit { .. } => "InputError",
        EngineError::RawKeysDontCount => "InputError",
        EngineError::Limits(_) => "LimitError",
        EngineError::UnknownSession { .. }
        | EngineError::NoncesOfCaller { .. }
        | EngineError::NoncesCounted { .. }
        | EngineError::Algorithm { .. } => "SessionError",
        EngineError::SealLimit { .. } => "SealLimitError",
        EngineError::UnknownDevice { .. } | EngineError::Open(OpenError::UnknownDriver { .. }) => {
            "UnknownDeviceError"
        }
        EngineError::Open(OpenError::Setting { .. }) => "UnknownDeviceError",
        EngineError::Forked => "ForkedError",
        _ => "DeviceError",
    };
    let suggestion = match error {
        EngineError::UnknownDevice { name, known }
        | EngineError::Open(OpenError::UnknownDriver { name, known }) => nearest(py, name, known),
        EngineError::Policy { policy, .. } => nearest_policy(py, policy),
        _ => None,
    };
    let suggestion = suggestion.map(|names| format!("; did you mean {names}?"));
    raise(py, class, format!("{error}{}", suggestion.unwrap_or_default()))
}

/// The policy that was meant; none where the name is right and a setting is not.
fn nearest_policy(py: Python<'_>, spec: &str) -> Option<String> {
    let name = spec.split(':').next().unwrap_or(spec);
    let known: Vec<_> = POLICIES.iter().map(|policy| policy.name).collect();
    if known.contains(&name) { None } else { nearest(py, name, &known.join(", ")) }
}

/// The known name that looks most like the given one, in any case, or those that a name of GPUs stands for; in quotes.
fn nearest(py: Python<'_>, name: &str, known: &str) -> Option<String> {
    let known: Vec<_> = known.split(", ").collect();
    let gpu_names = py.import("sealift.gpu_names").ok()?;
    if gpu_names.call_method1("names_gpu", (name,)).ok()?.extract().ok()? {
        // "gpu" looks most like "cpu".
        return gpus(&known);
    }
    let name = name.to_lowercase();
    let difflib = py.import("difflib").ok()?;
    let matches = difflib.call_method1("get_close_matches", (name, known, 1)).ok()?;
    let name: String = matches.get_item(0).ok()?.extract().ok()?;
    Some(format!("{name:?}"))
}

fn gpus(known: &[&str]) -> Option<String> {
    let is_gpu = |name: &&&str| GPU_DRIVERS.iter().any(|driver| name.starts_with(driver));
    let found: Vec<_> = known.iter().filter(is_gpu).map(|name| format!("{name:?}")).collect();
    if found.is_empty() { None } else { Some(found.join(" or ")) }
}

fn invalid_tag(py: Python<'_>, indices: &[usize], messages: usize, hint: &str) -> PyErr {
    let shown = indices.iter().take(SHOWN_INDICES_MAX).map(ToString::to_string);
    let shown = shown.collect::<Vec<_>>().join(", ");
    let more = if indices.len() > SHOWN_INDICES_MAX { ", …" } else { "" };
    let message = if messages == 1 {
        format!("the tag does not belong to key, nonce, associated data and ciphertext{hint}")
    } else {
        format!(
            "{} of {messages} messages did not open: their tags do not belong to key, nonce, aad and \
             ciphertext; indices {shown}{more}{hint}",
            indices.len()
        )
    };
    raise_invalid_tag(py, message, indices.to_vec())
}

fn raise_invalid_tag(py: Python<'_>, message: String, indices: Vec<usize>) -> PyErr {
    let errors = py.import("sealift.errors");
    let error = errors.and_then(|e| e.call_method1("invalid_tag", (message, indices)));
    error.map_or_else(|error| error, PyErr::from_value)
}

fn raise(py: Python<'_>, class: &str, message: String) -> PyErr {
    exception(py, class, (message,))
}

fn exception<A>(py: Python<'_>, class: &str, arguments: A) -> PyErr
where
    A: pyo3::PyErrArguments + Send + Sync + 'static,
{
    let found = py.import("sealift.errors").and_then(|errors| errors.getattr(class));
    match found.and_then(|class| Ok(class.cast_into::<PyType>()?)) {
        Ok(class) => PyErr::from_type(class, arguments),
        Err(error) => error,
    }
}

const GPU_DRIVERS: [&str; 2] = ["cuda", "opencl"];
const SHOWN_INDICES_MAX: usize = 10;
