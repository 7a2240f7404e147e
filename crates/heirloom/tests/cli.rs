//! Command-line tests with the real binary, real files, exit codes and bytes.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests: what cannot be done fails the test"
)]

#[path = "cli/acting_agent.rs"]
mod acting_agent;
#[path = "cli/agent_settings.rs"]
mod agent_settings;
#[path = "cli/analytics.rs"]
mod analytics;
#[path = "support/answer_validation.rs"]
mod answer_validation;
#[path = "cli/artifacts.rs"]
mod artifacts;
#[path = "cli/backup.rs"]
mod backup;
#[path = "cli/bad_input.rs"]
mod bad_input;
#[path = "cli/boundaries.rs"]
mod boundaries;
#[path = "cli/cmd.rs"]
mod cmd;
#[path = "cli/command_line.rs"]
mod command_line;
#[path = "cli/concurrent_indexing.rs"]
mod concurrent_indexing;
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
#[path = "cli/echo_suppression.rs"]
mod echo_suppression;
#[path = "cli/envelope_signals.rs"]
mod envelope_signals;
#[path = "cli/episodes.rs"]
mod episodes;
#[path = "cli/errors.rs"]
mod errors;
#[path = "cli/extreme_input.rs"]
mod extreme_input;
#[path = "cli/groups.rs"]
mod groups;
#[path = "cli/help_texts.rs"]
mod help_texts;
#[path = "cli/history.rs"]
mod history;
#[path = "cli/hook_commands.rs"]
mod hook_commands;
#[path = "cli/hook_links.rs"]
mod hook_links;
#[path = "cli/hook_texts.rs"]
mod hook_texts;
#[path = "cli/hooks.rs"]
mod hooks;
#[path = "cli/identity.rs"]
mod identity;
#[path = "cli/import_memories.rs"]
mod import_memories;
#[path = "cli/import_offers.rs"]
mod import_offers;
#[path = "cli/import_shared.rs"]
mod import_shared;
#[path = "cli/install.rs"]
mod install;
#[path = "cli/learn.rs"]
mod learn;
#[path = "cli/limits.rs"]
mod limits;
#[path = "cli/mcp.rs"]
mod mcp;
#[path = "cli/mcp_http.rs"]
mod mcp_http;
#[path = "cli/mirror_additions.rs"]
mod mirror_additions;
#[path = "cli/opencode_plugin.rs"]
mod opencode_plugin;
#[path = "cli/orchestrator.rs"]
mod orchestrator;
#[path = "cli/outputs.rs"]
mod outputs;
#[path = "cli/pending_files.rs"]
mod pending_files;
#[path = "cli/permissions.rs"]
mod permissions;
#[path = "cli/placements.rs"]
mod placements;
#[path = "cli/printed_texts.rs"]
mod printed_texts;
#[path = "cli/project.rs"]
mod project;
#[path = "cli/project_location.rs"]
mod project_location;
#[path = "cli/purge.rs"]
mod purge;
#[path = "cli/recall.rs"]
mod recall;
#[path = "cli/recorded_folders.rs"]
mod recorded_folders;
#[path = "cli/redact.rs"]
mod redact;
#[path = "cli/relevance.rs"]
mod relevance;
#[path = "cli/remember.rs"]
mod remember;
#[path = "cli/round_trip.rs"]
mod round_trip;
#[path = "cli/session_archive.rs"]
mod session_archive;
#[path = "cli/settings_files.rs"]
mod settings_files;
#[path = "cli/shared_behaviour.rs"]
mod shared_behaviour;
#[path = "cli/snapshot.rs"]
mod snapshot;
#[path = "cli/sources.rs"]
mod sources;
#[path = "cli/stdin.rs"]
mod stdin;
#[path = "cli/tasks.rs"]
mod tasks;
#[path = "cli/team.rs"]
mod team;
#[path = "cli/terminal.rs"]
mod terminal;
#[path = "cli/text_forms.rs"]
mod text_forms;
#[path = "cli/transcript_fixture.rs"]
mod transcript_fixture;
#[path = "cli/transcripts.rs"]
mod transcripts;
#[path = "cli/trust.rs"]
mod trust;
#[path = "cli/turn_authors.rs"]
mod turn_authors;
#[path = "cli/user_memory.rs"]
mod user_memory;
#[path = "cli/window.rs"]
mod window;
#[path = "cli/window_invalid_histories.rs"]
mod window_invalid_histories;
#[path = "cli/workspace.rs"]
mod workspace;
