//! The program as a script meets it: the real binary, real files, exit codes and bytes.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests: what cannot be done fails the test"
)]

#[path = "cli/analytics.rs"]
mod analytics;
#[path = "cli/archives.rs"]
mod archives;
#[path = "cli/artifacts.rs"]
mod artifacts;
#[path = "cli/backup.rs"]
mod backup;
#[path = "cli/bad_input.rs"]
mod bad_input;
#[path = "cli/bad_layers.rs"]
mod bad_layers;
#[path = "cli/basics.rs"]
mod basics;
#[path = "cli/carry.rs"]
mod carry;
#[path = "cli/cmd.rs"]
mod cmd;
#[path = "cli/config.rs"]
mod config;
#[path = "cli/conflicts.rs"]
mod conflicts;
#[path = "cli/context.rs"]
mod context;
#[path = "cli/directives.rs"]
mod directives;
#[path = "cli/doctor.rs"]
mod doctor;
#[path = "cli/echo.rs"]
mod echo;
#[path = "cli/episodes.rs"]
mod episodes;
#[path = "cli/errors.rs"]
mod errors;
#[path = "cli/groups.rs"]
mod groups;
#[path = "cli/hooks.rs"]
mod hooks;
#[path = "cli/index_crowd.rs"]
mod index_crowd;
#[path = "cli/install.rs"]
mod install;
#[path = "cli/limits.rs"]
mod limits;
#[path = "cli/mcp.rs"]
mod mcp;
#[path = "cli/mcp_more.rs"]
mod mcp_more;
#[path = "cli/offer.rs"]
mod offer;
#[path = "cli/orchestrator.rs"]
mod orchestrator;
#[path = "cli/outputs.rs"]
mod outputs;
#[path = "cli/own.rs"]
mod own;
#[path = "cli/past.rs"]
mod past;
#[path = "cli/permissions.rs"]
mod permissions;
#[path = "cli/places.rs"]
mod places;
#[path = "cli/project.rs"]
mod project;
#[path = "cli/purge.rs"]
mod purge;
#[path = "cli/recall.rs"]
mod recall;
#[path = "cli/redact.rs"]
mod redact;
#[path = "cli/remember.rs"]
mod remember;
#[path = "cli/shared.rs"]
mod shared;
#[path = "cli/sources.rs"]
mod sources;
#[path = "cli/stdin.rs"]
mod stdin;
#[path = "cli/talk.rs"]
mod talk;
#[path = "cli/tasks.rs"]
mod tasks;
#[path = "cli/team.rs"]
mod team;
#[path = "cli/transcripts.rs"]
mod transcripts;
#[path = "cli/window.rs"]
mod window;
#[path = "cli/window_bad.rs"]
mod window_bad;
#[path = "cli/workspace.rs"]
mod workspace;
