//! What the tests on real network namespaces share.

use std::path::PathBuf;
use std::process::Command;

/// The program under test.
pub fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_shortflow-linux"))
}

/// Why there can be no testbed here, if there cannot.
pub fn obstacle() -> Option<&'static str> {
    let is_root =
        std::fs::read_to_string("/proc/self/status").is_ok_and(|status| status.contains("\nUid:\t0\t"));
    let has = |tool: &str| Command::new(tool).arg("-V").output().is_ok();
    match () {
        () if !is_root => Some("needs root"),
        () if !std::path::Path::new("/dev/net/tun").exists() => Some("needs /dev/net/tun"),
        () if !has("ip") || !has("tc") => Some("needs ip and tc of iproute2"),
        () => None,
    }
}

/// A scenario file of its own for each test: short flows beside a long one over 50 Mbit/s.
pub fn scenario(name: &str, duration: &str) -> PathBuf {
    let text = format!(
        "title = \"Short flows beside a long one\"\nduration = \"{duration}\"\n\
         [topology]\nkind = \"dumbbell\"\npairs = 2\nrate = \"100Mbps\"\nbottleneck = \"50Mbps\"\nrtt = \"2ms\"\n\
         [switch]\nbuffer = \"100pkt\"\nmark_above = \"8pkt\"\n\
         [tcp]\nmss = \"1448B\"\nheader = \"52B\"\ninitial_window = 10\nrto_min = \"200ms\"\nack_every = 2\n\
         [[traffic]]\nkind = \"long-lived\"\nflows = 1\nfrom = [0]\nto = 2\n\
         [[traffic]]\nkind = \"incast\"\nflows = 4\nfrom = [1]\nto = 2\nat = \"100ms\"\nrepeat = 2\n\
         every = \"100ms\"\nsizes = {{ kind = \"fixed\", value = \"50KB\" }}\n\
         [measure]\nports = [\"s0->s1\"]\nsample_every = \"10ms\"\n"
    );
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.toml"));
    std::fs::write(&path, text).unwrap();
    path
}
