//! How the program is linked.
#![expect(
    clippy::disallowed_methods,
    reason = "Cargo says by the environment what is built for"
)]

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // At a fixed place, nothing is to be moved when it starts (docs/decisions/0067).
    let os = std::env::var("CARGO_CFG_TARGET_OS");
    if os.is_ok_and(|os| os == "linux") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
