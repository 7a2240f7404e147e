//! `heirloom`: memory and context for coding agents, at the terminal.

use std::process::ExitCode;

fn main() -> ExitCode {
    heirloom::run()
}
