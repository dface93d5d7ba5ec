//! Reports of scripted executions: every screen, the trace file, and the key of causes.

mod cause;
mod file;
mod hostile;
mod languages;
mod minimised;
mod python;
mod screens;
mod script;
mod traces;
