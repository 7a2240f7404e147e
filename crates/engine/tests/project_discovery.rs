//! Tests of project discovery in real folders and git repositories.
#![expect(
    clippy::disallowed_methods,
    reason = "the files of a test are thrown away"
)]
#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

use heirloom_fs::project_fs::{
    PathProblem, find_project, git_root, new_project_paths, normalise_project_path, project_name,
    repository,
};
use heirloom_model::ProjectName;
use heirloom_model::limits::{GIT_FILE_BYTES_MAX, LINKS_MAX, PATH_BYTES_MAX};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

fn git(folder: &Path, args: &[&str]) {
    let who = ["-c", "user.name=t", "-c", "user.email=t@example.com"];
    let safe = ["-c", "protocol.file.allow=always"];
    let done = Command::new("git")
        .args(who)
        .args(safe)
        .args(args)
        .current_dir(folder)
        .output()
        .unwrap();
    let message = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "git {args:?}: {message}");
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn enable_memory(folder: &Path) {
    write(
        &folder.join(".heirloom/config.toml"),
        "[memory]\nenabled = true\n",
    );
}

/// A folder whose path has no symbolic link.
struct Folder {
    _kept: tempfile::TempDir,
    path: PathBuf,
}

fn folder() -> Folder {
    let retained = tempfile::tempdir().unwrap();
    let path = retained.path().canonicalize().unwrap();
    Folder {
        _kept: retained,
        path,
    }
}

fn init(at: &Path) {
    fs::create_dir_all(at).unwrap();
    git(at, &["init", "-q", "-b", "trunk"]);
    write(&at.join("a.txt"), "a");
    git(at, &["add", "a.txt"]);
    git(at, &["commit", "-qm", "first"]);
}

/// Returns the memory folder and root of the project around a folder.
fn place(start: &Path) -> Option<(PathBuf, PathBuf)> {
    find_project(start).map(|place| {
        assert!(place.config.is_file());
        (place.folder, place.root)
    })
}

#[test]
fn find_project_in_parent_folders() {
    let at = folder();
    let deep = at.path.join("a/b/c");
    fs::create_dir_all(&deep).unwrap();
    assert_eq!(place(&deep), None);
    // A folder without a config file enables nothing.
    fs::create_dir_all(at.path.join("a/b/.heirloom")).unwrap();
    assert_eq!(place(&deep), None);
    enable_memory(&at.path);
    assert_eq!(
        place(&deep),
        Some((at.path.join(".heirloom"), at.path.clone()))
    );
    enable_memory(&at.path.join("a"));
    let nearer = at.path.join("a");
    assert_eq!(place(&deep), Some((nearer.join(".heirloom"), nearer)));
    assert!(place(&deep.join("not/there/yet")).is_none_or(|(found, _)| found.is_dir()));
}

#[test]
fn find_project_linked_worktrees_share_memory() {
    let at = folder();
    let main = at.path.join("main");
    init(&main);
    let (beside, within) = (at.path.join("wt"), main.join("trees/wt"));
    git(&main, &["worktree", "add", "-q", "../wt"]);
    git(&main, &["worktree", "add", "-q", "-b", "two", "trees/wt"]);
    for tree in [&beside, &within] {
        let sub = tree.join("sub");
        fs::create_dir_all(&sub).unwrap();
        assert_eq!(git_root(&sub).as_ref(), Some(tree));
        let found = repository(&sub).unwrap();
        assert_eq!(
            (found.common, found.home),
            (main.join(".git"), main.clone())
        );
        assert_eq!(new_project_paths(&sub).folder, main.join(".heirloom"));
    }
    assert_eq!(place(&beside), None);
    // A tracked config file is checked out into the worktree; memory is still that of the main worktree.
    enable_memory(&beside);
    assert_eq!(
        place(&beside),
        Some((main.join(".heirloom"), beside.clone()))
    );
    enable_memory(&main);
    let found = find_project(&beside.join("sub")).unwrap();
    assert_eq!(found.config, main.join(".heirloom/config.toml"));
    for tree in [&beside, &within, &main] {
        assert_eq!(place(tree), Some((main.join(".heirloom"), tree.clone())));
    }
    // A project below the root of the repository.
    enable_memory(&main.join("sub"));
    let sub = beside.join("sub");
    assert_eq!(place(&sub), Some((main.join("sub/.heirloom"), sub)));
}

