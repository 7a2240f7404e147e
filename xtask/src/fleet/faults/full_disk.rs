//! A full disk of the database.

use super::{Load, post, recovery};
use crate::cargo;
use crate::fleet::servers::Fleet;
use crate::postgres::{PostgresCluster, hand_over};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Size of the file system at first, and after it was enlarged, MB.
const SIZES: [u32; 2] = [24, 96];
/// Writes after which the file system must have been full.
const WRITES_MAX: usize = 100_000;

/// Small file system in memory.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(place: PathBuf) -> Result<Self, String> {
        fs::create_dir(&place).map_err(|error| format!("{}: {error}", place.display()))?;
        let size = format!("size={}m", SIZES[0]);
        let mut mount = Command::new("mount");
        mount
            .args(["-t", "tmpfs", "-o", &size, "tmpfs"])
            .arg(&place);
        cargo::run(&mut mount)?;
        let disk = Self(place);
        hand_over(&disk.0)?;
        Ok(disk)
    }

    fn enlarge(&self) -> Result<(), String> {
        let size = format!("remount,size={}m", SIZES[1]);
        let mut mount = Command::new("mount");
        cargo::run(mount.args(["-o", &size]).arg(&self.0))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily, because the database may still have files open.
        let mut unmount = Command::new("umount");
        drop(unmount.arg("--lazy").arg(&self.0).status());
    }
}

/// Fills the disk of a database: the server answers 507, reads continue, and writes succeed once there is space. Returns
/// the number of acknowledged writes.
pub(in crate::fleet) fn fill_disk(
    binary: &Path,
    root: &Path,
    load: &Load,
) -> Result<usize, String> {
    let cluster = PostgresCluster::start(&[])?;
    let disk = SmallDisk::mount(cluster.folder().join("small"))?;
    cluster.execute(&format!(
        "CREATE TABLESPACE small LOCATION '{}'",
        disk.0.display()
    ))?;
    cluster.execute("ALTER ROLE heirloom SET default_tablespace = 'small'")?;
    let fleet = Fleet::start(binary, root, &cluster.url(), 1)?;
    let mut client = fleet.connect(0).ok_or("the server does not answer")?;
    let mut written = 0;
    let refused = loop {
        let answer = post(&mut client, load).ok_or("the server closed the connection")?;
        if answer.status != 201 {
            break answer;
        }
        written += 1;
        if written > WRITES_MAX {
            return Err(format!("the disk is not full after {written} writes"));
        }
    };
    if refused.status != 507 {
        return Err(format!("a full disk is answered with {refused:?}"));
    }
    let path = format!("/api/recall?q=deploy&project={}", load.project(0));
    let read = client.request("GET", &path, None);
    if read.as_ref().is_none_or(|answer| answer.status != 200) {
        return Err(format!(
            "a read of a full database is answered with {read:?}"
        ));
    }
    disk.enlarge()?;
    recovery(&fleet, load)?;
    Ok(written)
}
