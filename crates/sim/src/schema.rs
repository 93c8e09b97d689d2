//! JSON Schema of a scenario file, from the declarations that read the file.

use crate::config::{ConfigError, Document, Entry, Kinds, ParamInfo, Shape, of_user};
use crate::routing::routings;
use crate::scenario::tables;
use crate::scheme::{self, schemes};
use crate::topology::topologies;
use crate::traffic::{deadlines, interarrival, sizes, traffic_kinds};
use serde_json::{Map, Value as Json, json};
use shortflow_spec::schema::{definition, kinds, parameter, properties, property, table};
use shortflow_spec::{Table, Value, check_value};

const TOPOLOGY: Kinds = Kinds {
    name: "topology",
    entries: topologies,
    others: Vec::new,
    example: "{ kind = \"star\", hosts = 3, rate = \"1Gbps\", rtt = \"300us\" }",
};
const ROUTING: Kinds =
    Kinds { name: "routing", entries: routings, others: Vec::new, example: "{ kind = \"spray\" }" };
const TRAFFIC: Kinds = Kinds {
    name: "traffic",
    entries: traffic_kinds,
    others: Vec::new,
    example: "{ kind = \"long-lived\", flows = 2 }",
};

/// All tables of a scenario, each with the name of its table or, for a kind, of the table with this kind.
/// Top-level keys have an empty name.
pub fn declared() -> Vec<(&'static str, Entry)> {
    let of_kind = |kinds: Kinds| {
        let full = move |mut entry: Entry| {
            entry.parameters.extend((kinds.others)());
            (kinds.name, entry)
        };
        (kinds.entries)().into_iter().map(full)
    };
    let plain = tables().into_iter().map(|entry| (entry.name, entry));
    let kinds =
        [TOPOLOGY, ROUTING, TRAFFIC, sizes::TABLE, sizes::PART, deadlines::TABLE, interarrival::TABLE];
    plain.chain(kinds.into_iter().flat_map(of_kind)).collect()
}

/// Errors in the values of a table, each key checked alone. `name` is a table or a kind of `table`, and
/// errors use the path `path`.
pub fn check(table: &str, name: &str, path: &str, values: &Table) -> Vec<ConfigError> {
    let found = declared().into_iter().find(|(of, entry)| *of == table && entry.name == name);
    let others: Vec<&str> = match table {
        "" => {
            let plain = tables().into_iter().map(|entry| entry.name).filter(|name| !name.is_empty());
            ["topology", "routing", "traffic", "parameters"].into_iter().chain(plain).collect()
        }
        // Tables of tiers and ports. Only the topology knows their names.
        "switch" => {
            values.iter().filter(|(_, value)| value.is_table()).map(|(key, _)| key.as_str()).collect()
        }
        _ => Vec::new(),
    };
    found.map_or(Vec::new(), |(_, entry)| shortflow_spec::check(path, &entry.parameters, &others, values))
}

/// Errors in a scenario's values, each key checked alone, after the error `first` of reading the scenario.
pub fn all_wrong(first: ConfigError, values: &Table, settings: &[(String, String)]) -> Vec<ConfigError> {
    let plain = tables();
    let plain_keys: Vec<&str> = plain[0].parameters.iter().map(|key| key.name).collect();
    let (mut found, mut used) = (vec![first], values.clone());
    let document = loop {
        match Document::new(used.clone(), of_user(settings), &plain_keys, &|_| Err(String::new())) {
            Ok(document) => break document,
            // Remove a wrong parameter, so that it does not hide other errors.
            Err(error) if remove_parameter(&mut used, &error) => {
                found.extend(Some(error).filter(|error| error.key() != found[0].key()));
            }
            Err(_) => return found,
        }
    };
    let Some(values) = document.values().as_table() else { return found };
    let kinds = [
        ("topology", Shape::Kinds(TOPOLOGY)),
        ("routing", Shape::Kinds(ROUTING)),
        ("traffic", Shape::Parts(TRAFFIC)),
    ];
    let of_kinds = kinds.into_iter().filter_map(|(name, shape)| {
        Some(check_value(name, &ParamInfo::new(name, "", shape, ""), values.get(name)?))
    });
    let of_tables = plain[1..].iter().flat_map(|entry| {
        let several = values.get(entry.name).and_then(Value::as_array).into_iter().flatten().zip(1..);
        let several = several.map(|(value, number)| (format!("{}.{number}", entry.name), value));
        let one = values.get(entry.name).map(|value| (entry.name.to_owned(), value));
        let tables =
            one.into_iter().chain(several).filter_map(|(path, value)| Some((path, value.as_table()?)));
        tables.map(|(path, table)| check(entry.name, entry.name, &path, table)).collect::<Vec<_>>()
    });
    let others = std::iter::once(check("", "", "", values)).chain(of_kinds).chain(of_tables).flatten();
    let others: Vec<_> = others.filter(|error| error.key() != found[0].key()).collect();
    found.extend(others);
    found
}

