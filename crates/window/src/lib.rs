//! Long conversations inside a model's window: messages in, messages out.
//!
//! Pure and deterministic: the same history and policy give the same bytes, in every process. It
//! reads no file and no clock; what is shortened or dropped comes back in full, for the caller to keep.

pub mod conversation;
pub mod digest;
mod form;
pub mod message;
mod own;
pub mod policy;
pub mod size;

pub use conversation::{Conversation, Refusal};
pub use message::{Call, Form, Message, Output, Own, Part, Role};
