//! `attack`: campaigns of hostile and careless input against the built program.

mod mcp_lines;

const HELP: &str = "\
usage: cargo xtask attack CAMPAIGN [ARGS]

  mcp-lines [--lines N] [--seed N] [--heirloom PATH]
                                   malformed requests on standard input of `heirloom mcp`: each gets an answer
";

/// Runs a campaign; the error is the message for the developer.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    match args.split_first() {
        Some((name, rest)) if name == "mcp-lines" => mcp_lines::run(rest),
        None => {
            print!("{HELP}");
            Ok(())
        }
        Some((name, _)) if name == "--help" || name == "-h" => {
            print!("{HELP}");
            Ok(())
        }
        Some((name, _)) => Err(format!("no campaign `{name}`\n{HELP}")),
    }
}
