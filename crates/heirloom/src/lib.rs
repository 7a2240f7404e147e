//! The command line of Heirloom as a library, and parsers of untrusted input for the fuzz targets.
//!
//! Starts no runtime, no logger and no tokenizer: a command is a few calls of the engine.

mod acting_agent;
mod background_work;
mod cli;
mod command_help;
mod commands;
mod config;
mod embedder;
mod engine_provider;
mod export_format;
pub mod fuzz_entry_points;
mod health_checks;
mod hook_installation;
mod json_output;
mod language_model_setup;
mod local_setup;
mod logging;
mod migration_progress;
mod openai_tokens;
mod pending_proposals;
pub mod plan_memory;
mod platform;
mod receipt_table;
mod session_folders;
mod shared_options;
mod store_access;
mod terminal_output;

use clap::CommandFactory;
use std::ffi::OsString;
use std::process::ExitCode;
use terminal_output::terminal_features::TerminalFeatures;

/// Size up to which freed blocks are kept by short processes, bytes.
const KEPT_BLOCK_BYTES: usize = 8 << 20;

/// Runs the command in the process's arguments and returns its exit code.
pub fn run() -> ExitCode {
    platform::report_file_size_limit();
    let args: Vec<_> = std::env::args_os().collect();
    let cli = match cli::parse(&args) {
        Ok(cli) => cli,
        Err(error) => return report_misuse(&error, &args),
    };
    if !matches!(cli.command, cli::Command::Serve(_) | cli::Command::Mcp(_)) {
        keep_freed_memory();
    }
    let mut session = store_access::CliSession::new(&cli.global, cli::Cli::command);
    let code = match cli::run(cli.command, &mut session) {
        Ok(code) => code,
        Err(fault) => {
            session.out.fault(&fault);
            fault.kind.exit_code()
        }
    };
    ExitCode::from(session.out.exit_code(code))
}

/// Prints help or a usage error and returns its exit code.
fn report_misuse(error: &clap::Error, args: &[OsString]) -> ExitCode {
    let env = config::Environment::read();
    let features = TerminalFeatures::detect(|name| env.get(name));
    let unknown_command = cli::describe_unknown_command(error, args);
    let code = terminal_output::report_misuse(error, unknown_command.as_ref(), features);
    ExitCode::from(code)
}

/// Makes the allocator keep freed blocks for the rest of the process instead of returning their pages to the system, of
/// which a short process would touch new ones soon after. glibc raises its mmap and trim thresholds to the size of the
/// largest freed mapping; other allocators are not affected. The block itself is never touched.
fn keep_freed_memory() {
    drop(std::hint::black_box(Vec::<u8>::with_capacity(
        KEPT_BLOCK_BYTES,
    )));
}
