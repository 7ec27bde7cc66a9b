//! Columns of Arrow: sealed and opened where they lie.

mod export;
mod ffi;
mod import;
mod keyring;

use crate::engine::Engine;
use crate::errors::{Failure, Outcome};
use crate::gil;
use export::{ArrowColumn, To};
use import::{Given, Pieces, Shape};
use keyring::Keyring;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::wrap_pyfunction;
use sealift_columns::{ColumnError, ColumnOptions, Layout, OnError, Reseal};

/// Adds what `sealift.arrow` is made of.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ArrowColumn>()?;
    module.add_class::<Keyring>()?;
    module.add_function(wrap_pyfunction!(seal_array, module)?)?;
    module.add_function(wrap_pyfunction!(open_array, module)?)?;
    module.add_function(wrap_pyfunction!(reseal_array, module)?)
}

/// Seals a column of Arrow; `sealift.arrow.seal_column` says how.
///
/// Args:
///     engine: Works the rows.
///     keys: The keyring.
///     column: Anything with `__arrow_c_array__` or `__arrow_c_stream__`.
///     key_ids: An int, a str, bytes, or a column of them.
///     aad: Parts of associated data, each str, bytes or a column of them.
///     name: The column's name in errors.
///     layout: "row", "columns" or "spark".
///     threads: How many threads the call may use; None for those of the engine.
///
/// Returns:
///     The sealed column, an object with `__arrow_c_stream__`.
#[pyfunction]
#[pyo3(signature = (engine, keys, column, key_ids, aad, *, name, layout, threads))]
#[expect(clippy::too_many_arguments, reason = "they have names in Python")]
fn seal_array(
    py: Python<'_>,
    engine: &Bound<'_, Engine>,
    keys: &Bound<'_, Keyring>,
    column: &Bound<'_, PyAny>,
    key_ids: &Bound<'_, PyAny>,
    aad: Vec<Bound<'_, PyAny>>,
    name: &str,
    layout: &str,
    threads: Option<&Bound<'_, PyAny>>,
) -> Outcome<ArrowColumn> {
    let options = options(layout, threads)?;
    let (chunks, _) = import::chunks(column, name)?;
    let ids = Some(Given::read(key_ids, "key_ids")?);
    let pieces = Pieces::new(name, &chunks, ids, parts(&aad)?, Shape::Rows)?;
    let views = pieces.views();
    let segments = pieces.segments(&views)?;
    let (engine, keyring) = (engine.get().inner(), keys.get().of_all(py, &segments)?);
    let (sealed, interrupt) = gil::leave_until(py, |stop| {
        sealift_columns::seal(engine, keyring, &segments, &options, stop)
    });
    let sealed = sealed.map_err(|error| stopped(error, interrupt, name))?;
    let to = match options.layout {
        Layout::Columns => To::Structs(keys.get().algorithm.nonce_bytes()),
        _ => To::Binary,
    };
    export::column(sealed, export::nulls(&chunks, &[]), to, name)
}

/// Opens a column of Arrow; `sealift.arrow.open_column` says how.
///
/// Args:
///     engine: Works the rows.
///     keys: The keyring.
///     column: Anything with `__arrow_c_array__` or `__arrow_c_stream__`.
///     key_ids: As for `seal_array`, where rows don't have them.
///     aad: As for `seal_array`.
///     name: The column's name in errors.
///     layout: "row", "columns" or "spark".
///     on_error: "raise" or "null".
///     to: "binary" or "string".
///     threads: How many threads the call may use; None for those of the engine.
///
/// Returns:
///     The opened column, an object with `__arrow_c_stream__`.
#[pyfunction]
#[pyo3(signature = (engine, keys, column, key_ids, aad, *, name, layout, on_error, to, threads))]
#[expect(clippy::too_many_arguments, reason = "they have names in Python")]
fn open_array(
    py: Python<'_>,
    engine: &Bound<'_, Engine>,
    keys: &Bound<'_, Keyring>,
    column: &Bound<'_, PyAny>,
    key_ids: Option<&Bound<'_, PyAny>>,
    aad: Vec<Bound<'_, PyAny>>,
    name: &str,
    layout: &str,
    on_error: &str,
    to: &str,
    threads: Option<&Bound<'_, PyAny>>,
) -> Outcome<ArrowColumn> {
    let (options, to) = (options(layout, threads)?, To::read(to)?);
    let on_error = match on_error {
        "raise" => OnError::Raise,
        "null" => OnError::List,
        _ => {
            return Err(Failure::Input(format!(
                "on_error is {on_error:?}: give \"raise\" or \"null\""
            )));
        }
    };
    let (chunks, _) = import::chunks(column, name)?;
    let shape = if options.layout == Layout::Columns { Shape::Parts } else { Shape::Rows };
    let ids = key_ids.map(|ids| Given::read(ids, "key_ids")).transpose()?;
    let pieces = Pieces::new(name, &chunks, ids, parts(&aad)?, shape)?;
    let views = pieces.views();
    let segments = pieces.segments(&views)?;
    let (engine, keyring) = (engine.get().inner(), keys.get().of_all(py, &segments)?);
    let (opened, interrupt) = gil::leave_until(py, |stop| {
        sealift_columns::open(engine, keyring, &segments, on_error, &options, stop)
    });
    let opened = opened.map_err(|error| stopped(error, interrupt, name))?;
    export::column(opened.outputs, export::nulls(&chunks, &opened.failed), to, name)
}

