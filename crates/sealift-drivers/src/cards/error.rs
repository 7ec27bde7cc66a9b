use thiserror::Error;

/// A description of a card that can't be used.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CardError {
    /// Neither a card that comes with Sealift nor a file.
    #[error("{name:?} is no card and no file: there are the cards {known}, or write a file's path")]
    Unknown {
        /// What was given.
        name: String,
        /// The cards there are.
        known: String,
    },
    /// The file can't be read.
    #[error("{file}: {reason}")]
    Unreadable {
        /// The file.
        file: String,
        /// Why.
        reason: String,
    },
    /// A path that can't stand in a device's name.
    #[error(
        "{file}: a card is opened as cards:FILE, and there a path can't have a comma, a parenthesis, \
         an equals sign or a byte that is not UTF-8: rename the file or its folder, or write its path \
         from within"
    )]
    Path {
        /// The file.
        file: String,
    },
    /// No TOML.
    #[error("{file}, line {line}: {reason}")]
    Syntax {
        /// The file.
        file: String,
        /// Where, from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// A key that a card doesn't have.
    #[error("{file}, line {line}: there is no key {key}: write {known}")]
    Key {
        /// The file.
        file: String,
        /// Where, from 1.
        line: usize,
        /// The key, as in `card.units`.
        key: String,
        /// What may stand there.
        known: String,
    },
    /// A key that a card needs.
    #[error("{file}: {key} is missing: give {right}")]
    Missing {
        /// The file.
        file: String,
        /// The key, as in `card.units`.
        key: String,
        /// What would be right.
        right: String,
    },
    /// A value that can't be.
    #[error("{file}, line {line}: {key} is {value}: give {right}")]
    Value {
        /// The file.
        file: String,
        /// Where, from 1.
        line: usize,
        /// The key, as in `card.units`.
        key: String,
        /// What stands there.
        value: String,
        /// What would be right.
        right: String,
    },
    /// A board that can't be.
    #[error("a board with {what} = {value}: give {right}")]
    Board {
        /// Which of its numbers.
        what: String,
        /// Its value.
        value: String,
        /// What would be right.
        right: String,
    },
}
