//! Host requirements of eBPF congestion controls. The checks read the kernel's own types (BTF), so they find
//! backported features.

use crate::Failure;
use crate::packages::Packages;
use crate::programs::mounts;
use libbpf_rs::ReferencesType;
use libbpf_rs::btf::types::{FuncProto, Ptr, Struct};
use libbpf_rs::btf::{Btf, BtfType};
use std::fmt;
use std::fs;
use std::io;

/// Capabilities that loading needs, with their bits in `CapEff` (capabilities(7)).
const CAPABILITIES: [(&str, u32); 3] = [("CAP_NET_ADMIN", 12), ("CAP_PERFMON", 38), ("CAP_BPF", 39)];
const NO_TYPES: &str = "/sys/kernel/btf/vmlinux: the kernel needs CONFIG_DEBUG_INFO_BTF=y";
const TUN: &str = "/dev/net/tun";
const TESTBED: &str = "for the testbed";
/// Capabilities that show and open every network namespace.
const INSPECTION: [(&str, u32); 2] = [("CAP_SYS_PTRACE", 19), ("CAP_SYS_ADMIN", 21)];

/// Availability of a requirement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The host meets the requirement.
    Present,
    /// The host does not meet the requirement, and there is another way.
    Optional,
    /// The host does not meet the requirement, and nothing can be loaded without it.
    Missing,
}

/// A requirement, with its availability on this host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Requirement.
    pub name: &'static str,
    /// Availability.
    pub verdict: Verdict,
    /// Version or place found, or the remedy.
    pub detail: String,
}

impl Finding {
    fn new(name: &'static str, verdict: Verdict, detail: impl Into<String>) -> Finding {
        Finding { name, verdict, detail: detail.into() }
    }

    /// False if nothing can be loaded because the requirement is not met.
    pub fn is_enough(&self) -> bool {
        self.verdict != Verdict::Missing
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = match self.verdict {
            Verdict::Present => "yes",
            Verdict::Optional => "no",
            Verdict::Missing => "MISSING",
        };
        write!(f, "{:<16} {verdict:<8} {}", self.name, self.detail)
    }
}

/// All requirements, in the order in which loading needs them.
pub fn findings() -> Vec<Finding> {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default().trim().to_owned();
    let mut all = vec![Finding::new("kernel", Verdict::Present, read("/proc/sys/kernel/osrelease"))];
    let btf = Btf::from_vmlinux().ok();
    all.extend(kernel_types(btf.as_ref()));
    all.push(jit(&read("/proc/sys/net/core/bpf_jit_enable")));
    all.push(pins());
    all.push(cgroup2(&read("/proc/mounts")));
    all.push(privileges(&read("/proc/self/status")));
    all.push(tools("to build it", &Packages::to_build()));
    let counts_timeouts = btf.is_none_or(|btf| has_member(&btf, "tcp_info", "tcpi_total_rto"));
    all.push(testbed(&Packages::for_testbed(), &tun(), counts_timeouts));
    all.push(tools("for --virtual", &Packages::for_virtual()));
    all
}

/// The remedy if the kernel does not show its types (BTF), without which no program loads.
pub fn without_types() -> Option<&'static str> {
    Btf::from_vmlinux().is_err().then_some(NO_TYPES)
}

fn kernel_types(btf: Option<&Btf<'_>>) -> Vec<Finding> {
    let Some(btf) = btf else {
        return vec![Finding::new("BTF", Verdict::Missing, NO_TYPES)];
    };
    let has = |name| btf.type_by_name::<Struct<'_>>(name).is_some();
    let struct_ops = match arguments(btf, "cong_control") {
        Some(count) if has("bpf_struct_ops_tcp_congestion_ops") => {
            let tells = if arguments(btf, TX_START).is_some() { TX_START } else { "cwnd_event" };
            let detail = format!("cong_control has {count} arguments, {tells} reports pauses");
            Finding::new("struct_ops", Verdict::Present, detail)
        }
        _ => Finding::new("struct_ops", Verdict::Missing, "the kernel needs CONFIG_BPF_SYSCALL and BPF_JIT"),
    };
    let link = if has("bpf_struct_ops_link") {
        Finding::new("struct_ops link", Verdict::Present, "a pinned link holds the registration")
    } else {
        Finding::new("struct_ops link", Verdict::Optional, "before 6.4: a pinned map holds the registration")
    };
    vec![Finding::new("BTF", Verdict::Present, "/sys/kernel/btf/vmlinux"), struct_ops, link]
}

