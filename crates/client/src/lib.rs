//! Client of [Heirloom](https://github.com/heirloom-dev/heirloom), memory and context for coding agents, over the HTTP API.
//!
//! It is blocking and typed, and depends on `ureq` and `serde` only, not on the other crates of Heirloom.
//!
//! ```no_run
//! use heirloom_client::{ContextQuery, Memory, NewKnowledge, RecallQuery};
//!
//! # fn main() -> Result<(), heirloom_client::Error> {
//! let memory = Memory::new()?; // HEIRLOOM_URL, else http://127.0.0.1:7717, and HEIRLOOM_TOKEN
//! memory.remember("Staging is read-only on Fridays")?;
//! memory.remember(NewKnowledge::new("four spaces").category("convention").key("indent"))?;
//! for hit in memory.recall(RecallQuery::new("may I deploy to staging today?").k(3))? {
//!     println!("{:?} {}", hit.relevance, hit.text);
//! }
//! memory.task("42").agent("coder").approach("mock the clock").run(|task| {
//!     let prompt = task.context(&ContextQuery::new().budget_tokens(2000))?.to_string();
//!     task.step("Wrote the failing test")?;
//!     Ok::<_, heirloom_client::Error>(prompt)
//! })?;
//! # Ok(())
//! # }
//! ```
//!
//! # Errors and retries
//!
//! All methods return [`Error`]: [`Error::Api`] for an answer of the server with an error, which has a detail and a hint,
//! [`Error::Connection`] without an answer.
//!
//! Requests are repeated after a broken connection and after 408, 429 and 503, as [`RetryPolicy`] describes. Each write has
//! an idempotency key, so a repetition has no second effect. The server keeps the keys in memory: if it is restarted
//! between the attempts, an episode, a note or a turn can be stored twice.

mod answers;
#[cfg(test)]
mod api_description_tests;
mod errors;
mod event_stream;
mod local_server;
mod memory;
mod operations;
mod pages;
mod request_bodies;
mod requests;
mod retry;
mod server_sent_events;
mod session;
mod settings;
mod task;
mod transport;
#[cfg(test)]
mod transport_tests;
mod workspace;

pub use answers::*;
pub use errors::{ApiError, Error, ErrorKind};
pub use event_stream::{Event, Events};
pub use local_server::{LocalServer, RunningServer};
pub use memory::{Memory, MemoryBuilder};
pub use pages::Items;
pub use requests::{
    CompactRequest, ContextQuery, EntryType, EpisodeAction, Mark, MessageFormat, MessageRole,
    NewEntry, NewEpisode, NewError, NewKnowledge, NewMessage, NewNote, RecallQuery, RecordFilter,
    TaskState,
};
pub use retry::RetryPolicy;
pub use session::SessionHandle;
pub use task::{Task, TaskBuilder};
pub use workspace::Workspace;

/// The examples of the README, which are compiled with those of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