/// Seals a sealed column again; `sealift.arrow.reseal_column` says how.
///
/// Args:
///     engine: Works the rows.
///     keys: The keyring.
///     column: Anything with `__arrow_c_array__` or `__arrow_c_stream__`.
///     aad: As for `seal_array`.
///     name: The column's name in errors.
///     is_all: Whether rows are sealed again that the newest key has sealed.
///     threads: How many threads the call may use; None for those of the engine.
///
/// Returns:
///     The sealed column, an object with `__arrow_c_stream__`.
#[pyfunction]
#[pyo3(signature = (engine, keys, column, aad, *, name, is_all, threads))]
#[expect(clippy::too_many_arguments, reason = "they have names in Python")]
fn reseal_array(
    py: Python<'_>,
    engine: &Bound<'_, Engine>,
    keys: &Bound<'_, Keyring>,
    column: &Bound<'_, PyAny>,
    aad: Vec<Bound<'_, PyAny>>,
    name: &str,
    is_all: bool,
    threads: Option<&Bound<'_, PyAny>>,
) -> Outcome<ArrowColumn> {
    let options = options("row", threads)?;
    let which = if is_all { Reseal::All } else { Reseal::Outdated };
    let (chunks, _) = import::chunks(column, name)?;
    let pieces = Pieces::new(name, &chunks, None, parts(&aad)?, Shape::Rows)?;
    let views = pieces.views();
    let segments = pieces.segments(&views)?;
    let (engine, keyring) = (engine.get().inner(), keys.get().of_all(py, &segments)?);
    let (sealed, interrupt) = gil::leave_until(py, |stop| {
        sealift_columns::reseal(engine, keyring, &segments, which, &options, stop)
    });
    let sealed = sealed.map_err(|error| stopped(error, interrupt, name))?;
    export::column(sealed, export::nulls(&chunks, &[]), To::Binary, name)
}

fn parts(aad: &[Bound<'_, PyAny>]) -> Outcome<Vec<Given>> {
    aad.iter().map(Given::read_aad).collect()
}

fn options(layout: &str, threads: Option<&Bound<'_, PyAny>>) -> Outcome<ColumnOptions> {
    let layout = match layout {
        "row" => Layout::Row,
        "spark" => Layout::Spark,
        "columns" => Layout::Columns,
        _ => {
            let right = "give \"row\", \"columns\" or \"spark\"";
            return Err(Failure::Input(format!("layout is {layout:?}: {right}")));
        }
    };
    Ok(ColumnOptions { layout, threads: crate::engine::read_threads(threads)? })
}

fn stopped(error: ColumnError, interrupt: Option<PyErr>, name: &str) -> Failure {
    match interrupt {
        Some(interrupt) => Failure::Python(interrupt),
        None => column_error(error, name),
    }
}

/// An error of a column, with its name.
fn column_error(error: ColumnError, name: &str) -> Failure {
    match error {
        ColumnError::Engine(error) => Failure::Engine(error),
        ColumnError::NotOpened { ref first, rows, .. } => {
            let indices =
                first.iter().map(|row| usize::try_from(*row).unwrap_or(usize::MAX)).collect();
            let messages = usize::try_from(rows).unwrap_or(usize::MAX);
            Failure::InvalidTag { indices, messages, hint: "" }
        }
        ColumnError::SealLimit { .. } => Failure::SealLimit(format!("{name}: {error}")),
        ColumnError::NoMemory { .. } => Failure::NoMemory(format!("{name}: {error}")),
        ColumnError::Stopped => Failure::Python(PyKeyboardInterrupt::new_err(error.to_string())),
        _ => Failure::Input(format!("{name}: {error}")),
    }
}
