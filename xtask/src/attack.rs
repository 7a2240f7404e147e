//! Campaigns that attack the program with generated input, and measure what holds.

mod secrets;

pub(crate) fn run(args: &[String]) -> Result<(), String> {
    match args.split_first() {
        Some((campaign, rest)) if campaign == "secrets" => secrets::run(rest),
        _ => Err("usage: cargo xtask attack secrets [--seeds N] [--text FOLDER]".to_owned()),
    }
}
