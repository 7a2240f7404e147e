//! Results of the checks, and their table.

/// Measured times of one way to install.
#[derive(Debug, Clone, Copy)]
pub(super) struct InstallTimes {
    /// Time of the installation.
    pub(super) install_s: f64,
    /// Time of the commands after it, until the first fact is remembered.
    pub(super) use_s: f64,
}

impl InstallTimes {
    /// Time from nothing to the first remembered fact.
    pub(super) fn total_s(self) -> f64 {
        self.install_s + self.use_s
    }
}

/// Result of one way to install.
#[derive(Debug)]
pub(super) struct InstallOutcome {
    /// Name of the installer.
    pub(super) name: &'static str,
    /// Commands until the first fact is remembered.
    pub(super) commands: Vec<&'static str>,
    /// Size of what is downloaded.
    pub(super) size_mb: f64,
    /// InstallTimes, or the first check that failed.
    pub(super) result: Result<InstallTimes, String>,
}

/// Returns the results as a table of Markdown.
pub(super) fn table(outcomes: &[InstallOutcome]) -> String {
    let mut text =
        "| By | Commands to the first fact | Download | Installation | To the first fact |\n\
                    |---|---|---|---|---|\n"
            .to_owned();
    for outcome in outcomes {
        let commands: Vec<String> = outcome
            .commands
            .iter()
            .map(|command| format!("`{command}`"))
            .collect();
        let times = match &outcome.result {
            Ok(times) => format!("{:.1} s | {:.1} s", times.install_s, times.total_s()),
            Err(_) => "failed | failed".to_owned(),
        };
        text.push_str(&format!(
            "| {} | {} | {:.1} MB | {times} |\n",
            outcome.name,
            commands.join(", "),
            outcome.size_mb
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_has_one_row_for_each_outcome() {
        let outcome = |result| InstallOutcome {
            name: "pip",
            commands: vec!["pip install heirloom", "heirloom init"],
            size_mb: 20.04,
            result,
        };
        let times = InstallTimes {
            install_s: 1.25,
            use_s: 0.5,
        };
        let text = table(&[outcome(Ok(times)), outcome(Err("broken".to_owned()))]);
        let rows: Vec<&str> = text.lines().skip(2).collect();
        let commands = "`pip install heirloom`, `heirloom init`";
        assert_eq!(
            rows[0],
            format!("| pip | {commands} | 20.0 MB | 1.2 s | 1.8 s |")
        );
        assert!(rows[1].ends_with("| failed | failed |"), "{}", rows[1]);
    }
}
