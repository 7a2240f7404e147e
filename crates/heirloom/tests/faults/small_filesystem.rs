//! Project on a small file system in a mount namespace that only its processes see.

use crate::driver::{CallResult, ProjectFixture, finish};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A project on a tmpfs that is unmounted when the value is dropped.
pub(crate) struct SmallFilesystem {
    pub(crate) fixture: ProjectFixture,
    holder: Child,
    enter: Vec<String>,
    root: PathBuf,
}

impl SmallFilesystem {
    /// Creates a file system of `size` with an initialised project; `None` if mounting is not permitted.
    pub(crate) fn initialised(size: &str) -> Option<Self> {
        let filesystem = Self::bare(size)?;
        filesystem.call(&["init"]).expect(0);
        Some(filesystem)
    }

    /// Creates a file system without Heirloom.
    pub(crate) fn bare(size: &str) -> Option<Self> {
        let in_mount_namespace = ["--mount"].as_slice();
        let in_user_namespace = ["--mount", "--user", "--map-root-user"].as_slice();
        [in_mount_namespace, in_user_namespace]
            .into_iter()
            .find_map(|how| Self::mount(how, size))
    }

    fn mount(how: &[&str], size: &str) -> Option<Self> {
        let fixture = ProjectFixture::bare();
        let root = fixture.root().to_owned();
        let script =
            "mount -t tmpfs -o size=$1,mode=755 none \"$0\" && echo ready && exec sleep 600";
        let mut holder = Command::new("unshare")
            .args(how)
            .args(["sh", "-c", script])
            .arg(&root)
            .arg(size)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let mut line = String::new();
        let mut said = BufReader::new(holder.stdout.take().unwrap());
        said.read_line(&mut line).unwrap();
        let mut enter = vec!["--mount".to_owned()];
        if how.len() > 1 {
            enter.extend(["--user", "--preserve-credentials"].map(str::to_owned));
        }
        let mut filesystem = Self {
            enter,
            fixture,
            root,
            holder,
        };
        if line.trim() == "ready" && filesystem.command("true", &[]).status().ok()?.success() {
            return Some(filesystem);
        }
        filesystem.unmount();
        None
    }

    /// Returns the path of a file on the file system, as seen by this process.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        let root = self.root.strip_prefix("/").unwrap();
        let seen = Path::new("/proc").join(self.holder.id().to_string());
        seen.join("root").join(root).join(name)
    }

    /// Builds a command that runs in the file system's namespace.
    fn command(&self, program: &str, args: &[&str]) -> Command {
        let like = self.fixture.heirloom(&[]);
        let mut command = Command::new("nsenter");
        for (name, value) in like.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command
            .arg("--target")
            .arg(self.holder.id().to_string())
            .args(&self.enter)
            .args(["sh", "-c", "cd \"$0\" && exec \"$@\""])
            .arg(&self.root)
            .arg(program)
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Builds a `heirloom` command in the namespace.
    pub(crate) fn heirloom(&self, args: &[&str]) -> Command {
        self.command(env!("CARGO_BIN_EXE_heirloom"), args)
    }

    /// Runs a command to its end.
    pub(crate) fn call(&self, args: &[&str]) -> CallResult {
        finish(self.heirloom(args), |_| {})
    }

    /// Runs a command with `input` to its end.
    pub(crate) fn feed(&self, args: &[&str], input: &str) -> CallResult {
        let input = input.to_owned();
        let mut command = self.heirloom(args);
        command.stdin(Stdio::piped());
        finish(command, move |mut pipe| {
            drop(pipe.write_all(input.as_bytes()));
        })
    }

    /// Remounts the file system as `ro` or `rw`.
    pub(crate) fn remount(&self, how: &str) {
        let options = format!("remount,{how}");
        // Run outside the folder: a shell inside it would keep the mount in use.
        let root = self.root.to_str().unwrap();
        finish(self.command("mount", &["-o", &options, root]), |_| {}).expect(0);
    }

    /// Fills the file system completely, then frees `free_bytes`.
    pub(crate) fn fill(&self, free_bytes: u64) {
        let path = self.path("ballast");
        let mut ballast = std::fs::File::options()
            .create(true)
            .append(true)
            .open(&path)
            .unwrap();
        for size in [1 << 16, 1 << 12, 1] {
            while ballast.write_all(&vec![b'x'; size]).is_ok() {}
        }
        let length = ballast.metadata().unwrap().len();
        ballast.set_len(length - free_bytes).unwrap();
    }

    /// Frees the filled space.
    pub(crate) fn free_space(&self) {
        std::fs::remove_file(self.path("ballast")).unwrap();
    }

    /// Returns the texts of the current records of a kind, oldest first.
    pub(crate) fn texts(&self, kind: &str) -> Vec<String> {
        let listed = self.call(&["list", "--json", "--kind", kind]).expect(0);
        let listed = listed.json();
        let records = listed["records"].as_array().unwrap();
        let text = |record: &serde_json::Value| record["text"].as_str().unwrap().to_owned();
        records.iter().rev().map(text).collect()
    }

    /// Fails unless the store is healthy.
    #[track_caller]
    pub(crate) fn assert_healthy(&self) {
        let status = self.call(&["status", "--json"]).expect(0).json();
        assert_eq!(status["health"], "ok", "{status}");
    }

    /// Returns the sorted names in a folder of the file system.
    pub(crate) fn names(&self, folder: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(folder)).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn unmount(&mut self) {
        self.holder.kill().unwrap();
        self.holder.wait().unwrap();
    }
}

impl Drop for SmallFilesystem {
    fn drop(&mut self) {
        self.unmount();
    }
}
