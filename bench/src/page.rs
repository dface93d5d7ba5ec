//! Pages of the documentation, of which a part is written by a program.

use std::path::Path;

/// Replaces what is between the markers of the part `name`, two comments, by `text`.
pub fn write_part(path: &Path, name: &str, text: &str) -> Result<(), String> {
    let [begin, end] = ["begin", "end"].map(|edge| format!("<!-- written by `{name}`: {edge} -->"));
    let page = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let (before, rest) = page.split_once(&begin).ok_or(format!("no line `{begin}`"))?;
    let (_, after) = rest.split_once(&end).ok_or(format!("no line `{end}`"))?;
    let page = format!("{before}{begin}\n\n{text}\n{end}{after}");
    std::fs::write(path, page).map_err(|error| error.to_string())
}
