//! Tools and headers that are needed, and the packages that have them.

use std::path::Path;

/// A tool or header, with the packages that have it.
struct Tool {
    file: &'static str,
    debian: &'static str,
    fedora: &'static str,
}

const fn tool(file: &'static str, debian: &'static str, fedora: &'static str) -> Tool {
    Tool { file, debian, fedora }
}

/// Needed to build the programs.
const BUILD: [Tool; 7] = [
    tool("clang", "clang", "clang"),
    tool("cc", "gcc", "gcc"),
    tool("make", "make", "make"),
    tool("pkg-config", "pkg-config", "pkgconf-pkg-config"),
    tool("/usr/include/stdio.h", "libc6-dev", "glibc-devel"),
    tool("/usr/include/libelf.h", "libelf-dev", "elfutils-libelf-devel"),
    tool("/usr/include/zlib.h", "zlib1g-dev", "zlib-devel"),
];
/// Needed for the testbed.
const TESTBED: [Tool; 2] = [tool("ip", "iproute2", "iproute"), tool("tc", "iproute2", "iproute-tc")];
/// Needed for the testbed's virtual machine.
const VIRTUAL: [Tool; 2] = [
    tool("qemu-system-x86_64", "qemu-system-x86", "qemu-system-x86"),
    tool("setpriv", "util-linux", "util-linux"),
];

/// Packages that the host lacks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Packages {
    /// Names in Debian and Ubuntu.
    pub debian: Vec<&'static str>,
    /// Names in Fedora.
    pub fedora: Vec<&'static str>,
}

impl Packages {
    /// Missing packages for building the eBPF programs.
    pub(crate) fn to_build() -> Packages {
        Packages::lacking(&BUILD, &std::env::var("PATH").unwrap_or_default())
    }

    /// Missing packages for the testbed.
    pub(crate) fn for_testbed() -> Packages {
        Packages::lacking(&TESTBED, &std::env::var("PATH").unwrap_or_default())
    }

    /// Missing packages for the testbed's virtual machine.
    pub(crate) fn for_virtual() -> Packages {
        Packages::lacking(&VIRTUAL, &std::env::var("PATH").unwrap_or_default())
    }

    /// Missing packages for `tools`. `path` is the search path, which does not apply to names with a leading slash.
    fn lacking(tools: &[Tool], path: &str) -> Packages {
        let is_there = |file: &str| path.split(':').any(|directory| Path::new(directory).join(file).exists());
        let lacking = || tools.iter().filter(|tool| !is_there(tool.file));
        let mut packages = Packages {
            debian: lacking().map(|tool| tool.debian).collect(),
            fedora: lacking().map(|tool| tool.fedora).collect(),
        };
        packages.debian.dedup();
        packages
    }

    /// Commands that install all missing packages; `None` if there are none.
    pub(crate) fn advice(&self) -> Option<String> {
        let (debian, fedora) = (self.debian.join(" "), self.fedora.join(" "));
        let both = format!("Debian, Ubuntu: apt-get install {debian}; Fedora: dnf install {fedora}");
        (!self.debian.is_empty()).then_some(both)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_package_that_lacks_is_named_once() {
        let nothing = Packages::lacking(&TESTBED, "/nowhere");
        let advice = "Debian, Ubuntu: apt-get install iproute2; Fedora: dnf install iproute iproute-tc";
        assert_eq!(nothing.advice().as_deref(), Some(advice));
        assert_eq!(Packages::lacking(&[tool("/", "root", "root")], "/nowhere").advice(), None);
    }
}
