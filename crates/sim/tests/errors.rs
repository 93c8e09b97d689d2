//! Errors and warnings of scenarios and schemes, as users read them.

use crate::golden::check;
use shortflow_sim::scenario::Scenario;
use shortflow_sim::service::ServiceModel;
use std::collections::BTreeMap;

const HEAD: &str =
    "title = \"errors\"\nduration = \"1s\"\nswitch = { buffer = \"250pkt\", mark_above = \"20pkt\" }\n";

/// Text of a scenario, and its files by name.
#[derive(Default)]
struct Written(String, BTreeMap<String, String>);

impl Written {
    /// Changes the text or a file as `part` says. Returns false if `part` is a setting.
    fn change(&mut self, part: &str) -> bool {
        let (Written(text, files), part) = (self, &*part.replace("\\n", "\n"));
        if let Some(gone) = part.strip_prefix("without ") {
            assert!(text.contains(gone), "{part}: there is no such text");
            *text = text.replace(gone, "");
        } else if let Some((file, content)) = part.split_once(" < ") {
            files.insert(file.to_owned(), content.to_owned());
        } else if let Some((file, line)) = part.split_once(" << ") {
            *files.get_mut(file).unwrap() += &format!("{line}\n");
        } else if let Some((file, (old, new))) =
            part.split_once(" ~ ").and_then(|(file, change)| Some((file, change.split_once(" ~ ")?)))
        {
            let content = files.get_mut(file).unwrap();
            assert!(content.contains(old), "{part}: there is no such text");
            *content = content.replace(old, new);
        } else {
            return false;
        }
        true
    }
}

/// `golden/errors.txt` has scenarios (without [`HEAD`]) and schemes. Below each are settings, with the error or the
/// messages that the scenario gets with them. `without TEXT` removes a text. `FILE < TEXT` writes a file; in a
/// comment of the scenario, the scenario always has this file. `FILE << LINE` appends a line to a file, and `FILE ~
/// OLD ~ NEW` replaces text in it.
#[test]
fn every_mistake_is_named_with_its_key() {
    let (mut base, mut got) = (String::new(), String::new());
    for line in include_str!("golden/errors.txt").lines() {
        let Some((settings, _)) = line.split_once(" →") else {
            base = if line.starts_with("==") { line.to_owned() + "\n" } else { format!("{base}{line}\n") };
            got += &format!("{line}\n");
            continue;
        };
        let mut written = Written(HEAD.to_owned() + base.split_once('\n').unwrap().1, BTreeMap::new());
        let files = base.lines().filter_map(|line| line.strip_prefix("# "));
        files.for_each(|file| assert!(written.change(file), "{file}: no file"));
        let settings_only = settings.split("; ").filter(|part| !written.change(part));
        let pair = |part: &str| {
            let pair = part.split_once(" = ").unwrap_or_else(|| panic!("{part}: no setting"));
            (pair.0.to_owned(), pair.1.to_owned())
        };
        let pairs: Vec<_> = settings_only.map(pair).collect();
        let Written(text, files) = written;
        let files = |name: &str| files.get(name).cloned().ok_or_else(|| "no such file".to_owned());
        let told = match base.trim_end().strip_prefix("== scheme ") {
            Some(name) => ServiceModel::named(name, &pairs).map(|_| "accepted".to_owned()),
            None => Scenario::parse(&text, "errors", &pairs, &files).map(|scenario| {
                let expected: Vec<_> = scenario.expected().iter().map(|flows| flows.to_string()).collect();
                format!("accepted {expected:?} {:?} {:?}", scenario.notes(), scenario.warnings())
            }),
        };
        let told = told.unwrap_or_else(|error| error.to_string().replace('\n', "\\n"));
        got += &format!("{settings} → {told}\n");
    }
    check("errors.txt", &got);
}
