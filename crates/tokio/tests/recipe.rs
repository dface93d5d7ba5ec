//! The dependency that book/src/how-to/async.md tells people to add does what it says.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const DOCS: &str = include_str!("../../../book/src/how-to/async.md");

/// A library that loses an increment, with a unit test of it.
const LIBRARY: &str = "
pub async fn add(count: std::sync::Arc<tokio::sync::Mutex<u32>>) {
    let seen = *count.lock().await;
    *count.lock().await = seen + 1;
}

#[cfg(test)]
mod tests {
    #[tokio::test(flavor = \"multi_thread\")]
    async fn both_arrive() {
        let count = std::sync::Arc::new(tokio::sync::Mutex::new(0));
        let other = tokio::spawn(super::add(count.clone()));
        super::add(count.clone()).await;
        other.await.unwrap();
        assert_eq!(*count.lock().await, 2);
    }
}
";

/// The first block of code of that language in the section.
fn block<'a>(section: &'a str, language: &str) -> &'a str {
    let from = section.split_once(&format!("```{language}\n")).expect("there is such a block").1;
    from.split_once("```").expect("it ends").0
}

/// A project as the page says, with drawloom from this checkout and the versions of the workspace.
fn project() -> PathBuf {
    let section = DOCS.split_once("## A dependency for tests").expect("the section").1;
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let version = "drawloom-tokio = \"0.1\"";
    let dependencies = block(section, "toml");
    assert!(dependencies.contains(version), "{dependencies}");
    let dependencies = dependencies.replace(version, &format!("drawloom-tokio = {{ path = {here:?} }}"));
    let package = "[workspace]\n[package]\nname = \"recipe\"\nversion = \"0.0.0\"\nedition = \"2021\"\n";
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("recipe");
    std::fs::create_dir_all(folder.join("src")).expect("a folder");
    let write = |file: &str, text: String| std::fs::write(folder.join(file), text).expect("a file");
    write("Cargo.toml", package.to_owned() + &dependencies);
    write("src/lib.rs", block(section, "rust,ignore").to_owned() + LIBRARY);
    std::fs::copy(here.join("../../Cargo.lock"), folder.join("Cargo.lock")).expect("the versions of the workspace");
    folder
}

fn cargo(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO"));
    command.args(arguments).arg("--offline").current_dir(folder).env_remove("CARGO_TARGET_DIR");
    command.env("DRAWLOOM_DIR", folder.join("kept")).output().expect("cargo is there")
}

#[test]
fn cargo_accepts_the_dependency() {
    let output = cargo(&project(), &["metadata", "--format-version", "1"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Builds tokio and drawloom in a folder of their own: half a minute.
#[test]
#[ignore = "half a minute: run it after a change of the recipe"]
fn unit_tests_are_explored_and_the_library_is_built_with_the_real_tokio() {
    let folder = project();
    let output = cargo(&folder, &["test"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("Lost update: tasks `0` (main) and `0.1`"), "{text}");
    assert!(cargo(&folder, &["build"]).status.success());
}
