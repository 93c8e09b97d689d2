//! What eBPF congestion controls need of a host. Reads the kernel's own types (BTF), so that a feature is
//! found where it was backported.

use libbpf_rs::ReferencesType;
use libbpf_rs::btf::types::{FuncProto, Ptr, Struct};
use libbpf_rs::btf::{Btf, BtfType};
use std::fmt;
use std::fs;
use std::path::Path;

/// Capabilities that loading takes, with their bit in `CapEff` of capabilities(7).
const CAPABILITIES: [(&str, u32); 3] = [("CAP_NET_ADMIN", 12), ("CAP_PERFMON", 38), ("CAP_BPF", 39)];

/// Whether something is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is.
    Present,
    /// It is not, and there is another way.
    Optional,
    /// It is not, and nothing can be loaded without it.
    Missing,
}

/// One line of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What was looked for.
    pub name: &'static str,
    /// Whether it is there.
    pub verdict: Verdict,
    /// What was found, or what to do.
    pub detail: String,
}

impl Finding {
    fn new(name: &'static str, verdict: Verdict, detail: impl Into<String>) -> Finding {
        Finding { name, verdict, detail: detail.into() }
    }

    /// False where nothing can be loaded for want of it.
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

/// Everything that was looked for, in the order in which it is needed.
pub fn findings() -> Vec<Finding> {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default().trim().to_owned();
    let mut all = vec![Finding::new("kernel", Verdict::Present, read("/proc/sys/kernel/osrelease"))];
    all.extend(kernel_types(Btf::from_vmlinux().ok().as_ref()));
    all.push(jit(&read("/proc/sys/net/core/bpf_jit_enable")));
    let mounts = read("/proc/mounts");
    all.push(mount("bpffs", "bpf", "pins need it: mount -t bpf bpf /sys/fs/bpf", &mounts));
    all.push(mount("cgroup2", "cgroup2", "deadlines by setsockopt need it", &mounts));
    all.push(privileges(&read("/proc/self/status")));
    all.push(clang(&std::env::var("PATH").unwrap_or_default()));
    all
}

fn kernel_types(btf: Option<&Btf<'_>>) -> Vec<Finding> {
    let Some(btf) = btf else {
        let detail = "/sys/kernel/btf/vmlinux: the kernel needs CONFIG_DEBUG_INFO_BTF=y";
        return vec![Finding::new("BTF", Verdict::Missing, detail)];
    };
    let has = |name| btf.type_by_name::<Struct<'_>>(name).is_some();
    let struct_ops = match cong_control_arguments(btf) {
        Some(count) if has("bpf_struct_ops_tcp_congestion_ops") => {
            Finding::new("struct_ops", Verdict::Present, format!("cong_control has {count} arguments"))
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

/// Arguments of `tcp_congestion_ops.cong_control`: two before 6.10, four since.
pub fn cong_control_arguments(btf: &Btf<'_>) -> Option<usize> {
    let ops = btf.type_by_name::<Struct<'_>>("tcp_congestion_ops")?;
    let member = ops.iter().find(|member| member.name.is_some_and(|name| name == "cong_control"))?;
    let pointer: Ptr<'_> = btf.type_by_id::<BtfType<'_>>(member.ty)?.try_into().ok()?;
    let function: FuncProto<'_> = pointer.referenced_type().try_into().ok()?;
    Some(function.iter().count())
}

fn jit(enabled: &str) -> Finding {
    match enabled {
        // Only the host's own network namespace shows it; struct_ops is not there without a JIT at all.
        "" => Finding::new("JIT", Verdict::Present, "net.core.bpf_jit_enable is not shown in this namespace"),
        "0" => Finding::new("JIT", Verdict::Missing, "sysctl net.core.bpf_jit_enable=1"),
        value => Finding::new("JIT", Verdict::Present, format!("net.core.bpf_jit_enable = {value}")),
    }
}

/// `mounts` is the text of /proc/mounts: device, directory, type and options on each line.
fn mount(name: &'static str, kind: &str, without: &str, mounts: &str) -> Finding {
    let directory = mounts.lines().find_map(|line| {
        let mut fields = line.split(' ').skip(1);
        let directory = fields.next()?;
        (fields.next()? == kind).then_some(directory)
    });
    match directory {
        Some(directory) => Finding::new(name, Verdict::Present, directory),
        None => Finding::new(name, Verdict::Optional, without),
    }
}

/// `status` is the text of /proc/self/status.
fn privileges(status: &str) -> Finding {
    let hexadecimal = status.lines().find_map(|line| line.strip_prefix("CapEff:")).unwrap_or_default();
    let effective = u64::from_str_radix(hexadecimal.trim(), 16).unwrap_or(0);
    let lacking: Vec<&str> =
        CAPABILITIES.iter().filter(|(_, bit)| effective >> bit & 1 == 0).map(|(name, _)| *name).collect();
    if lacking.is_empty() {
        Finding::new("privileges", Verdict::Present, CAPABILITIES.map(|(name, _)| name).join(", "))
    } else {
        Finding::new("privileges", Verdict::Missing, format!("{}; run it as root", lacking.join(", ")))
    }
}

fn clang(path: &str) -> Finding {
    match path.split(':').map(|directory| Path::new(directory).join("clang")).find(|file| file.exists()) {
        Some(file) => Finding::new("clang", Verdict::Present, file.display().to_string()),
        None => {
            Finding::new("clang", Verdict::Optional, "only to build programs: apt-get install clang llvm")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_capability_that_lacks_is_named() {
        assert_eq!(privileges("Name:\tx\nCapEff:\t000001ffffffffff\n").verdict, Verdict::Present);
        let finding = privileges("CapEff:\t0000000000001000\n");
        assert_eq!((finding.is_enough(), &*finding.detail), (false, "CAP_PERFMON, CAP_BPF; run it as root"));
        assert!(!privileges("").is_enough());
    }

    #[test]
    fn mounts_are_found_by_type() {
        let mounts = "cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\ntmpfs /bpf tmpfs rw 0 0";
        let found = mount("cgroup2", "cgroup2", "", mounts);
        assert_eq!((found.verdict, &*found.detail), (Verdict::Present, "/sys/fs/cgroup/unified"));
        assert_eq!(mount("bpffs", "bpf", "", mounts).verdict, Verdict::Optional);
    }

    #[test]
    fn without_types_or_jit_nothing_loads() {
        assert!(!kernel_types(None)[0].is_enough());
        assert!(!jit("0").is_enough() && jit("").is_enough() && jit("1").is_enough());
    }
}
