//! Links libjitk: that of the folder $JITK_LIB_DIR, else the one that pkg-config knows, else as the linker finds it.
use std::{env, process::Command};

fn pkg_config() -> Option<String> {
    let output = Command::new("pkg-config").args(["--variable=libdir", "jitk"]).output().ok()?;
    let folder = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !folder.is_empty()).then_some(folder)
}

fn main() {
    println!("cargo:rerun-if-env-changed=JITK_LIB_DIR");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    if let Some(folder) = env::var("JITK_LIB_DIR").ok().or_else(pkg_config) {
        println!("cargo:rustc-link-search=native={folder}");
        // For the tests and examples of this crate. A program that uses it says itself where the library lies.
        println!("cargo:rustc-link-arg=-Wl,-rpath,{folder}");
    }
    println!("cargo:rustc-link-lib=dylib=jitk");
}
