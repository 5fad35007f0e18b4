//! Compiles what calls the peers that are C libraries.
fn main() {
    println!("cargo::rerun-if-changed=src");
    let mut build = cc::Build::new();
    build.files(["src/ipsec_mb.c", "src/openssl.c"]);
    build.opt_level(3).flag("-Wall").flag("-Wextra");
    build.compile("aescomb_peers_c");
    println!("cargo::rustc-link-lib=IPSec_MB");
    println!("cargo::rustc-link-lib=crypto");
}
