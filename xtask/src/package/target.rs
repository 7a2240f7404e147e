//! Targets of a release, and the packages that each of them gets.

/// Form of a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Package of Debian and its derivatives.
    Deb,
    /// Packages of npm.
    Npm,
    /// Wheel of PyPI.
    Wheel,
    /// Compressed archive with an install script.
    Tar,
}

impl Kind {
    /// All forms, in the order of the output.
    pub(super) const ALL: [Self; 4] = [Self::Deb, Self::Npm, Self::Wheel, Self::Tar];

    /// Name at the command line.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Deb => "deb",
            Self::Npm => "npm",
            Self::Wheel => "wheel",
            Self::Tar => "tar",
        }
    }

    /// Returns the form with this name.
    pub(super) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Platform names of npm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NpmPlatform {
    /// `process.platform` of Node.js.
    pub(super) os: &'static str,
    /// `process.arch` of Node.js.
    pub(super) cpu: &'static str,
}

impl NpmPlatform {
    /// Returns the name of the package with the binary, without its scope.
    pub(super) fn name(self) -> String {
        format!("{}-{}", self.os, self.cpu)
    }
}

/// One target of the compiler.
#[derive(Debug)]
pub(super) struct Target {
    /// Name in the compiler.
    pub(super) triple: &'static str,
    /// Packages that contain a binary of this target.
    pub(super) kinds: &'static [Kind],
    /// Architecture in Debian.
    pub(super) deb_architecture: &'static str,
    /// Platform in npm.
    pub(super) npm: Option<NpmPlatform>,
    /// Platform tags of a wheel. A static binary runs with every C library, so it has tags of both.
    pub(super) wheel_tags: &'static [&'static str],
}

impl Target {
    /// Name of the executable file.
    pub(super) fn executable(&self) -> &'static str {
        match self.triple.contains("windows") {
            true => "heirloom.exe",
            false => "heirloom",
        }
    }

    /// True if the binary is linked statically with musl.
    pub(super) fn is_musl(&self) -> bool {
        self.triple.ends_with("-musl")
    }

    /// Returns the target with this name.
    pub(super) fn find(triple: &str) -> Option<&'static Self> {
        TARGETS.iter().find(|target| target.triple == triple)
    }

    /// Returns the targets that a machine builds without other options: those of its own system and processor.
    pub(super) fn of_this_machine() -> Vec<&'static Self> {
        let (os, cpu) = (std::env::consts::OS, std::env::consts::ARCH);
        let system = match os {
            "macos" => "apple-darwin",
            "windows" => "pc-windows-msvc",
            other => other,
        };
        TARGETS
            .iter()
            .filter(|target| target.triple.starts_with(cpu) && target.triple.contains(system))
            .collect()
    }
}

/// Packages of a static or self-contained binary.
const PORTABLE: &[Kind] = &[Kind::Npm, Kind::Wheel, Kind::Tar];

/// All targets. Debian's package has the dynamic binary: its allocator is faster, and Debian updates the C library.
pub(super) const TARGETS: [Target; 7] = [
    Target {
        triple: "x86_64-unknown-linux-gnu",
        kinds: &[Kind::Deb],
        deb_architecture: "amd64",
        npm: None,
        wheel_tags: &[],
    },
    Target {
        triple: "aarch64-unknown-linux-gnu",
        kinds: &[Kind::Deb],
        deb_architecture: "arm64",
        npm: None,
        wheel_tags: &[],
    },
    Target {
        triple: "x86_64-unknown-linux-musl",
        kinds: PORTABLE,
        deb_architecture: "amd64",
        npm: npm("linux", "x64"),
        wheel_tags: &[
            "manylinux_2_17_x86_64",
            "manylinux2014_x86_64",
            "musllinux_1_1_x86_64",
        ],
    },
    Target {
        triple: "aarch64-unknown-linux-musl",
        kinds: PORTABLE,
        deb_architecture: "arm64",
        npm: npm("linux", "arm64"),
        wheel_tags: &[
            "manylinux_2_17_aarch64",
            "manylinux2014_aarch64",
            "musllinux_1_1_aarch64",
        ],
    },
    Target {
        triple: "x86_64-apple-darwin",
        kinds: PORTABLE,
        deb_architecture: "",
        npm: npm("darwin", "x64"),
        wheel_tags: &["macosx_10_12_x86_64"],
    },
    Target {
        triple: "aarch64-apple-darwin",
        kinds: PORTABLE,
        deb_architecture: "",
        npm: npm("darwin", "arm64"),
        wheel_tags: &["macosx_11_0_arm64"],
    },
    Target {
        triple: "x86_64-pc-windows-msvc",
        kinds: PORTABLE,
        deb_architecture: "",
        npm: npm("win32", "x64"),
        wheel_tags: &["win_amd64"],
    },
];

const fn npm(os: &'static str, cpu: &'static str) -> Option<NpmPlatform> {
    Some(NpmPlatform { os, cpu })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_has_the_names_that_its_packages_need() {
        for target in &TARGETS {
            let has = |kind| target.kinds.contains(&kind);
            assert_eq!(has(Kind::Deb), target.triple.ends_with("-gnu"));
            assert_eq!(has(Kind::Npm), target.npm.is_some(), "{}", target.triple);
            assert_eq!(has(Kind::Wheel), !target.wheel_tags.is_empty());
            assert!(!has(Kind::Deb) || !target.deb_architecture.is_empty());
        }
    }

    #[test]
    fn this_machine_builds_a_target_of_each_form() {
        let targets = Target::of_this_machine();
        assert!(!targets.is_empty());
        if cfg!(target_os = "linux") {
            let kinds: Vec<Kind> = targets
                .iter()
                .flat_map(|target| target.kinds)
                .copied()
                .collect();
            assert!(
                Kind::ALL.iter().all(|kind| kinds.contains(kind)),
                "{kinds:?}"
            );
        }
    }
}
