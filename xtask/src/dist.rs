//! `dist`: builds the shipped binary and checks its size.

use crate::cargo;

/// Maximum size of the shipped binary: its two embedding models have 31.6 MB of it, and the names of functions 4.6 MB.
const BINARY_BYTES_MAX: u64 = 68_000_000;

/// Builds the shipped binary, prints its size and fails above the limit.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    if let Some(arg) = args.first() {
        return Err(format!("takes no arguments, got `{arg}`"));
    }
    let binary = cargo::build_dist(&["heirloom"])?.join(cargo::exe("heirloom"));
    let size_bytes = std::fs::metadata(&binary)
        .map_err(|error| format!("cannot read {}: {error}", binary.display()))?
        .len();
    println!("{}: {}", binary.display(), in_mb(size_bytes));
    within(size_bytes, BINARY_BYTES_MAX)
}

fn within(size_bytes: u64, size_bytes_max: u64) -> Result<(), String> {
    if size_bytes <= size_bytes_max {
        return Ok(());
    }
    Err(format!(
        "the binary has {}, the limit is {}: find what grew (`cargo bloat`), or raise the limit with a reason",
        in_mb(size_bytes),
        in_mb(size_bytes_max)
    ))
}

/// Millions of bytes with two decimals, rounded down.
fn in_mb(size_bytes: u64) -> String {
    let hundredths = size_bytes / 10_000;
    format!("{}.{:02} MB", hundredths / 100, hundredths % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binary_at_limit_passes_and_one_byte_more_fails() {
        assert!(within(20_000_000, 20_000_000).is_ok());
        let error = within(20_000_001, 20_000_000).unwrap_err();
        assert!(error.contains("the limit is 20.00 MB"), "{error}");
    }

    #[test]
    fn size_is_printed_in_megabytes() {
        assert_eq!(in_mb(12_345_678), "12.34 MB");
        assert_eq!(in_mb(90_000), "0.09 MB");
    }
}
