//! The page in a real browser: stepping, filtering, comparing, searching, by keyboard, in light and dark.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::page_of;
use crate::programs::{crowd, deadlock, empty, explained, long, lost_update, minimised, passing, shop};

/// Writes the pages that the script looks at, and returns their folder.
fn write_pages() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("viewer");
    std::fs::create_dir_all(&folder).expect("a folder below target");
    let (failing, small, fine) = (lost_update(), minimised(), passing());
    let pages = [
        ("short", page_of(&[("original", &failing), ("minimised", &small), ("passing", &fine)])),
        ("deadlock", page_of(&[("failing", &deadlock())])),
        ("explained", page_of(&[("failing", &explained())])),
        ("shop", page_of(&[("failing", &shop())])),
        ("empty", page_of(&[("failing", &empty())])),
        ("crowd", page_of(&[("failing", &crowd())])),
        ("long", page_of(&[("failing", &long(25_000)), ("other", &long(19_000))])),
    ];
    for (name, page) in pages {
        std::fs::write(folder.join(format!("{name}.html")), page).expect("a page is written");
    }
    folder
}

#[test]
fn the_page_can_be_used_in_a_browser() {
    let folder = write_pages();
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/viewer");
    if let Err(missing) = tools(&scripts) {
        let what = format!("the viewer was NOT tested in a browser: {missing}; `.ci/viewer-tools` installs it");
        assert!(std::env::var_os("CI").is_none(), "{what}");
        // Not by `eprintln!`, which the harness keeps to itself when a test passes.
        let _ = writeln!(std::io::stderr(), "\n━━ SKIPPED: {what} ━━\n");
        return;
    }
    let output = Command::new("node").arg(scripts.join("browser.mjs")).arg(&folder).output().expect("node runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    println!("{said}");
}

/// What the script needs, or the name of what is missing.
fn tools(scripts: &Path) -> Result<(), String> {
    let runs = |program: &str| Command::new(program).arg("--version").output().is_ok_and(|o| o.status.success());
    if !runs("node") {
        return Err("node is not installed".into());
    }
    if !["chromium", "chromium-browser", "google-chrome"].into_iter().any(runs) {
        return Err("chromium is not installed".into());
    }
    if !scripts.join("node_modules/playwright-core").is_dir() {
        return Err("playwright-core is not installed".into());
    }
    Ok(())
}
