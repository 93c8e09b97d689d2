//! JSON Schema (draft 2020-12) of tables. A `"$name"`, or arithmetic over such names, may stand for any value.

use crate::document::{shown, value_of};
use crate::shape::{Entry, Kinds, ParamInfo, Shape, Unit};
use crate::text::Text;
use serde_json::{Map, Value as Json, json};
use shortflow_units::{Bytes, Rate, Span};
use toml::Value;

/// Schema `#/$defs/parameter`: an expression over parameters instead of a value.
pub fn parameter() -> Json {
    let pattern = "\\$[A-Za-z]";
    json!({ "description": "a name that [parameters] declares, or arithmetic such as \"$total / $servers\"", "type": "string", "pattern": pattern })
}

/// Schema of a table with these keys and no others.
pub fn table(keys: &[ParamInfo]) -> Json {
    let required: Vec<&str> = keys.iter().filter(|key| key.is_required()).map(|key| key.name).collect();
    json!({ "type": "object", "properties": properties(keys), "required": required, "additionalProperties": false })
}

/// Name and schema of the entry of `$defs` for these kinds.
pub fn definition(kinds: &Kinds) -> (String, Json) {
    (kinds.name.to_owned(), self::kinds(&(kinds.entries)(), &(kinds.others)()))
}

/// Schema of a table whose keys depend on its `kind`; every kind also has the keys `others`.
pub fn kinds(entries: &[Entry], others: &[ParamInfo]) -> Json {
    let names: Vec<&str> = entries.iter().map(|entry| entry.name).collect();
    let choice = |entry: &Entry| {
        let mut keys = table(&[&entry.parameters, others].concat());
        keys["description"] = entry.summary.into();
        keys["properties"]["kind"] = json!({ "const": entry.name });
        let kind = json!({ "properties": { "kind": { "const": entry.name } }, "required": ["kind"] });
        json!({ "if": kind, "then": keys })
    };
    json!({
        "type": "object",
        "properties": { "kind": or_parameter(json!({ "enum": names })) },
        "required": ["kind"],
        "allOf": entries.iter().map(choice).collect::<Vec<_>>(),
    })
}

/// Schemas of the keys, by name.
pub fn properties(keys: &[ParamInfo]) -> Map<String, Json> {
    keys.iter().map(|key| (key.name.to_owned(), property(key))).collect()
}

/// Schema of a key, with its description and default.
pub fn property(key: &ParamInfo) -> Json {
    let mut property = or_parameter(value(&key.shape));
    property["description"] = format!("{} (expected: {})", key.summary, key.shape).into();
    if !key.is_required() && !key.default.is_empty() {
        property["default"] = json_of(&value_of(&key.default));
    }
    property
}

/// Schema that accepts `schema` or a parameter.
fn or_parameter(schema: Json) -> Json {
    json!({ "anyOf": [schema, { "$ref": "#/$defs/parameter" }] })
}

/// Schema of a value of this shape.
fn value(shape: &Shape) -> Json {
    match shape {
        Shape::Whole { low, high, step: 1 } => {
            json!({ "type": "integer", "minimum": low, "maximum": high })
        }
        Shape::Whole { low, high, step } => {
            json!({ "type": "integer", "minimum": low, "maximum": high, "multipleOf": step })
        }
        Shape::Real { low, high, above } => {
            let minimum = if *above { "exclusiveMinimum" } else { "minimum" };
            json!({ "type": "number", minimum: low, "maximum": high })
        }
        Shape::Quantity { unit, low, .. } => {
            let zero = !matches!(unit, Unit::Rate | Unit::Threshold | Unit::Window)
                && low.as_ref().is_none_or(|low| low.starts_with('0'));
            json!({ "type": "string", "pattern": quantity(*unit, zero) })
        }
        Shape::Words(words) => json!({ "enum": words }),
        Shape::Flag => json!({ "type": "boolean" }),
        Shape::Text(text) => json!({ "type": "string", "pattern": pattern(*text) }),
        Shape::Hosts | Shape::Host => {
            let host = json!({ "type": "integer", "minimum": 0 });
            let name_or_range = json!({ "type": "string", "pattern": r"\S" });
            let list = json!({ "type": "array", "items": { "anyOf": [host, name_or_range] }, "minItems": 1 });
            json!({ "anyOf": [host, name_or_range, list] })
        }
        Shape::List(item, _) => json!({ "type": "array", "items": value(item) }),
        Shape::KeywordOr(word, other) => json!({ "anyOf": [{ "const": word }, value(other)] }),
        Shape::Table(keys) => table(&keys()),
        Shape::Kinds(kinds) => json!({ "$ref": format!("#/$defs/{}", kinds.name) }),
        Shape::Parts(parts) => {
            json!({ "type": "array", "items": { "$ref": format!("#/$defs/{}", parts.name) }, "minItems": 1 })
        }
    }
}

/// Regular expression for a number with a unit; `zero` tells if zero matches.
fn quantity(unit: Unit, zero: bool) -> String {
    let names = |units: &[(&'static str, u64)]| units.iter().map(|(name, _)| *name).collect::<Vec<_>>();
    let units = match unit {
        Unit::Time => names(Span::UNITS),
        Unit::Size => names(Bytes::UNITS),
        Unit::Rate => names(Rate::UNITS),
        Unit::Queue | Unit::Threshold => [names(Bytes::UNITS), vec!["pkt"]].concat(),
        Unit::Window => vec!["pkt"],
    }
    .join("|");
    let some = if zero { "" } else { "(?=[^1-9]*[1-9])" };
    let number = format!(r"{some}\s*[0-9][0-9_]*(\.[0-9_]*)?\s*({units})");
    let unlimited =
        if matches!(unit, Unit::Queue | Unit::Threshold | Unit::Window) { "|unlimited" } else { "" };
    format!(r"^({number}{unlimited})\s*$")
}

/// Regular expression for text of this form.
fn pattern(text: Text) -> &'static str {
    match text {
        Text::Line(_) | Text::Tier | Text::Transport | Text::FlowFile | Text::SizeFile | Text::NodeFile => {
            r"\S"
        }
        Text::Name => "^[a-z][a-z0-9_-]*$",
        Text::Port => ".->.",
        Text::Link => ".-.",
        Text::RisingSizes => "^[^,]+(,[^,]+){0,6}$",
        Text::RateCurves | Text::PriorityThresholds => r"^[^;]+(;[^;]+)*$",
        Text::NetworkFile => r"\.(csv|graphml|xml)$",
    }
}

fn json_of(value: &Value) -> Json {
    match value {
        Value::Integer(number) => json!(number),
        Value::Float(number) => json!(number),
        Value::Boolean(flag) => json!(flag),
        Value::Array(items) => items.iter().map(json_of).collect(),
        other => json!(shown(other)),
    }
}
