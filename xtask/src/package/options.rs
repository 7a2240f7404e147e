//! Command line of `package`.

use super::target::{Kind, TARGETS, Target};
use std::path::PathBuf;

pub(super) const HELP: &str = "\
usage: cargo xtask package [OPTIONS]

Makes the packages of this machine's targets in target/package, with SHA256SUMS and a list of components
(CycloneDX) for each target.

  --only KIND,…         only these packages: deb, npm, wheel, tar
  --target TRIPLE       only this target; may be repeated
  --binary PATH         this binary instead of a build; belongs to the --target before it
  --out DIR             this folder instead of target/package
  --check-reproducible  make the packages twice and compare their bytes
  --check               install each package in an empty environment and use it (Linux, as root)
  --existing            with --check: make nothing, check what is in the folder
  --record              with --check: write the measured times to docs/install.md
";

/// Parsed command line.
#[derive(Debug)]
pub(super) enum Request {
    /// Print the help.
    Help,
    /// Make packages.
    Package(Options),
}

/// Options of a run.
#[derive(Debug, Default)]
pub(super) struct Options {
    /// Forms of packages to make.
    pub(super) kinds: Vec<Kind>,
    /// Targets, with a binary for those that are not to be built.
    pub(super) targets: Vec<(&'static Target, Option<PathBuf>)>,
    /// Folder of the packages.
    pub(super) out: Option<PathBuf>,
    /// Make the packages twice and compare them.
    pub(super) check_reproducible: bool,
    /// Install the packages.
    pub(super) check: bool,
    /// Make no packages.
    pub(super) existing: bool,
    /// Write the measured times to the document.
    pub(super) record: bool,
}

/// Parses the arguments; the error names the wrong one.
pub(super) fn parse(args: &[String]) -> Result<Request, String> {
    let mut options = Options::default();
    let mut words = args.iter();
    while let Some(word) = words.next() {
        let mut value = || {
            let value = words.next();
            value.ok_or_else(|| format!("{word} needs a value\n{HELP}"))
        };
        match word.as_str() {
            "--help" | "-h" => return Ok(Request::Help),
            "--only" => options.kinds = parse_kinds(value()?)?,
            "--target" => options.targets.push((parse_target(value()?)?, None)),
            "--binary" => {
                let path = value()?;
                let binary = PathBuf::from(path)
                    .canonicalize()
                    .map_err(|error| format!("--binary {path}: {error}"))?;
                let Some((_, slot)) = options.targets.last_mut() else {
                    return Err("--binary needs the --target of the binary before it".to_owned());
                };
                *slot = Some(binary);
            }
            "--out" => options.out = Some(absolute(value()?)?),
            "--check-reproducible" => options.check_reproducible = true,
            "--check" => options.check = true,
            "--existing" => options.existing = true,
            "--record" => options.record = true,
            other => return Err(format!("what is `{other}`?\n{HELP}")),
        }
    }
    if options.record && !options.check {
        return Err("--record needs --check, which measures the times".to_owned());
    }
    if options.existing && (!options.check || options.check_reproducible) {
        return Err("--existing makes nothing: it needs --check alone".to_owned());
    }
    if options.kinds.is_empty() {
        options.kinds = Kind::ALL.to_vec();
    }
    if options.targets.is_empty() {
        // A target without a wanted package is not built.
        options.targets = Target::of_this_machine()
            .into_iter()
            .filter(|target| target.kinds.iter().any(|kind| options.kinds.contains(kind)))
            .map(|target| (target, None))
            .collect();
    }
    Ok(Request::Package(options))
}

fn absolute(path: &str) -> Result<PathBuf, String> {
    std::path::absolute(path).map_err(|error| format!("{path}: {error}"))
}

fn parse_kinds(list: &str) -> Result<Vec<Kind>, String> {
    list.split(',')
        .map(|name| {
            Kind::parse(name)
                .ok_or_else(|| format!("no package `{name}`: the names are deb, npm, wheel, tar"))
        })
        .collect()
}

fn parse_target(triple: &str) -> Result<&'static Target, String> {
    Target::find(triple).ok_or_else(|| {
        let names: Vec<&str> = TARGETS.iter().map(|target| target.triple).collect();
        format!("no target `{triple}`: the targets are {}", names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_words(words: &str) -> Result<Request, String> {
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        parse(&words)
    }

    #[test]
    fn only_builds_the_targets_that_have_a_wanted_package() {
        let Ok(Request::Package(options)) = parse_words("--only deb") else {
            panic!("no options");
        };
        assert_eq!(options.kinds, [Kind::Deb]);
        assert!(
            options
                .targets
                .iter()
                .all(|(target, _)| target.kinds.contains(&Kind::Deb))
        );
    }

    #[test]
    fn binary_belongs_to_the_target_before_it() {
        let line =
            "--target x86_64-unknown-linux-musl --binary /dev/null --target aarch64-apple-darwin";
        let Ok(Request::Package(options)) = parse_words(line) else {
            panic!("no options");
        };
        let binaries: Vec<bool> = options
            .targets
            .iter()
            .map(|(_, path)| path.is_some())
            .collect();
        assert_eq!(binaries, [true, false]);
        let error = parse_words("--binary /dev/null").unwrap_err();
        assert!(error.contains("needs the --target"), "{error}");
    }

    #[test]
    fn unknown_names_are_reported() {
        assert!(parse_words("--only rpm").unwrap_err().contains("`rpm`"));
        assert!(
            parse_words("--target sparc")
                .unwrap_err()
                .contains("`sparc`")
        );
        assert!(parse_words("--fast").unwrap_err().contains("`--fast`"));
        assert!(parse_words("--record").unwrap_err().contains("--check"));
        assert!(parse_words("--existing").unwrap_err().contains("--check"));
    }
}
