//! The dependencies that a `Cargo.toml` names.

/// A dependency of ours and the line that names it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Dependency {
    pub(super) name: String,
    pub(super) line: usize,
}

/// Our crates among `[dependencies]`, also those for one target and under another name.
///
/// Dependencies of tests and build scripts are free: they are not in what is shipped.
pub(super) fn ours(manifest: &str) -> Vec<Dependency> {
    let mut found = Vec::new();
    let mut section = String::new();
    for (at, line) in manifest.lines().enumerate() {
        let line = line.split('#').next().unwrap_or(line).trim();
        let name = if let Some(header) = line.strip_prefix('[') {
            header.trim_end_matches(']').clone_into(&mut section);
            own_table(&section)
        } else if is_dependencies(&section) {
            // `name = …`, `name.workspace = true`, `alias = { package = "name" }`
            renamed(line).or_else(|| line.split(['=', '.', ' ']).next())
        } else if own_table(&section).is_some() {
            renamed(line)
        } else {
            None
        };
        if let Some(name) = name.map(|name| name.trim_matches('"'))
            && name.starts_with("heirloom-")
        {
            found.push(Dependency {
                name: name.to_owned(),
                line: at + 1,
            });
        }
    }
    found
}

fn is_dependencies(section: &str) -> bool {
    section == "dependencies"
        || (section.starts_with("target.") && section.ends_with(".dependencies"))
}

/// The name in `[dependencies.name]`.
fn own_table(section: &str) -> Option<&str> {
    let (before, name) = section.rsplit_once('.')?;
    is_dependencies(before).then_some(name)
}

/// The name in `package = "name"`.
fn renamed(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("package")?;
    let rest = rest.trim_start().strip_prefix('=')?;
    rest.split('"').nth(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependency_is_found_in_each_manifest_syntax() {
        let manifest = "\
[package]
name = \"heirloom-engine\"
[dependencies]
heirloom-a.workspace = true
heirloom-b = { path = \"../b\" }
other = { package = \"heirloom-c\", path = \"../c\" }
serde = \"1\" # heirloom-no
[dependencies.heirloom-d]
path = \"../d\"
[dependencies.alias]
package = \"heirloom-e\"
[target.'cfg(unix)'.dependencies]
heirloom-f = \"1\"
[dev-dependencies]
heirloom-no = \"1\"
[features]
heirloom-no = []
";
        let names: Vec<(String, usize)> = ours(manifest)
            .into_iter()
            .map(|dependency| (dependency.name, dependency.line))
            .collect();
        let expected = [("a", 4), ("b", 5), ("c", 6), ("d", 8), ("e", 11), ("f", 13)];
        assert_eq!(
            names,
            expected.map(|(name, line)| (format!("heirloom-{name}"), line))
        );
    }
}
