//! Builds the fixed-point laws for this host and, with the feature `bpf`, the eBPF programs.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, exit};

include!("src/laws/names.rs");
/// Programs other than the laws.
const PROGRAMS: [&str; 5] = ["setsockopt", "dscp", "status", "choose", "cubic"];

fn main() {
    println!("cargo::rerun-if-changed=src/bpf");
    println!("cargo::rerun-if-changed=include");
    println!("cargo::rerun-if-changed=src/laws/names.rs");
    native_laws();
    if env::var_os("CARGO_FEATURE_BPF").is_some() {
        let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
        let mut codes = String::new();
        for law in NAMES {
            let is_law = [format!("-DLAW={law}"), format!("-DHEADER=\"laws/{law}.h\"")];
            let object = out.join(format!("sf_{law}.bpf.o"));
            program("sender", &is_law, &object);
            codes += &format!("({law:?}, include_bytes!({object:?}).as_slice()),");
        }
        if let Err(error) = std::fs::write(out.join("codes.rs"), format!("[{codes}]")) {
            eprintln!("codes.rs: {error}");
            exit(1);
        }
        PROGRAMS.iter().for_each(|name| program(name, &[], &out.join(format!("{name}.bpf.o"))));
    }
}

/// Builds the laws natively. Undefined behaviour traps, because the eBPF verifier does not detect it in the laws.
fn native_laws() {
    let headers = NAMES.map(|name| ["-include".to_owned(), format!("src/bpf/laws/{name}.h")]);
    cc::Build::new()
        .flags(headers.as_flattened())
        .file("src/bpf/laws/native.c")
        .define("LAWS(X)", &*NAMES.map(|name| format!("X({name})")).join(" "))
        .warnings(true)
        .flag("-Wno-unused-parameter")
        .flag_if_supported("-fsanitize=undefined")
        .flag_if_supported("-fsanitize-undefined-trap-on-error")
        .opt_level(2)
        .compile("shortflow_laws");
}

fn program(name: &str, definitions: &[String], object: &Path) {
    let variable = |name: &str| env::var(name).unwrap_or_default();
    let machine = variable("CARGO_CFG_TARGET_ARCH");
    let target = match machine.as_str() {
        "x86_64" => "x86",
        "aarch64" => "arm64",
        other => other,
    };
    // In debug builds, which the tests use, warnings are errors. In `make linux` they are not, because another clang
    // may have new warnings.
    let strict = (variable("PROFILE") == "debug").then_some("-Werror");
    let clang = env::var_os("CLANG").unwrap_or_else(|| "clang".into());
    let status = Command::new(&clang)
        .args(["-target", "bpf", "-mcpu=v3", "-g", "-O2", "-Wall", "-Wextra"])
        .args(strict)
        .args(definitions)
        .args(["-Wno-unused-parameter", "-Wno-missing-declarations"])
        .arg(format!("-D__TARGET_ARCH_{target}"))
        // The headers of the libbpf that the loader is linked with.
        .arg(format!("-I{}", variable("DEP_BPF_INCLUDE")))
        // Debian's place of asm/types.h.
        .arg(format!("-I/usr/include/{machine}-linux-gnu"))
        .arg("-c")
        .arg(format!("src/bpf/{name}.bpf.c"))
        .arg("-o")
        .arg(object)
        .status();
    match status {
        Ok(status) if status.success() => {}
        Ok(_) => exit(1),
        Err(error) => {
            eprintln!("{}: {error}; on Debian: apt-get install clang", clang.to_string_lossy());
            exit(1);
        }
    }
}
