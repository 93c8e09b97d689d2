//! Errors and warnings of scenarios and schemes, as users read them.

use crate::golden::check;
use shortflow_sim::scenario::Scenario;
use shortflow_sim::service::ServiceModel;

const HEAD: &str =
    "title = \"errors\"\nduration = \"1s\"\nswitch = { buffer = \"250pkt\", mark_above = \"20pkt\" }\n";

/// `golden/errors.txt` has scenarios without [`HEAD`] and schemes and, below each, settings beside the error or what is told
/// of the scenario that has them. `without TEXT` takes that text away.
#[test]
fn every_mistake_is_named_with_its_key() {
    let (mut base, mut got) = (String::new(), String::new());
    for line in include_str!("golden/errors.txt").lines() {
        let Some((settings, _)) = line.split_once(" →") else {
            base = if line.starts_with("==") { line.to_owned() + "\n" } else { format!("{base}{line}\n") };
            got += &format!("{line}\n");
            continue;
        };
        let (mut text, mut pairs) = (HEAD.to_owned() + base.split_once('\n').unwrap().1, Vec::new());
        for setting in settings.split("; ") {
            match setting.strip_prefix("without ") {
                Some(part) => {
                    assert!(text.contains(part), "{setting}: there is no such text");
                    text = text.replace(part, "");
                }
                None => {
                    let pair = setting.split_once(" = ").unwrap_or_else(|| panic!("{setting}: no setting"));
                    pairs.push((pair.0.to_owned(), pair.1.to_owned()));
                }
            }
        }
        let told = match base.trim_end().strip_prefix("== scheme ") {
            Some(name) => ServiceModel::named(name, &pairs).map(|_| "accepted".to_owned()),
            None => Scenario::parse(&text, "errors", &pairs, &|_| Err("no such file".to_owned())).map(
                |scenario| {
                    let expected: Vec<_> =
                        scenario.expected().iter().map(|flows| flows.to_string()).collect();
                    format!("accepted {expected:?} {:?} {:?}", scenario.notes(), scenario.warnings())
                },
            ),
        };
        let told = told.unwrap_or_else(|error| error.to_string().replace('\n', "\\n"));
        got += &format!("{settings} → {told}\n");
    }
    check("errors.txt", &got);
}
