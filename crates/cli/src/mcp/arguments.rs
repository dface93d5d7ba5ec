//! A tool's arguments: what clap knows of a command, as a schema; and a call's, as a command line.
//!
//! A tool takes what its command takes, by the same names and with the same words, so that neither can fall behind the other.

use std::fmt::Write;

use clap::{Arg, ArgAction, CommandFactory};
use serde_json::{Map, Value, json};

use crate::args::Arguments;

/// What a tool has no use for: how the answer is written, what people and CI are told beside it, and files for people.
const LEFT_OUT: [&str; 7] = ["format", "json", "quiet", "github", "html", "help", "version"];
/// Arguments that are whole numbers; those may also come as texts.
const NUMBERS: [&str; 5] = ["iterations", "jobs", "threads", "steps", "bytes"];

/// The arguments of a command that a tool takes.
fn arguments(command: &str) -> Vec<Arg> {
    let mut all = Arguments::command();
    all.build();
    let found = all.find_subcommand(command).map(|command| command.get_arguments().cloned().collect::<Vec<_>>());
    let taken = |arg: &Arg| !arg.is_hide_set() && !LEFT_OUT.contains(&arg.get_id().as_str());
    found.unwrap_or_default().into_iter().filter(taken).collect()
}

/// The schema of a tool's arguments.
pub(super) fn schema(command: &str) -> Map<String, Value> {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for arg in arguments(command) {
        let name = arg.get_id().as_str().to_owned();
        let mut property = kind(&arg);
        property["description"] = arg.get_help().map(ToString::to_string).unwrap_or_default().into();
        if arg.is_required_set() {
            required.push(name.clone());
        }
        properties.insert(name, property);
    }
    let schema = json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    });
    match schema {
        Value::Object(schema) => schema,
        _ => Map::new(),
    }
}

fn kind(arg: &Arg) -> Value {
    let words: Vec<String> = arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
    match arg.get_action() {
        ArgAction::SetTrue => json!({ "type": "boolean" }),
        _ if takes_several(arg) => json!({ "type": ["array", "string"], "items": { "type": "string" } }),
        _ if NUMBERS.contains(&arg.get_id().as_str()) => json!({ "type": ["integer", "string"], "minimum": 0 }),
        _ if !words.is_empty() => json!({ "type": "string", "enum": words }),
        _ => json!({ "type": "string" }),
    }
}

fn takes_several(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::Append) || arg.get_num_args().is_some_and(|range| range.max_values() > 1)
}

/// The command line that a call means, or what is wrong with its arguments.
pub(super) fn command_line(command: &str, given: &Map<String, Value>) -> Result<Vec<String>, String> {
    let known = arguments(command);
    let named = |name: &str| known.iter().find(|arg| arg.get_id() == name);
    let names = || known.iter().map(|arg| format!("`{}`", arg.get_id())).collect::<Vec<_>>().join(", ");
    if let Some(unknown) = given.keys().find(|name| named(name).is_none()) {
        return Err(format!("`{command}` has no argument `{}`; it takes {}", unknown.escape_debug(), names()));
    }
    let (mut options, mut positional, mut last) = (Vec::new(), Vec::new(), Vec::new());
    for arg in &known {
        let name = arg.get_id().as_str();
        let value = given.get(name).unwrap_or(&Value::Null);
        if value.is_null() {
            if arg.is_required_set() {
                return Err(format!("`{command}` needs the argument `{name}`"));
            }
            continue;
        }
        if matches!(arg.get_action(), ArgAction::SetTrue) {
            match value.as_bool() {
                Some(true) => options.extend(arg.get_long().map(|long| format!("--{long}"))),
                Some(false) => {}
                None => return Err(wrong(name, "`true` or `false`", value)),
            }
            continue;
        }
        let texts = match value {
            Value::Array(values) if takes_several(arg) => {
                values.iter().map(|value| text(name, value)).collect::<Result<Vec<_>, _>>()?
            }
            value => vec![text(name, value)?],
        };
        match arg.get_long() {
            // Joined, so that no value can pose as an option.
            Some(long) => options.extend(texts.iter().map(|text| format!("--{long}={text}"))),
            None if arg.is_last_set() => last.extend(texts),
            None => {
                if let Some(dash) = texts.iter().find(|text| text.starts_with('-')) {
                    return Err(format!("`{name}` is {dash:?}, but nothing has a name that begins with a dash"));
                }
                positional.extend(texts);
            }
        }
    }
    let mut line = vec!["drawloom".to_owned(), command.to_owned()];
    line.extend(options);
    line.extend(positional);
    if !last.is_empty() {
        line.push("--".to_owned());
        line.extend(last);
    }
    Ok(line)
}

fn text(name: &str, value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        other => Err(wrong(name, "a text or a number", other)),
    }
}

fn wrong(name: &str, wanted: &str, value: &Value) -> String {
    let mut shown = String::new();
    let _ = write!(shown, "{value}");
    let shown: String = shown.chars().take(60).collect();
    format!("`{name}` takes {wanted}, not {shown}")
}
