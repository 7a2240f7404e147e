//! Lines that an agent prints to write memory: `HEIRLOOM_MEMORY: VERB text`.
//!
//! [`SignalParser`] reads output as it comes, in chunks cut anywhere; a program that speaks JSON
//! hands over whole messages instead ([`SignalParser::message`]). Both give [`Found`](heirloom_model::signal::Found): signals, and
//! diagnostics for lines that look like one and are none. No input is an error.
//!
//! The fast path never looks at lines: one search for the prefixes and the fence marks together,
//! one for escapes. Only a line with such a hit is read.

mod fence;
mod marks;
mod parser;
mod reading;
mod rules;
mod scan;
mod shown;
mod strip;
mod words;

pub use parser::SignalParser;
pub use rules::{BadPrefix, SignalRules};
pub use strip::{defuse, without_signals};
pub use words::{split_convention, split_decision, split_status};
