//! Symbolic links in place of the files that hooks write, as a clone may contain them: nothing is written through
//! them.
#![expect(clippy::disallowed_methods, reason = "links as a clone contains them")]

use crate::hooks::{call_raw, event};
use crate::project::Project;
use heirloom_agents::AgentProgram;
use serde_json::json;
use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Returns everything below a folder, with its bytes.
fn tree(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.is_symlink() {
                folders.push(path.clone());
            }
            found.insert(path.clone(), std::fs::read(&path).unwrap_or_default());
        }
    }
    found
}

/// Calls every event of every agent program, also with unreadable input.
fn call_all(project: &Project) {
    let more = json!({
        "source": "startup", "prompt": "mend the login", "tool_name": "Bash",
        "tool_input": {"command": "make"}, "error": "no rule", "agent_id": "a7",
        "last_assistant_message": "HEIRLOOM_MEMORY: KEY_FACT heard",
    });
    for host in AgentProgram::with_hooks() {
        for hook_spec in host.hook_specs() {
            call_raw(
                project,
                host.as_str(),
                hook_spec.event,
                &event(project, "s", more.clone()),
            );
            call_raw(project, host.as_str(), hook_spec.event, b"nonsense");
        }
    }
}

/// Returns the names of all files that hooks write.
fn hook_file_names() -> Vec<String> {
    let project = Project::new();
    call_all(&project);
    let folder = project.file(".heirloom");
    let found = tree(&folder);
    let names = found.keys().map(|path| path.strip_prefix(&folder).unwrap());
    let mut names: Vec<String> = names
        .map(|name| name.to_str().unwrap().to_owned())
        .filter(|name| name.starts_with("hooks"))
        .collect();
    names.extend(["hooks/calls.1", "hooks.log.1"].map(str::to_owned));
    names
}

#[test]
fn links_in_place_of_hook_files_are_not_written_through() {
    let hook_file_names = hook_file_names();
    for expected in ["hooks", "hooks/calls", "hooks.log"] {
        assert!(
            hook_file_names.iter().any(|name| name == expected),
            "{hook_file_names:?}"
        );
    }
    for ending in [".json", ".lock"] {
        assert!(
            hook_file_names.iter().any(|name| name.ends_with(ending)),
            "{hook_file_names:?}"
        );
    }
    for name in &hook_file_names {
        let project = Project::new();
        let outside = project.home.path().join("outside");
        std::fs::create_dir(&outside).unwrap();
        std::fs::write(outside.join("mine"), "kept\n").unwrap();
        let target = match name.as_str() {
            "hooks" => outside.clone(),
            _ => outside.join("mine"),
        };
        let link = project.file(".heirloom").join(name);
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(&target, &link).unwrap();
        let before = tree(&outside);
        call_all(&project);
        assert_eq!(tree(&outside), before, "{name}");
        // A dangling link must not create its target.
        std::fs::remove_file(&link).ok();
        symlink(outside.join("new"), &link).unwrap();
        call_all(&project);
        assert_eq!(tree(&outside), before, "{name}, dangling");
    }
}

#[test]
fn memory_folder_linked_outside_is_not_written_by_hooks() {
    let project = Project::new();
    let outside = project.home.path().join("outside");
    std::fs::rename(project.file(".heirloom"), &outside).unwrap();
    symlink(&outside, project.file(".heirloom")).unwrap();
    let before = tree(&outside);
    call_all(&project);
    assert_eq!(tree(&outside), before);
    // A link that stays in the project is followed.
    std::fs::remove_file(project.file(".heirloom")).unwrap();
    std::fs::rename(&outside, project.file("memory")).unwrap();
    symlink("memory", project.file(".heirloom")).unwrap();
    call_all(&project);
    assert!(project.file("memory/hooks/calls").is_file());
}
