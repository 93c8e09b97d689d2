//! `--set`, parameters and errors of the file as a whole.

use super::*;

fn read_with<T>(
    toml: &str,
    settings: &[(&str, &str)],
    read: impl FnOnce(&Document) -> Result<T, ConfigError>,
) -> Result<T, ConfigError> {
    let settings: Vec<(String, String)> =
        settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let no_files = |_: &str| Err("no such file".to_owned());
    let document = Document::parse(toml, "test.toml", &settings, &["duration"], &no_files)?;
    read(&document)
}

const TOML: &str = "
duration = '2s'
[parameters]
load = 0.2
[topology]
rate = '1Gbps'
[[traffic]]
load = '$load'
[[traffic]]
sizes = { kind = 'fixed' }
";

/// `traffic.1.load`, `topology.rate` and where the former came from.
fn read_load_and_rate(settings: &[(&str, &str)]) -> Result<(f64, String, Source), ConfigError> {
    read_with(TOML, settings, |document| {
        let top = Reader::new(document);
        let load = top.tables("traffic")?[0].required("load", &Positive(10.0))?;
        let rate = top.table("topology")?.required("rate", &RATE)?.to_string();
        let source = document.resolved().into_iter().find(|setting| setting.key == "traffic.1.load");
        Ok((load, rate, source.map_or(Source::Default, |setting| setting.source)))
    })
}

fn text_error(toml: &str) -> String {
    read_toml(toml, |_| Ok(())).unwrap_err().to_string()
}

#[test]
fn parameters_stand_for_values() {
    let parameter = Source::Expression("$load".to_owned(), None);
    assert_eq!(read_load_and_rate(&[]).unwrap(), (0.2, "1Gbps".to_owned(), parameter.clone()));
    assert_eq!(read_load_and_rate(&[("load", "0.4")]).unwrap().0, 0.4);
    assert_eq!(
        read_load_and_rate(&[("parameters.load", "1")]).unwrap(),
        (1.0, "1Gbps".to_owned(), parameter)
    );
}

#[test]
fn paths_replace_values_and_numbers_count_entries() {
    // The parameter is then unused, which is only an error if it was declared.
    let toml = "[topology]\nrate = '1Gbps'\n[[traffic]]\nload = 1\n[[traffic]]\nload = 2";
    let loads = |settings: &[(&str, &str)]| {
        read_with(toml, settings, |document| {
            Reader::new(document)
                .tables("traffic")?
                .iter()
                .map(|entry| entry.required("load", &Positive(10.0)))
                .collect::<Result<Vec<_>, _>>()
        })
    };
    assert_eq!(loads(&[("traffic.2.load", "0.5")]).unwrap(), [1.0, 0.5]);
    assert_eq!(read_load_and_rate(&[("topology.rate", "10Gbps")]).unwrap().1, "10Gbps");
}

#[test]
fn new_tables_may_be_set() {
    let value = read_with("", &[("host.buffer", "9pkt")], |document| {
        Reader::new(document).table("host")?.required("buffer", &OCCUPANCY)
    });
    assert_eq!(value.unwrap().to_string(), "9pkt");
}

#[test]
fn a_value_is_toml_or_else_text() {
    use crate::document::value_of;
    for (text, toml) in [("0.4", "0.4"), ("3", "3"), ("true", "true"), ("[1, 2]", "[1, 2]"), (".5", "0.5")] {
        assert_eq!(value_of(text).to_string(), toml);
    }
    for text in ["1Gbps", "0-19", "all", "", "1\nother = 2", "[1"] {
        assert_eq!(value_of(text).as_str(), Some(text));
    }
    assert_eq!(value_of("{ kind = 'fixed' }").get("kind").and_then(toml::Value::as_str), Some("fixed"));
}

#[test]
fn parameters_must_be_used_and_well_named() {
    let unused = text_error("a = 1\n[parameters]\nload = 0.2");
    assert_eq!(
        unused,
        "parameters.load: no value of the scenario uses \"$load\"; use or remove the parameter"
    );
    let misspelt =
        text_error("[parameters]\nload = 0.2\nrate = 1\n[traffic]\nload = '$laod'\nrate = '$rate'");
    assert_eq!(misspelt, "traffic.load: \"$laod\": there is no parameter \"laod\"; did you mean \"load\"?");
    let replaced = read_load_and_rate(&[("traffic.1.load", "0.3")]).unwrap();
    assert_eq!((replaced.0, replaced.2), (0.3, Source::Set), "--set may replace the only use");
    assert!(text_error("[parameters]\n'a b' = 1").starts_with("parameters: \"a b\" is not a parameter name"));
    assert_eq!(text_error("parameters = 3"), "parameters: 3 is not a table of keys");
}