/// The hook that since Linux 7.1 reports data sent after a pause; earlier kernels call `cwnd_event`.
const TX_START: &str = "cwnd_event_tx_start";

/// Suffix of the operations in sender.bpf.c that fit the kernel.
pub fn operations(btf: &Btf<'_>) -> &'static str {
    // `cong_control` has two arguments before Linux 6.10, and four since then.
    match (arguments(btf, "cong_control"), arguments(btf, TX_START)) {
        (Some(4), Some(_)) => "_7",
        (Some(4), None) => "",
        _ => "_2",
    }
}

/// Number of arguments of `hook` in `tcp_congestion_ops`; `None` without this hook.
fn arguments(btf: &Btf<'_>, hook: &str) -> Option<usize> {
    let ops = btf.type_by_name::<Struct<'_>>("tcp_congestion_ops")?;
    let member = ops.iter().find(|member| member.name.is_some_and(|name| name == hook))?;
    let pointer: Ptr<'_> = btf.type_by_id::<BtfType<'_>>(member.ty)?.try_into().ok()?;
    let function: FuncProto<'_> = pointer.referenced_type().try_into().ok()?;
    Some(function.iter().count())
}

/// True if the kernel's `structure` has the member.
fn has_member(btf: &Btf<'_>, structure: &str, member: &str) -> bool {
    let found = btf.type_by_name::<Struct<'_>>(structure);
    found.is_some_and(|found| found.iter().any(|each| each.name.is_some_and(|name| name == member)))
}

fn jit(enabled: &str) -> Finding {
    match enabled {
        // Only the host's own network namespace has this sysctl. Without a JIT, struct_ops is missing too.
        "" => Finding::new("JIT", Verdict::Present, "net.core.bpf_jit_enable is not shown in this namespace"),
        "0" => Finding::new("JIT", Verdict::Missing, "sysctl net.core.bpf_jit_enable=1"),
        value => Finding::new("JIT", Verdict::Present, format!("net.core.bpf_jit_enable = {value}")),
    }
}

fn pins() -> Finding {
    match mounts::lasting() {
        Ok(true) => Finding::new("bpffs", Verdict::Present, mounts::BPFFS),
        Ok(false) => Finding::new("bpffs", Verdict::Optional, format!("load mounts it at {}", mounts::BPFFS)),
        Err(why) => Finding::new("bpffs", Verdict::Missing, why),
    }
}

/// Mount point of cgroup2. `mounts` is the text of /proc/mounts, with device, directory, type and options in each
/// line.
pub fn cgroup2_directory(mounts: &str) -> Option<&str> {
    mounts.lines().find_map(|line| {
        let mut fields = line.split(' ').skip(1);
        let directory = fields.next()?;
        (fields.next()? == "cgroup2").then_some(directory)
    })
}

fn cgroup2(mounts: &str) -> Finding {
    match cgroup2_directory(mounts) {
        Some(directory) => Finding::new("cgroup2", Verdict::Present, directory),
        None => Finding::new(
            "cgroup2",
            Verdict::Optional,
            "load --cgroup needs it: mount -t cgroup2 none DIRECTORY",
        ),
    }
}

/// Checks that this process has the capabilities to read and change loaded programs.
/// An error names the missing capabilities.
pub fn privileged() -> Result<(), Failure> {
    let finding = privileges(&fs::read_to_string("/proc/self/status").unwrap_or_default());
    if finding.is_enough() { Ok(()) } else { Err(Failure::Host(format!("missing: {}", finding.detail))) }
}

/// True if this process has the capabilities to inspect every network namespace.
pub fn may_inspect_all() -> bool {
    lacking(&INSPECTION, &fs::read_to_string("/proc/self/status").unwrap_or_default()).is_empty()
}

/// Capabilities missing from `status`, the text of /proc/self/status.
fn lacking(capabilities: &[(&'static str, u32)], status: &str) -> Vec<&'static str> {
    let hexadecimal = status.lines().find_map(|line| line.strip_prefix("CapEff:")).unwrap_or_default();
    let effective = u64::from_str_radix(hexadecimal.trim(), 16).unwrap_or(0);
    capabilities.iter().filter(|(_, bit)| effective >> bit & 1 == 0).map(|(name, _)| *name).collect()
}

/// `status` is the text of /proc/self/status.
fn privileges(status: &str) -> Finding {
    let lacking = lacking(&CAPABILITIES, status);
    if lacking.is_empty() {
        Finding::new("privileges", Verdict::Present, CAPABILITIES.map(|(name, _)| name).join(", "))
    } else {
        Finding::new("privileges", Verdict::Missing, format!("{}; run it as root", lacking.join(", ")))
    }
}

/// Opens the device that provides the testbed's network cards.
fn tun() -> io::Result<()> {
    fs::OpenOptions::new().read(true).write(true).open(TUN).map(drop)
}

/// The testbed's requirements, except those of loading.
fn testbed(lacking: &Packages, tun: &io::Result<()>, counts_timeouts: bool) -> Finding {
    let no_tun = tun.as_ref().err().map(|why| match why.kind() {
        io::ErrorKind::PermissionDenied => {
            format!("{TUN}: {why}; run as root, and pass the device to a container")
        }
        _ => format!("{TUN}: {why}; run `modprobe tun`, and pass the device to a container"),
    });
    let no_count = (!counts_timeouts).then(|| "TCP_INFO counts timeouts since Linux 6.7".to_owned());
    let reasons: Vec<String> = [lacking.advice(), no_tun, no_count].into_iter().flatten().collect();
    match reasons.as_slice() {
        [] => Finding::new(TESTBED, Verdict::Present, "all"),
        reasons => Finding::new(TESTBED, Verdict::Optional, reasons.join("; ")),
    }
}

/// User-space tools that a command needs.
fn tools(name: &'static str, lacking: &Packages) -> Finding {
    match lacking.advice() {
        Some(advice) => Finding::new(name, Verdict::Optional, advice),
        None => Finding::new(name, Verdict::Present, "all"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_missing_capability_is_named() {
        assert_eq!(privileges("Name:\tx\nCapEff:\t000001ffffffffff\n").verdict, Verdict::Present);
        let finding = privileges("CapEff:\t0000000000001000\n");
        assert_eq!((finding.is_enough(), &*finding.detail), (false, "CAP_PERFMON, CAP_BPF; run it as root"));
        assert!(!privileges("").is_enough());
    }

    #[test]
    fn cgroups_are_found_wherever_they_are_mounted() {
        let found = cgroup2("cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\ntmpfs /cgroup2 tmpfs rw 0 0");
        assert_eq!((found.verdict, &*found.detail), (Verdict::Present, "/sys/fs/cgroup/unified"));
        assert_eq!(cgroup2("").verdict, Verdict::Optional);
    }

    /// The programs are compiled against the types of Linux 7.1.
    #[test]
    fn hooks_are_found_by_their_names_and_arguments() {
        let btf = Btf::from_path(concat!(env!("OUT_DIR"), "/sf_dctcp.bpf.o")).unwrap();
        assert_eq!(
            ["cong_control", TX_START, "sndbuf_expand"].map(|hook| arguments(&btf, hook)),
            [Some(4), Some(1), None]
        );
        assert_eq!(operations(&btf), "_7");
    }

    #[test]
    fn all_missing_requirements_of_the_testbed_are_reported_together() {
        let fails = |kind: io::ErrorKind| Err(io::Error::from(kind));
        let found = testbed(&Packages::default(), &fails(io::ErrorKind::NotFound), false);
        assert!(found.is_enough() && found.verdict == Verdict::Optional, "programs load all the same");
        let wanted = "/dev/net/tun: entity not found; run `modprobe tun`, and pass the device to a container; \
                      TCP_INFO counts timeouts since Linux 6.7";
        assert_eq!(found.detail, wanted);
        let denied = testbed(&Packages::default(), &fails(io::ErrorKind::PermissionDenied), true).detail;
        assert_eq!(
            denied,
            "/dev/net/tun: permission denied; run as root, and pass the device to a container"
        );
        assert_eq!(testbed(&Packages::default(), &Ok(()), true).detail, "all");
    }

    #[test]
    fn without_types_or_jit_nothing_loads() {
        assert!(!kernel_types(None)[0].is_enough());
        assert!(!jit("0").is_enough() && jit("").is_enough() && jit("1").is_enough());
    }
}
