//! Word pieces: the vocabulary of the built-in table.
