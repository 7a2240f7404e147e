//! Linker arguments of the binary.
#![expect(
    clippy::disallowed_methods,
    reason = "Cargo passes the target to build scripts in the environment"
)]

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        // A binary at a fixed address needs no relocations at start-up (docs/decisions/0067).
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
