//! Realistic programs that the classifier was not made with: what a report says of each is judged by labels that
//! were put down before the first run.
//!
//! At the first run, before anything was changed in the explainer: 6 right, 18 partly and 1 wrong of these 25, and 4
//! right and 2 partly of the 6 in `python/tests/fresh_programs.py`.

mod asynchronous;
mod judge;
mod refusals;
mod threads;

use judge::{Fresh, Grade, Judged};

fn all() -> impl Iterator<Item = &'static Fresh> {
    threads::PROGRAMS.iter().chain(asynchronous::PROGRAMS)
}

/// `cargo test -p drawloom-suite --test fresh -- --nocapture` prints the table; `FRESH=name` prints reports.
#[test]
fn four_of_five_reports_are_right_and_none_has_a_placeholder_or_a_path_of_ours() {
    let wanted = std::env::var("FRESH").ok();
    let chosen = all().filter(|program| wanted.as_deref().is_none_or(|wanted| program.name.contains(wanted)));
    let judged: Vec<Judged> = chosen.map(judge::judge).collect();
    for judged in &judged {
        println!("{judged}");
        if wanted.is_some() {
            println!("{}", judged.report);
        }
    }
    let count = |grade| judged.iter().filter(|judged| judged.grade == grade).count();
    let right = count(Grade::Right);
    println!("{right} right, {} partly, {} wrong of {}", count(Grade::Partly), count(Grade::Wrong), judged.len());
    let unfit: Vec<&Judged> = judged.iter().filter(|judged| !judged.unfit.is_empty()).collect();
    assert!(unfit.is_empty(), "{}: {:?}", unfit[0], unfit[0].unfit);
    assert!(right * 5 >= judged.len() * 4, "{right} of {}", judged.len());
}
