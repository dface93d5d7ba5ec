//! Prints, for each program, what could be done about its bug, and what trying that came to.

use drawloom_suite::catalogue;

fn main() {
    let only: Vec<String> = std::env::args().skip(1).collect();
    for program in catalogue() {
        let name = program.body.name;
        if !only.is_empty() && !only.iter().any(|n| n == name) {
            continue;
        }
        let config = "auto, iterations = 20000, spurious_wakeups = 0, weak_failures = 0, trace = false, threads = 1";
        let found = program.show(config.parse().unwrap());
        let Some(failure) = found.findings().first() else {
            println!("{name}: nothing found");
            continue;
        };
        let explanation = failure.record().explanation.as_ref().unwrap();
        println!("{name}: {} ({} steps)", explanation.class.map_or("-", |c| c.word()), failure.record().steps.len());
        println!("    {}", explanation.evidence.counterfactual.as_deref().unwrap_or("-"));
        for fix in &explanation.fixes {
            let verdict = fix.verified.as_ref().map_or("-", |v| v.text.as_str());
            println!("    {}: {verdict}", fix.title);
            if !only.is_empty() {
                println!("        {:?}", fix.guard);
            }
        }
        if !only.is_empty() {
            println!("{}", failure.report());
        }
    }
}
