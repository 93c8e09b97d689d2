//! Builds the fixed-point laws for this host. Undefined behaviour traps: they are only compared, and must
//! have none where the verifier of eBPF cannot see it.

fn main() {
    println!("cargo::rerun-if-changed=src/bpf/laws");
    cc::Build::new()
        .file("src/bpf/laws/native.c")
        .warnings(true)
        .flag("-Wno-unused-parameter")
        .flag_if_supported("-fsanitize=undefined")
        .flag_if_supported("-fsanitize-undefined-trap-on-error")
        .opt_level(2)
        .compile("shortflow_laws");
}
