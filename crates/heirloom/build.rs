//! How the program is linked.
#![expect(
    clippy::disallowed_methods,
    reason = "Cargo says by the environment what is built for"
)]

use std::env;

/// What runs when a command starts, side by side (docs/decisions/0074).
const SCRIPT: &str = "start.ld";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={SCRIPT}");
    if env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        // At a fixed place, nothing is to be moved when it starts (docs/decisions/0067).
        println!("cargo::rustc-link-arg-bins=-no-pie");
        let is_optimized = env::var("PROFILE").is_ok_and(|profile| profile == "release");
        if let Ok(here) = env::var("CARGO_MANIFEST_DIR")
            && is_optimized
            && is_usual_linker()
        {
            println!("cargo::rustc-link-arg-bins=-Wl,-T,{here}/{SCRIPT}");
        }
    }
}

/// Whether nobody chose another linker, which may not read such scripts.
fn is_usual_linker() -> bool {
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let is_gnu = env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|env| env == "gnu");
    is_gnu && env::var_os("RUSTC_LINKER").is_none() && !flags.contains("link")
}