/// Removes the parameter that an error names. Returns false if the error names no parameter.
fn remove_parameter(values: &mut Table, error: &ConfigError) -> bool {
    let name = error.key().and_then(|key| key.strip_prefix("parameters."));
    let parameters = values.get_mut("parameters").and_then(Value::as_table_mut);
    name.zip(parameters).is_some_and(|(name, parameters)| parameters.remove(name).is_some())
}

/// The JSON Schema (draft 2020-12) of a scenario. It checks each key alone; only reading a scenario checks
/// values against each other. `$defs` also has the parameters of all schemes.
pub fn schema() -> Json {
    let (mut keys, mut required) = (Map::new(), vec!["topology", "traffic"]);
    for entry in tables() {
        if entry.parameters.iter().any(ParamInfo::is_required) && !entry.name.is_empty() {
            required.push(entry.name);
        }
        match entry.name {
            "" => {
                keys.extend(properties(&entry.parameters));
                required.extend(entry.parameters.iter().filter(|key| key.is_required()).map(|key| key.name));
            }
            "faults" => {
                let one = described(&entry);
                keys.insert(
                    "faults".to_owned(),
                    json!({ "anyOf": [one, { "type": "array", "items": one }] }),
                );
            }
            "switch" => drop(keys.insert("switch".to_owned(), switch(&entry))),
            name => drop(keys.insert(name.to_owned(), described(&entry))),
        }
    }
    keys.insert("parameters".to_owned(), json!({ "type": "object" }));
    keys.insert("topology".to_owned(), kinds(&topologies(), &[]));
    keys.insert("routing".to_owned(), kinds(&routings(), &[]));
    let entries = json!({ "type": "array", "items": kinds(&traffic_kinds(), &[]), "minItems": 1 });
    keys.insert("traffic".to_owned(), entries);
    let mut definitions: Map<_, _> =
        [sizes::TABLE, sizes::PART, deadlines::TABLE, interarrival::TABLE].iter().map(definition).collect();
    definitions.insert("parameter".to_owned(), parameter());
    let schemes = schemes().iter().map(|info| (info.name.clone(), scheme(&info.name)));
    definitions.insert("schemes".to_owned(), schemes.collect::<Map<_, _>>().into());
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "a Shortflow scenario",
        "type": "object",
        "properties": keys,
        "required": required,
        "additionalProperties": false,
        "$defs": definitions,
    })
}

fn described(entry: &Entry) -> Json {
    let mut schema = table(&entry.parameters);
    schema["description"] = entry.summary.into();
    schema
}

/// Schema of `[switch]`. The table of a tier takes its defaults from `[switch]`, and has a further table `up`
/// for ports that lead away from the hosts.
fn switch(entry: &Entry) -> Json {
    let table_of = |keys: Map<String, Json>| json!({ "type": "object", "properties": keys, "additionalProperties": false });
    let mut keys = properties(&entry.parameters);
    keys.remove("lossless"); // the same at all switches
    keys.insert("up".to_owned(), table_of(keys.clone()));
    let mut schema = described(entry);
    schema["additionalProperties"] = table_of(keys);
    schema
}

/// Schema of the parameters of a scheme, with the names for `--set`.
fn scheme(name: &str) -> Json {
    let parameters = scheme::parameters(name).unwrap_or_default();
    let all = parameters.iter().map(|(key, info)| (key.clone(), property(info)));
    json!({ "type": "object", "properties": all.collect::<Map<_, _>>(), "additionalProperties": false })
}
