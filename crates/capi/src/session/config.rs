//! A configuration: keys and values, as texts.
//!
//! The keys are the arguments of the one grammar that all front ends have, those of a strategy among them; and a few of our own.

use std::ffi::{CString, c_char};

use drawloom_engine::config::{Config, ConfigError};

use crate::speak::text;
use crate::status::*;

/// What a session is asked for.
#[derive(Clone, Debug)]
pub struct drawloom_config {
    strategy: String,
    arguments: Vec<(String, String)>,
    config: Config,
    /// Whether the environment has a say.
    pub(crate) environment: bool,
    /// Whether a report is printed.
    pub(crate) quiet: bool,
    error: CString,
}

impl Default for drawloom_config {
    fn default() -> Self {
        let none = String::new();
        let error = CString::default();
        let config = Config::new();
        drawloom_config { strategy: none, arguments: Vec::new(), config, environment: true, quiet: false, error }
    }
}

impl drawloom_config {
    /// The configuration that all keys together come to.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Sets a key.
    ///
    /// # Errors
    ///
    /// Why there is no such key, or no such value of it.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let flag = |value: &str| match value {
            "true" | "1" => Ok(true),
            "false" | "0" => Ok(false),
            other => Err(format!("`{key}` must be true or false, not `{other}`")),
        };
        match key {
            "environment" => self.environment = flag(value)?,
            "quiet" => self.quiet = flag(value)?,
            _ => {
                let mut next = self.clone();
                match key {
                    "strategy" => next.strategy = value.to_owned(),
                    "replay" => {
                        next.strategy = format!("replay(token = {})", quoted(value));
                    }
                    _ => {
                        next.arguments.retain(|(known, _)| known != key);
                        next.arguments.push((key.to_owned(), value.to_owned()));
                    }
                }
                next.config = next.parsed(key)?;
                *self = next;
            }
        }
        Ok(())
    }

    /// All keys, in the one grammar. What is no argument of every strategy is one of this one.
    fn parsed(&self, newest: &str) -> Result<Config, String> {
        let is_shared = |key: &str, value: &str| assignment(key, value).is_some();
        let (shared, own): (Vec<_>, Vec<_>) =
            self.arguments.iter().partition(|(key, value)| is_shared(key, value) || self.strategy.is_empty());
        let written = |arguments: &[&(String, String)]| -> Vec<String> {
            arguments.iter().map(|(k, v)| assignment(k, v).unwrap_or_else(|| format!("{k} = {v}"))).collect()
        };
        let mut parts = Vec::new();
        if !self.strategy.is_empty() {
            parts.push(match (self.strategy.strip_suffix(')'), own.is_empty()) {
                (_, true) => self.strategy.clone(),
                (Some(open), false) => format!("{open}, {})", written(&own).join(", ")),
                (None, false) => format!("{}({})", self.strategy, written(&own).join(", ")),
            });
        }
        parts.extend(written(&shared));
        let parsed: Result<Config, ConfigError> = parts.join(", ").parse();
        parsed.map_err(|error| format!("`{newest}`: {error}"))
    }
}

/// `key = value`, if that is an argument of every strategy.
fn assignment(key: &str, value: &str) -> Option<String> {
    let forms = [format!("{key} = {value}"), format!("{key} = {}", quoted(value))];
    forms.into_iter().find(|form| form.parse::<Config>().is_ok())
}

fn quoted(value: &str) -> String {
    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
}

/// The version of this interface: the major number in the upper 16 bits.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_abi_version() -> u32 {
    1 << 16
}

/// A configuration that asks for nothing in particular. To be freed.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_config_new() -> *mut drawloom_config {
    Box::into_raw(Box::default())
}

/// Sets `key` to `value`: "strategy", "seed", "iterations", "max_steps" … as the reference page of configurations has them;
/// "replay" to a token; "environment" to "false", so that `DRAWLOOM_STRATEGY` and the like have no say; "quiet" to "true", so that
/// nothing is printed. What is wrong, `drawloom_config_error` says.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_config_set(
    config: *mut drawloom_config,
    key: *const c_char,
    value: *const c_char,
) -> drawloom_status {
    // SAFETY: it is null or one that `drawloom_config_new` has made and nobody has freed, as the caller vouches.
    let (Some(config), Some(key), Some(value)) = (unsafe { config.as_mut() }, text(key), text(value)) else {
        return DRAWLOOM_E_NULL;
    };
    match config.set(&key, &value) {
        Ok(()) => DRAWLOOM_OK,
        Err(error) => {
            config.error = CString::new(error.replace('\0', " ")).unwrap_or_default();
            DRAWLOOM_E_CONFIG
        }
    }
}

/// What was wrong with the last key that could not be set; empty if nothing was. It lives until the next is set.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_config_error(config: *const drawloom_config) -> *const c_char {
    // SAFETY: as in `drawloom_config_set`.
    unsafe { config.as_ref() }.map_or(c"there is no configuration".as_ptr(), |config| config.error.as_ptr())
}

/// Frees a configuration. It may be null.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_config_free(config: *mut drawloom_config) {
    if !config.is_null() {
        // SAFETY: `drawloom_config_new` has made it, and nobody has freed it, as the caller vouches.
        drop(unsafe { Box::from_raw(config) });
    }
}
