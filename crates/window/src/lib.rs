//! Long conversations inside a model's window: messages in, messages out.
//!
//! Pure and deterministic: the same history and policy give the same bytes, in every process. It
//! reads no file and no clock; what is shortened or dropped comes back in full, for the caller to keep.

pub mod check;
mod compose;
pub mod conversation;
pub mod digest;
mod form;
pub mod message;
mod own;
mod plan;
pub mod policy;
pub mod prices;
mod render;
pub mod replay;
pub mod report;
mod shorten;
pub mod size;
mod state;
mod transcript;
mod window;

pub use compose::{Piece, Shortened};
pub use conversation::{Conversation, Refusal};
pub use message::{Call, Form, Message, Output, Own, Part, Role};
pub use plan::Action;
pub use policy::{CacheMatch, Policy, PolicyKeys, Profile, ToolRule};
pub use prices::Family;
pub use report::{Dropped, Report, Summarised};
pub use state::State;
pub use transcript::{Transcript, transcript};
pub use window::{Compacted, Overflow, Window, compact};
