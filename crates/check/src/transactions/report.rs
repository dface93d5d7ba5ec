//! What a check of transactions found, and what follows from it.

use std::fmt::Write;

use super::Violation;
use super::anomaly::Anomaly;
use super::history::{Transactions, TxnId};
use super::model::{Model, RuledOut};

/// How many anomalies of a kind are explained; the others are counted.
const EXPLAINED: usize = 10;

/// One anomaly, explained.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The kind of the anomaly.
    pub anomaly: Anomaly,
    /// The transactions that take part; of a cycle, in its order.
    pub transactions: Vec<TxnId>,
    /// Why, a sentence for every step.
    pub because: Vec<String>,
}

/// The levels of a transactional history: held, violated or undecided.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// Anomalies, the worst first; at most ten of each kind.
    pub findings: Vec<Finding>,
    /// How many anomalies there are of each kind that was found.
    pub counts: Vec<(Anomaly, u64)>,
    /// Levels that the history does not have.
    pub ruled_out: RuledOut,
    /// Levels beyond those that anomalies rule out, with the reason.
    pub also_ruled_out: Vec<(Vec<Model>, Violation)>,
    /// Levels that the history was shown to have, whatever else is not decided.
    pub proven: Vec<Model>,
    /// What the check could not decide, and why. Levels that are not ruled out hold if there is nothing here.
    pub undecided: Vec<Undecided>,
    /// Committed transactions, aborted ones, and those of unknown end.
    pub transactions: [usize; 3],
}

/// Something that a check could not find out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Undecided {
    /// The weakest levels that are not known to hold because of it.
    pub models: Vec<Model>,
    /// Why.
    pub reason: String,
}

/// The judgement about one level.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Holds {
    /// The history has it.
    Yes,
    /// The history does not have it.
    No,
    /// Nothing speaks against it, but not everything is known.
    Unknown,
}

impl Report {
    pub(super) fn add(&mut self, finding: Finding) {
        self.ruled_out.add_anomaly(finding.anomaly);
        let count = match self.counts.iter_mut().find(|(anomaly, _)| *anomaly == finding.anomaly) {
            Some((_, count)) => count,
            None => {
                self.counts.push((finding.anomaly, 0));
                &mut self.counts.last_mut().expect("it was just pushed").1
            }
        };
        *count += 1;
        if *count <= EXPLAINED as u64 {
            self.findings.push(finding);
        }
    }

    /// Whether more explanations of this kind would only be counted.
    pub(super) fn is_full(&self, anomaly: Anomaly) -> bool {
        self.count(anomaly) >= EXPLAINED as u64
    }

    /// Counts an anomaly that needs no explanation any more.
    pub(super) fn tally(&mut self, anomaly: Anomaly) {
        if let Some((_, count)) = self.counts.iter_mut().find(|(other, _)| *other == anomaly) {
            *count += 1;
        }
    }

    pub(super) fn rule_out(&mut self, models: &[Model], because: Violation) {
        models.iter().for_each(|model| self.ruled_out.add(*model));
        self.also_ruled_out.push((models.to_vec(), because));
    }

    pub(super) fn sort(&mut self) {
        self.findings.sort_by_key(|finding| finding.anomaly);
        self.counts.sort_unstable();
    }

    /// How many anomalies of a kind there are.
    pub fn count(&self, anomaly: Anomaly) -> u64 {
        self.counts.iter().find(|(other, _)| *other == anomaly).map_or(0, |(_, count)| *count)
    }

    /// Whether the history has a level.
    pub fn holds(&self, model: Model) -> Holds {
        if self.ruled_out.contains(model) {
            return Holds::No;
        }
        if self.proven.iter().any(|proven| proven.implies(model)) {
            return Holds::Yes;
        }
        match self.undecided.iter().any(|open| open.models.iter().any(|weakest| model.implies(*weakest))) {
            true => Holds::Unknown,
            false => Holds::Yes,
        }
    }

