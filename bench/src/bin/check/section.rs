//! A table and the gates that are judged by it.

use std::time::Duration;

use drawloom_bench::measure::cpu_time;
use drawloom_bench::table;

/// What one section of the page says.
#[derive(Default)]
pub struct Section {
    heading: Vec<String>,
    rows: Vec<Vec<String>>,
    gates: Vec<Vec<String>>,
    missed: bool,
}

impl Section {
    pub fn new(heading: &[&str]) -> Section {
        Section { heading: heading.iter().map(|cell| (*cell).to_owned()).collect(), ..Section::default() }
    }

    pub fn row(&mut self, cells: &[String]) {
        self.rows.push(cells.to_vec());
    }

    /// A gate: what was measured, what it must be and what it should be.
    pub fn gate(&mut self, what: &str, measured: String, must: (&str, bool), stretch: (&str, bool)) {
        let say = |(text, met): (&str, bool)| format!("{text}: {}", if met { "pass" } else { "**miss**" });
        self.missed |= !must.1;
        self.gates.push(vec![what.to_owned(), measured, say(must), say(stretch)]);
    }

    pub fn passed(&self) -> bool {
        !self.missed
    }

    pub fn text(&self) -> String {
        let mut text = String::new();
        if !self.rows.is_empty() {
            text += &table::render(&self.heading, &self.rows);
        }
        if !self.gates.is_empty() {
            let heading = ["gate", "measured", "must", "stretch"].map(str::to_owned);
            text += "\n";
            text += &table::render(&heading, &self.gates);
        }
        text
    }
}

pub fn ms(time: Duration) -> String {
    let ms = time.as_secs_f64() * 1e3;
    if ms < 1.0 { format!("{ms:.3}") } else { format!("{ms:.1}") }
}

/// The least CPU time of several runs, with the last result. Long runs are made once.
pub fn best<R>(mut work: impl FnMut() -> R) -> (Duration, R) {
    let (mut least, mut result) = cpu_time(&mut work);
    let mut runs = 1;
    while runs < 5 && least < Duration::from_millis(200) {
        let (time, again) = cpu_time(&mut work);
        (least, result) = (least.min(time), again);
        runs += 1;
    }
    (least, result)
}