#[test]
fn find_project_worktrees_of_bare_repository_share_memory() {
    for bare in ["repo.git", ".bare"] {
        let at = folder();
        let (source, project) = (at.path.join("source"), at.path.join("project"));
        init(&source);
        let common = project.join(bare);
        let to = common.to_string_lossy().into_owned();
        git(&at.path, &["clone", "-q", "--bare", "source", &to]);
        let trees = [project.join("one"), project.join("two")];
        git(&common, &["worktree", "add", "-q", "../one"]);
        git(&common, &["worktree", "add", "-q", "../two"]);
        for tree in &trees {
            assert_eq!(repository(tree).unwrap().home, common);
            assert_eq!(new_project_paths(tree).folder, common.join(".heirloom"));
        }
        // Where former versions stored it, until the repository has a memory of its own.
        enable_memory(&project);
        let stranger = project.join("stranger");
        init(&stranger);
        assert_eq!(place(&stranger), None);
        for memory in [&project, &common] {
            enable_memory(memory);
            for tree in &trees {
                let expected = (memory.join(".heirloom"), tree.clone());
                assert_eq!(place(tree), Some(expected));
            }
        }
        assert_eq!(git_root(&common), None);
    }
}

#[test]
fn find_project_stops_at_the_root_of_another_repository() {
    let at = folder();
    let clones = at.path.join("clones");
    enable_memory(&clones);
    let inner = clones.join("inner");
    init(&inner);
    fs::create_dir_all(inner.join("src")).unwrap();
    assert_eq!(place(&inner.join("src")), None);
    assert_eq!(new_project_paths(&inner.join("src")).root, inner);
    // A repository in the work tree of another one.
    let outer = at.path.join("outer");
    init(&outer);
    enable_memory(&outer);
    let vendored = outer.join("vendor/lib");
    init(&vendored);
    assert_eq!(place(&vendored), None);
    let plain = outer.join("src/deep");
    fs::create_dir_all(&plain).unwrap();
    assert_eq!(
        place(&plain),
        Some((outer.join(".heirloom"), outer.clone()))
    );
    // A submodule is a part of the outer project.
    let source = at.path.join("source");
    init(&source);
    git(&outer, &["submodule", "add", "-q", "../source", "mod"]);
    let module = outer.join("mod");
    assert_eq!(place(&module), Some((outer.join(".heirloom"), outer)));
}

#[test]
fn find_project_submodule_is_separate() {
    let at = folder();
    let (inner, outer) = (at.path.join("inner"), at.path.join("outer"));
    init(&inner);
    init(&outer);
    git(&outer, &["submodule", "add", "-q", "../inner", "mod"]);
    let module = outer.join("mod");
    let found = repository(&module).unwrap();
    assert_eq!((found.work, found.home), (module.clone(), module.clone()));
    enable_memory(&module);
    git(&module, &["worktree", "add", "-q", "../../linked"]);
    let linked = at.path.join("linked");
    assert_eq!(place(&linked), Some((module.join(".heirloom"), linked)));
}

#[test]
fn find_project_broken_git_folder_is_ignored() {
    let at = folder();
    for (name, text) in [
        ("a", ""),
        ("b", "gitdir: /no/where"),
        ("c", "\u{0}"),
        ("d", "gitdir:"),
    ] {
        write(&at.path.join(name).join(".git"), text);
        assert_eq!(git_root(&at.path.join(name)), None, "{name}");
    }
    fs::create_dir_all(at.path.join("e/.git")).unwrap();
    assert_eq!(git_root(&at.path.join("e")), None);
}

#[test]
fn project_name_from_remote() {
    let at = folder();
    let main = at.path.join("main");
    fs::create_dir_all(&main).unwrap();
    assert_eq!(project_name(&main, None), main.to_string_lossy());
    assert_eq!(project_name(&main, Some(" mine ")), "mine");
    init(&main);
    assert_eq!(
        project_name(&main, None),
        main.join(".git").to_string_lossy()
    );
    git(&main, &["worktree", "add", "-q", "../wt"]);
    let tree = at.path.join("wt");
    assert_eq!(
        project_name(&tree, Some("")),
        main.join(".git").to_string_lossy()
    );
    git(&main, &["remote", "add", "fork", "/a/local/path"]);
    assert_eq!(
        project_name(&main, None),
        main.join(".git").to_string_lossy()
    );
    git(
        &main,
        &[
            "remote",
            "add",
            "origin",
            "https://u:secret@Host.example:8443/o/n.git",
        ],
    );
    for from in [&main, &tree, &main.join("deeper")] {
        fs::create_dir_all(from).unwrap();
        assert_eq!(project_name(from, None), "host.example/o/n");
    }
}

#[test]
fn project_name_from_long_path() {
    let at = folder();
    let mut deep = at.path.clone();
    for _ in 0..4 {
        deep.push("ü".repeat(60));
    }
    fs::create_dir_all(&deep).unwrap();
    let name = project_name(&deep, None);
    assert_eq!(ProjectName::new(&name).unwrap().as_str(), name);
    deep.push("x");
    assert_ne!(project_name(&deep, None), name);
    let odd = at.path.join("a\nb");
    fs::create_dir_all(&odd).unwrap();
    assert!(ProjectName::new(&project_name(&odd, None)).is_ok());
}

