//! Signals: lines that an agent prints to write memory, such as `HEIRLOOM_MEMORY: VERB text`.
//!
//! [`SignalParser`] reads output in chunks cut anywhere; a program that prints JSON events passes whole messages
//! instead ([`SignalParser::parse_message`]). Both produce [`ParserEvent`](heirloom_model::signal::ParserEvent)s: signals,
//! and diagnostics for lines that resemble a signal but are invalid. No input is an error.
//!
//! The fast path does not split lines: one search finds prefixes and fence marks together, one finds escape
//! characters. Only lines with a match are parsed.

mod code_fence;
mod diff_hunk;
mod enclosing_blocks;
mod line_parser;
mod markdown_marks;
mod scan;
mod signal_parser;
mod signal_prefixes;
mod signal_removal;
mod text_syntax;
mod visible_text;

pub use signal_parser::SignalParser;
pub use signal_prefixes::{BadPrefix, SignalRules};
pub use signal_removal::{neutralize_signals, without_signals};
pub use text_syntax::{split_convention, split_decision, split_status};
