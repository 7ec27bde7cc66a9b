//! Variables of the environment.

use sealift_testing::note;

/// The seed of the random messages.
///
/// # Errors
/// `SEALIFT_SEED` is no number.
pub(crate) fn seed() -> Result<u64, String> {
    number("SEALIFT_SEED", 20_260_101)
}

/// How much of the large numbers is done: 1 for all.
///
/// # Errors
/// `SEALIFT_TEST_SCALE` is no scale.
pub(crate) fn scale() -> Result<f64, String> {
    let scale: f64 = number("SEALIFT_TEST_SCALE", 1.0)?;
    if !(scale > 0.0 && scale <= 1.0) {
        return Err(format!("SEALIFT_TEST_SCALE={scale}: give more than 0 and at most 1"));
    }
    if scale < 1.0 {
        note(&format!("SEALIFT_TEST_SCALE: {scale} of the large numbers, each kind at least once"));
    }
    Ok(scale)
}

fn number<T: std::str::FromStr>(variable: &str, default: T) -> Result<T, String> {
    match std::env::var(variable) {
        Err(_) => Ok(default),
        Ok(value) => value.parse().map_err(|_| format!("{variable}={value:?} is no number")),
    }
}