#[test]
fn project_path_inside_is_relative() {
    let at = folder();
    let root = at.path.join("root");
    write(&root.join("src/a.rs"), "");
    write(&root.join("odd\\name"), "");
    symlink("src", root.join("link")).unwrap();
    symlink("src/a.rs", root.join("file.rs")).unwrap();
    symlink("not/there", root.join("dangling")).unwrap();
    let check = |path: &str, expected: &str| {
        assert_eq!(
            normalise_project_path(&root, path).as_deref(),
            Ok(expected),
            "{path}"
        );
    };
    check("src/a.rs", "src/a.rs");
    check("./src//a.rs", "src/a.rs");
    check("src/../b.rs", "b.rs");
    check(" `src/a.rs` ", "src/a.rs");
    check("\"src/a.rs\"", "src/a.rs");
    check("**/x", "**/x");
    check("src\\a.rs", "src/a.rs");
    check("odd\\name", "odd\\name");
    check("new/ünï code.txt", "new/ünï code.txt");
    check("src/", "src");
    check("link/a.rs", "src/a.rs");
    check("link/../b.rs", "b.rs");
    check("file.rs", "src/a.rs");
    check("dangling", "not/there");
    check("a/b/../../c", "c");
    check(&root.join("src/a.rs").to_string_lossy(), "src/a.rs");
    check(&root.join("new.rs").to_string_lossy(), "new.rs");
    check("~notes.txt", "~notes.txt");
    // A root that is reached through a link.
    symlink(&root, at.path.join("alias")).unwrap();
    let alias = at.path.join("alias");
    let through = alias.join("src/a.rs");
    let found = normalise_project_path(&alias, &through.to_string_lossy());
    assert_eq!(found.as_deref(), Ok("src/a.rs"));
    let found = normalise_project_path(&root, &through.to_string_lossy());
    assert_eq!(found.as_deref(), Ok("src/a.rs"));
}

#[test]
fn project_path_outside_is_rejected() {
    let at = folder();
    let root = at.path.join("root");
    fs::create_dir_all(root.join("sub")).unwrap();
    fs::create_dir_all(at.path.join("root-2")).unwrap();
    symlink("..", root.join("up")).unwrap();
    symlink("/etc", root.join("etc")).unwrap();
    symlink("/no/where", root.join("dangling")).unwrap();
    symlink("loop", root.join("loop")).unwrap();
    let sibling = at.path.join("root-2/x").to_string_lossy().into_owned();
    for path in [
        "../x",
        "sub/../../x",
        "/etc/passwd",
        "up/x",
        "up/root-2/x",
        "etc/passwd",
        "dangling",
        "dangling/x",
        "..\\x",
        "C:\\x",
        "~/x",
        "~",
        &sibling,
        "sub/../../../../../../../../../..",
    ] {
        let found = normalise_project_path(&root, path);
        assert!(
            matches!(found, Err(PathProblem::Outside(_))),
            "{path}: {found:?}"
        );
    }
    let check = |path: &str, expected: PathProblem| {
        assert_eq!(normalise_project_path(&root, path), Err(expected), "{path}");
    };
    check("", PathProblem::Empty);
    check(" `` ", PathProblem::Empty);
    check("a\0b", PathProblem::Nul);
    check(".", PathProblem::Root(".".into()));
    check("sub/..", PathProblem::Root("sub/..".into()));
    check("up/root", PathProblem::Root("up/root".into()));
    check("loop", PathProblem::TooManyLinks("loop".into()));
    let long = "x".repeat(PATH_BYTES_MAX + 1);
    check(&long, PathProblem::TooLong(long.len()));
    let fits = &long[1..];
    assert_eq!(normalise_project_path(&root, fits).as_deref(), Ok(fits));
    let message = PathProblem::TooLong(long.len()).to_string();
    assert!(message.contains(&PATH_BYTES_MAX.to_string()), "{message}");
    for n in 0..=LINKS_MAX {
        symlink(format!("link-{}", n + 1), root.join(format!("link-{n}"))).unwrap();
    }
    let end = format!("link-{}", LINKS_MAX + 1);
    assert_eq!(
        normalise_project_path(&root, "link-1").as_deref(),
        Ok(&*end)
    );
    check("link-0", PathProblem::TooManyLinks("link-0".into()));
    let message = normalise_project_path(&root, "../\u{1b}[31mx")
        .unwrap_err()
        .to_string();
    assert!(!message.contains('\u{1b}'), "{message:?}");
}

#[test]
fn git_file_size_limit() {
    let at = folder();
    init(&at.path);
    let config = at.path.join(".git/config");
    let message = "[remote \"origin\"]\n\turl = https://example.com/a/b.git\n#";
    for (bytes, expected) in [
        (GIT_FILE_BYTES_MAX, "example.com/a/b".to_owned()),
        (
            GIT_FILE_BYTES_MAX + 1,
            at.path.join(".git").display().to_string(),
        ),
    ] {
        let padding = "x".repeat(usize::try_from(bytes).unwrap() - message.len());
        write(&config, &format!("{message}{padding}"));
        assert_eq!(project_name(&at.path, None), expected);
    }
}
