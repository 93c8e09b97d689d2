//! Output of the commands that need no privileges and no kernel.
#![cfg(feature = "bpf")]

use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

const PROGRAM: &str = env!("CARGO_BIN_EXE_shortflow-deploy");

/// Exit code and output.
fn output_of(arguments: &[&str]) -> (i32, String) {
    let output = Command::new(PROGRAM).args(arguments).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&text).into_owned())
}

#[test]
fn check_ends_with_a_verdict_and_names_packages() {
    let check = |arguments: &[&str]| {
        let output =
            Command::new(PROGRAM).arg("check").args(arguments).env("PATH", "/nowhere").output().unwrap();
        (output.status.code(), [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap()))
    };
    let (code, [text, reasons]) = check(&[]);
    let (last, verdict) = match code {
        Some(0) => (text.lines().last(), "this host can load sf_dctcp"),
        _ => (reasons.lines().last(), "this host cannot load programs: "),
    };
    assert!(last.unwrap().contains(verdict), "{text}{reasons}");
    let of_testbed = "apt-get install iproute2; Fedora: dnf install iproute iproute-tc";
    let of_machine =
        "apt-get install qemu-system-x86 util-linux; Fedora: dnf install qemu-system-x86 util-linux\n";
    assert!(text.contains(of_testbed) && text.contains(of_machine), "{text}");
    let document: Value = serde_json::from_str(&check(&["--json"]).1[0]).unwrap();
    assert_eq!(document["can_load"], code == Some(0));
    assert_eq!(document["missing_packages"]["testbed"]["debian"], json!(["iproute2"]));
    assert_eq!(document["missing_packages"]["build"]["fedora"][0], "clang");
}

/// Bash completions of the last word.
fn offered(words: &[&str]) -> String {
    let line = r#"source <("$0" completions bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
        _shortflow__deploy "$1" "${!#}" "${COMP_WORDS[-2]}"; echo "${COMPREPLY[*]}""#;
    let output = Command::new("bash").args(["-c", line, PROGRAM, "shortflow-deploy"]).args(words).output();
    String::from_utf8(output.unwrap().stdout).unwrap()
}

#[test]
fn bash_completes_names_parameters_and_rules() {
    assert!(offered(&["load", "sf_"]).starts_with("sf_dctcp sf_d2tcp "), "{}", offered(&["load", "sf_"]));
    assert!(offered(&["load", "sf_dctcp", "--"]).contains("--param"));
    assert!(offered(&["load", "sf_dctcp", "--param", "initial_"]).starts_with("initial_alpha="));
    assert_eq!(offered(&["dscp", "lo", "--by", ""]), "size remaining sent deadline none\n");
}

#[test]
fn every_command_has_a_manual_page() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR"));
    assert_eq!(output_of(&["manual", directory.to_str().unwrap()]), (0, String::new()));
    let page = |name: &str| std::fs::read_to_string(directory.join(name)).unwrap();
    assert!(page("shortflow-deploy.1").contains("shortflow\\-deploy\\-unload(1)"));
    assert!(page("shortflow-deploy-load.1").contains("\\-\\-param"));
    let (code, text) = output_of(&["manual", "/nowhere"]);
    assert!(code == 2 && text.starts_with("/nowhere: "), "{code}: {text}");
}

#[test]
fn errors_name_the_expected_input() {
    for (arguments, says) in [
        (&["load", "sf_dctpc"][..], "did you mean \"sf_dctcp\""),
        (&["load", "dctcp", "--param", "gg=1"], "did you mean \"g\""),
        (&["load", "dctcp", "--param", "g=2"], "a number from 0 to 1"),
        (&["load", "dctcp", "--param", "g"], "KEY=VALUE"),
        (&["load", "l2dct", "--param", "w_min=3"], "w_max"),
        (&["unload", "sf_quic"], "known are"),
        (&["class", "7000=tall"], "short, long, none"),
    ] {
        let (code, text) = output_of(arguments);
        assert!(code == 2 && text.contains(says), "{arguments:?}: {code} {text}");
    }
}
