//! One module per command: its arguments, whose doc comments are the help text, and a function that runs it.
#![expect(
    clippy::needless_pass_by_value,
    reason = "every command takes its arguments in the same form"
)]

pub(crate) mod accept;
pub(crate) mod analytics;
pub(crate) mod artifact;
pub(crate) mod backup;
pub(crate) mod bench;
pub(crate) mod cmd;
pub(crate) mod compact;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod conflicts;
pub(crate) mod context;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod episode;
pub(crate) mod error;
pub(crate) mod expand;
pub(crate) mod export;
pub(crate) mod forget;
pub(crate) mod group;
pub(crate) mod history;
pub(crate) mod hook;
pub(crate) mod import;
pub(crate) mod init;
pub(crate) mod install;
pub(crate) mod learn;
pub(crate) mod list;
pub(crate) mod man;
pub(crate) mod mcp;
pub(crate) mod mute;
pub(crate) mod observe;
pub(crate) mod outcome;
pub(crate) mod output;
pub(crate) mod pin;
pub(crate) mod propose;
pub(crate) mod prune;
pub(crate) mod purge;
pub(crate) mod recall;
pub(crate) mod receipts;
pub(crate) mod redact;
pub(crate) mod reembed;
pub(crate) mod reject;
pub(crate) mod remember;
pub(crate) mod resolve;
pub(crate) mod restore;
pub(crate) mod review;
pub(crate) mod run;
pub(crate) mod serve;
pub(crate) mod session;
pub(crate) mod share;
pub(crate) mod show;
pub(crate) mod status;
pub(crate) mod step;
pub(crate) mod task;
pub(crate) mod token;
pub(crate) mod tried;
pub(crate) mod ui;
pub(crate) mod undo;
pub(crate) mod uninstall;
pub(crate) mod unshare;
pub(crate) mod useful;
pub(crate) mod watch;
pub(crate) mod workspace;
