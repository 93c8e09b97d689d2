//! `check`: features of this host.

use crate::Failure;
use crate::check::{self, Finding, Verdict};
use crate::laws::kernel_names;
use crate::packages::Packages;
use serde_json::{Value, json};

#[derive(clap::Args)]
pub struct Args {
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: Args) -> Result<(), Failure> {
    let findings = check::findings();
    let missing: Vec<&str> =
        findings.iter().filter(|finding| !finding.is_enough()).map(|finding| finding.name).collect();
    if args.json {
        println!("{}", document(&findings, missing.is_empty()));
    } else {
        findings.iter().for_each(|finding| println!("{finding}"));
    }
    if !missing.is_empty() {
        return Err(Failure::Host(format!("this host cannot load programs: {} missing", missing.join(", "))));
    }
    if !args.json {
        println!("this host can load {}", kernel_names().join(", "));
    }
    Ok(())
}

fn document(findings: &[Finding], can_load: bool) -> Value {
    let finding = |finding: &Finding| {
        json!({
            "name": finding.name,
            "verdict": match finding.verdict {
                Verdict::Present => "present",
                Verdict::Optional => "optional",
                Verdict::Missing => "missing",
            },
            "detail": finding.detail,
        })
    };
    let packages = |packages: Packages| json!({ "debian": packages.debian, "fedora": packages.fedora });
    json!({
        "can_load": can_load,
        "findings": findings.iter().map(finding).collect::<Vec<_>>(),
        "missing_packages": {
            "build": packages(Packages::to_build()),
            "testbed": packages(Packages::for_testbed()),
            "virtual": packages(Packages::for_virtual()),
        },
    })
}
