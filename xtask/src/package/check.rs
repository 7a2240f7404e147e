//! Installs each package in an empty environment, uses it, and removes it again.

mod agent_session;
mod deb_check;
mod environment;
mod install_outcome;
mod npm_check;
mod record;
mod tar_check;
mod tools;
mod wheel_check;

use super::options::Options;
use super::release::Release;
use super::target::Kind;
use install_outcome::InstallOutcome;
use std::path::{Path, PathBuf};
use tools::Tools;

/// Longest time from nothing to the first remembered fact.
const FIRST_FACT_S_MAX: f64 = 60.0;
/// Most commands until then.
const COMMANDS_MAX: usize = 3;

/// Packages, tools and folders of a check.
struct Context<'a> {
    /// The release that is checked.
    release: &'a Release,
    /// Folder of the packages.
    packages: &'a Path,
    /// Folder in which environments are made.
    work: &'a Path,
    /// Registries and their clients.
    tools: &'a Tools,
}

impl Context<'_> {
    /// Returns the package whose name begins and ends with these texts.
    fn package(&self, start: &str, end: &str) -> Result<PathBuf, String> {
        let names = crate::sandbox::file_names(self.packages);
        let name = names
            .iter()
            .find(|name| name.starts_with(start) && name.ends_with(end))
            .ok_or_else(|| format!("{} has no {start}*{end}", self.packages.display()))?;
        Ok(self.packages.join(name))
    }
}

/// Checks the packages of the wanted forms and prints one row for each way to install them.
pub(super) fn run(
    release: &Release,
    packages: &Path,
    work: &Path,
    options: &Options,
) -> Result<(), String> {
    let tools = Tools::ensure(&options.kinds)?;
    let context = Context {
        release,
        packages,
        work,
        tools: &tools,
    };
    tools.validate_components(packages)?;
    let mut outcomes = Vec::new();
    for kind in &options.kinds {
        match kind {
            Kind::Deb => outcomes.push(deb_check::run(&context)),
            Kind::Npm => outcomes.extend(npm_check::run(&context)?),
            Kind::Wheel => outcomes.extend(wheel_check::run(&context)?),
            Kind::Tar => outcomes.push(tar_check::run(&context)),
        }
    }
    print!("{}", install_outcome::table(&outcomes));
    let failures: Vec<String> = outcomes.iter().filter_map(failure).collect();
    if !failures.is_empty() {
        return Err(failures.join("\n"));
    }
    match options.record {
        true => record::write(&outcomes),
        false => Ok(()),
    }
}

/// Describes what failed, or which limit was exceeded.
fn failure(outcome: &InstallOutcome) -> Option<String> {
    let name = outcome.name;
    let times = match &outcome.result {
        Ok(times) => times,
        Err(error) => return Some(format!("{name}: {error}")),
    };
    if times.total_s() > FIRST_FACT_S_MAX {
        return Some(format!(
            "{name}: {:.1} s to the first fact, the limit is {FIRST_FACT_S_MAX:.0} s",
            times.total_s()
        ));
    }
    (outcome.commands.len() > COMMANDS_MAX).then(|| {
        format!(
            "{name}: {} commands to the first fact, the limit is {COMMANDS_MAX}",
            outcome.commands.len()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use install_outcome::InstallTimes;

    fn outcome(install_s: f64, commands: usize) -> InstallOutcome {
        InstallOutcome {
            name: "npm",
            commands: vec!["true"; commands],
            size_mb: 1.0,
            result: Ok(InstallTimes {
                install_s,
                use_s: 1.0,
            }),
        }
    }

    #[test]
    fn limits_of_time_and_commands_are_enforced() {
        assert_eq!(failure(&outcome(59.0, 3)), None);
        assert!(failure(&outcome(59.1, 3)).is_some());
        assert!(failure(&outcome(1.0, 4)).is_some());
    }
}
