//! The command line of Heirloom, as a library: what the program does, and the readers of foreign bytes for
//! the fuzz targets.
//!
//! Starts no runtime, no logger and no tokenizer: a command is a few calls of the engine.

mod allocator;
mod cli;
mod commands;
mod config;
mod embedder;
mod exact;
mod installing;
mod log;
mod open;
mod options;
mod output;
pub mod plan_memory;
mod proposals;
pub mod readers;
mod serving;
mod trust;
mod upgrade;
mod wire;
mod writer;

use clap::CommandFactory;
use signal_hook::consts::SIGXFSZ;
use std::process::ExitCode;
use std::sync::Arc;

/// Does what the process's arguments say; its exit code.
pub fn run() -> ExitCode {
    // A file that may not grow shall be an error with words, as a full disk is, and not a sudden death.
    // Nothing waits for the flag; without the handler the system would end the program.
    let _default = signal_hook::flag::register(SIGXFSZ, Arc::default());
    let cli = match cli::parse(&std::env::args_os().collect::<Vec<_>>()) {
        Ok(cli) => cli,
        Err(error) => return ExitCode::from(output::misuse(&error)),
    };
    let mut session = open::Session::begin(&cli.global, cli::Cli::command);
    let code = match cli::run(cli.command, &mut session) {
        Ok(code) => code,
        Err(fault) => {
            session.out.fault(&fault);
            fault.kind.exit_code()
        }
    };
    ExitCode::from(session.out.exit_code(code))
}