#[test]
fn arithmetic_over_parameters_stands_for_values() {
    let (load, rate, source) = read_load_and_rate(&[
        ("load", "3"),
        ("traffic.1.load", "$load / 4"),
        ("topology.rate", "$load * 2.5Gbps"),
    ])
    .unwrap();
    assert_eq!((load, rate.as_str()), (0.75, "7.5Gbps"));
    assert_eq!(source.to_string(), "parameters: $load / 4");
    let (_, _, rounded) = read_load_and_rate(&[("traffic.1.load", "$load * 9B / 8B")]).unwrap();
    assert_eq!(rounded.to_string(), "parameters: $load * 9B / 8B");
}

#[test]
fn a_title_may_begin_with_a_dollar_sign() {
    let title = read_toml("title = '$5 switches'", |top| top.required("title", &Text::Line("a title")));
    assert_eq!(title.unwrap(), "$5 switches");
}

#[test]
fn a_title_has_no_control_characters() {
    for hidden in ["\\u001b[31m", "\\u202e", "\\u200b", "\\n"] {
        let text = format!("title = \"a{hidden}b\"");
        let error =
            read_toml(&text, |top| top.required("title", &Text::Line("a title"))).unwrap_err().to_string();
        assert!(error.contains("is not a line of visible characters on a title"), "{error}");
    }
}

#[test]
fn syntax_errors_name_file_and_line() {
    for (text, wanted) in [
        ("a = 1\nb = 2s\n", "text:2: b: "),
        ("a = 1\nb = = 2\n", "text:2: b: "),
        ("a = 1\na = 2\n", "text:2: a: duplicate key"),
        ("a = [1, 2\nb = 3\n", "text:2: missing comma"),
    ] {
        let error = text_error(text);
        assert!(error.starts_with(wanted) && !error.contains('\n'), "{error}");
    }
}

#[test]
fn errors_of_keys_name_file_and_line_in_the_order_of_the_file() {
    let value = |key: &str| ConfigError::Impossible { key: key.to_owned(), reason: "wrong".to_owned() };
    let keys =
        ["traffic.2.sizes.kind", "traffic.1.load", "topology.rate", "parameters.load", "traffic.2.x", "host"];
    let errors: Vec<ConfigError> = keys.map(value).into();
    let told = |settings: &[(&str, &str)]| {
        let settings: Vec<_> = settings.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        located(&errors, "a.toml", TOML, &settings).to_string()
    };
    let unset = "a.toml: host: wrong\na.toml:4: traffic.1.load: wrong\na.toml:6: topology.rate: wrong\n\
                 a.toml:9: traffic.2.x: wrong\na.toml:10: traffic.2.sizes.kind: wrong\na.toml:4: parameters.load: wrong";
    assert_eq!(told(&[]), unset);
    let set = told(&[("load", "2"), ("topology.rate", "1bps")]);
    assert!(
        set.starts_with("traffic.1.load: wrong\ntopology.rate: wrong\na.toml: host")
            && set.ends_with("parameters.load: wrong"),
        "{set}"
    );
}

#[test]
fn a_parameter_has_no_name_of_a_key() {
    assert_eq!(
        read_with("[parameters]\nduration = 0.3\n[a]\nb = '$duration'", &[], |_| Ok(()))
            .unwrap_err()
            .to_string(),
        "parameters: \"duration\" is not a parameter name such as \"load\" (letters, digits and \"_\", and no key of \
         the scenario)"
    );
}

#[test]
fn many_wrong_rows_are_counted_rather_than_listed() {
    let row = |line| RowError { file: "x.csv".to_owned(), line, reason: "wrong".to_owned() };
    let text = ConfigError::File((1..=25).map(row).collect()).to_string();
    assert_eq!(text, "x.csv:1: wrong (and 24 more rows like this one, up to line 25)");
    let all_differ = |line: u64| RowError { reason: "x".repeat(line as usize), ..row(line) };
    let text = ConfigError::File((1..=25).map(all_differ).collect()).to_string();
    assert_eq!(text.lines().count(), 21);
    assert!(text.ends_with("\nand 5 more wrong rows"), "{text}");
}
