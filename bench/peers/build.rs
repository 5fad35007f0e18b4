//! Compiles what calls the peers that are C and C++ libraries.
fn main() {
    for file in [
        "peers.h",
        "ipsec_mb.c",
        "openssl.c",
        "libgcrypt.c",
        "botan.cpp",
    ] {
        println!("cargo::rerun-if-changed=src/{file}");
    }
    let mut c = cc::Build::new();
    c.files(["src/ipsec_mb.c", "src/openssl.c", "src/libgcrypt.c"]);
    c.opt_level(3).flag("-Wall").flag("-Wextra");
    c.compile("aescomb_peers_c");
    let mut cpp = cc::Build::new();
    cpp.cpp(true).std("c++17").file("src/botan.cpp");
    // Where Debian has it; as a system's header it gives no warnings.
    cpp.flag("-isystem/usr/include/botan-2");
    cpp.opt_level(3).flag("-Wall").flag("-Wextra");
    cpp.compile("aescomb_peers_cpp");
    for library in ["IPSec_MB", "crypto", "gcrypt", "botan-2"] {
        println!("cargo::rustc-link-lib={library}");
    }
}
