//! The complete report of each kind of mistake: who has not seen the program can say what happened.

use drawloom::Exploration;
use insta::assert_snapshot;

use crate::programs;

fn screen(body: fn()) -> String {
    let config = "auto, name = \"x::example\", seed = 1, threads = 1, shrink = full";
    let exploration: Exploration = drawloom::explore(config.parse().expect("a configuration"), body);
    let failure = exploration.findings().first().expect("it fails");
    // To look at the pages, and to make the one that the viewer is tested with anew.
    if let Some(folder) = std::env::var_os("SCREENS") {
        std::fs::create_dir_all(&folder).unwrap();
        let name = std::thread::current().name().unwrap().rsplit("::").next().unwrap().to_owned();
        let folder = std::path::Path::new(&folder);
        std::fs::write(folder.join(format!("{name}.json")), failure.record().write()).unwrap();
        let sources = |file: &str| std::fs::read_to_string(format!("../../{file}")).ok();
        let shown = drawloom_report::Shown { label: "minimised", record: failure.record() };
        let options = drawloom_report::PageOptions { sources: &sources, ..Default::default() };
        std::fs::write(folder.join(format!("{name}.html")), drawloom_report::page(&[shown], &options)).unwrap();
    }
    without_what_varies(&failure.report())
}

/// Without what changes with the library's own lines, with the machine, and with `RUST_BACKTRACE`.
fn without_what_varies(report: &str) -> String {
    let mut within = false;
    let mut kept = String::new();
    for line in report.lines() {
        within = line.trim() == "backtrace:" || (within && line.starts_with("    "));
        let line = match (line.find("crates/drawloom/src/"), line) {
            (Some(at), _) => format!("{}…", &line[..at]),
            (None, line) if line.starts_with("replay: ") => "replay: …".to_owned(),
            (None, line) if line.contains(" replays") => line.split(" in ").next().unwrap_or_default().to_owned(),
            (None, line) => line.to_owned(),
        };
        if !within {
            kept += &line;
            kept.push('\n');
        }
    }
    kept
}

#[test]
fn a_lost_update() {
    assert_snapshot!(screen(programs::lost_update));
}

#[test]
fn calls_in_a_circle() {
    assert_snapshot!(screen(programs::calls_in_a_circle));
}

#[test]
fn a_lost_message() {
    assert_snapshot!(screen(programs::lost_message));
}

#[test]
fn a_lost_reply() {
    assert_snapshot!(screen(programs::lost_reply));
}

#[test]
fn an_exit_over_links() {
    assert_snapshot!(screen(programs::exit_over_links));
}

#[test]
fn a_shop_of_twelve_processes() {
    assert_snapshot!(screen(programs::a_shop));
}
