//! Pages of the documentation, of which a part is written by a program.

use std::path::Path;

/// Replaces what is between the markers of the part `name`, two comments, by `text`.
pub fn write_part(path: &Path, name: &str, text: &str) -> Result<(), String> {
    let [begin, end] = ["begin", "end"].map(|edge| format!("<!-- written by `{name}`: {edge} -->"));
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    let missing = |marker: &str| format!("{}: no line `{marker}`", path.display());
    let page = std::fs::read_to_string(path).map_err(failed)?;
    let (before, rest) = page.split_once(&begin).ok_or_else(|| missing(&begin))?;
    let (_, after) = rest.split_once(&end).ok_or_else(|| missing(&end))?;
    std::fs::write(path, format!("{before}{begin}\n\n{text}\n{end}{after}")).map_err(failed)
}