    /// The report for people. The same history gives the same text.
    pub fn text(&self, history: &Transactions, asked: Model) -> String {
        let mut text = match self.holds(asked) {
            Holds::Yes => format!("ok: the history is {asked}\n"),
            Holds::No => format!("illegal: the history is not {asked}\n"),
            Holds::Unknown => format!("unknown: no violation of {asked} was found, but the search was incomplete\n"),
        };
        let [committed, aborted, unknown] = self.transactions;
        let _ = writeln!(
            text,
            "  {committed} transactions committed, {aborted} aborted, {unknown} of unknown end; {} sessions, {} keys",
            history.sessions(),
            history.keys()
        );
        if !self.ruled_out.is_empty() {
            let _ = writeln!(text, "  violates: {}", names(&self.ruled_out.weakest()));
            let possible = self.ruled_out.strongest_possible();
            let possible = if possible.is_empty() { "none".to_owned() } else { names(&possible) };
            let _ = writeln!(text, "  strongest level still possible: {possible}");
        }
        for open in &self.undecided {
            let models: Vec<Model> =
                open.models.iter().copied().filter(|model| self.holds(*model) == Holds::Unknown).collect();
            if !models.is_empty() {
                let _ = writeln!(text, "  not decided ({} and stronger): {}", names(&models), open.reason);
            }
        }
        for (anomaly, count) in &self.counts {
            let _ = writeln!(text, "\n{anomaly}: {}, {count} found", anomaly.meaning());
            let findings: Vec<&Finding> = self.findings.iter().filter(|f| f.anomaly == *anomaly).collect();
            for finding in &findings {
                let mut shown: Vec<TxnId> = Vec::new();
                for txn in &finding.transactions {
                    if !shown.contains(txn) {
                        shown.push(*txn);
                        let _ = writeln!(text, "  {}", history.describe(*txn));
                    }
                }
                for sentence in &finding.because {
                    let _ = writeln!(text, "    - {sentence}");
                }
            }
            if *count > findings.len() as u64 {
                let _ = writeln!(text, "  … and {} more", count - findings.len() as u64);
            }
        }
        for (models, because) in &self.also_ruled_out {
            let _ = write!(text, "\nnot {}:\n{}", names(models), because.text(history));
        }
        text
    }

    /// The report for tools, as JSON on one line.
    pub fn json(&self, history: &Transactions, asked: Model) -> serde_json::Value {
        let names = |models: Vec<Model>| models.iter().map(|model| model.name()).collect::<Vec<_>>();
        let findings = self.findings.iter().map(|finding| {
            serde_json::json!({
                "anomaly": finding.anomaly.to_string(),
                "transactions": finding.transactions.iter().map(|txn| history.describe(*txn)).collect::<Vec<_>>(),
                "because": finding.because,
            })
        });
        let verdict = match self.holds(asked) {
            Holds::Yes => "ok",
            Holds::No => "illegal",
            Holds::Unknown => "unknown",
        };
        let counts = self.counts.iter().map(|(anomaly, count)| (anomaly.to_string(), (*count).into()));
        let also = self.also_ruled_out.iter();
        let undecided = self.undecided.iter();
        serde_json::json!({
            "verdict": verdict,
            "consistency": asked.name(),
            "violates": names(self.ruled_out.weakest()),
            "strongest": names(self.ruled_out.strongest_possible()),
            "anomalies": counts.collect::<serde_json::Map<String, serde_json::Value>>(),
            "findings": findings.collect::<Vec<_>>(),
            "levels": also.map(|(models, why)| serde_json::json!({"not": names(models.clone()), "because": why.because}))
                .collect::<Vec<_>>(),
            "undecided": undecided.map(|open| {
                serde_json::json!({"levels": names(open.models.clone()), "reason": open.reason})
            }).collect::<Vec<_>>(),
        })
    }
}

fn names(models: &[Model]) -> String {
    models.iter().map(|model| model.name()).collect::<Vec<_>>().join(", ")
}
