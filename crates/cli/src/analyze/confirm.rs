//! `--confirm`: runs what is suspected. A finding becomes confirmed, or not reproduced in so many schedules.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use drawloom_analyze::finding::Confirmation;
use drawloom_analyze::{Analysis, Confidence, Finding};

use super::scaffold;

/// A program that does not end by itself is ended.
const LONGEST: Duration = Duration::from_secs(60);

/// Tries every finding.
pub(super) fn confirm(analyses: &mut [Analysis]) {
    for analysis in analyses {
        let tried: Vec<Confirmation> = analysis.findings.iter().map(|finding| one(analysis, finding)).collect();
        for (finding, confirmation) in analysis.findings.iter_mut().zip(tried) {
            match &confirmation {
                Confirmation::Confirmed { .. } => {
                    finding.evidence.score = 100;
                    finding.evidence.confidence = Confidence::High;
                }
                // The stand-ins may not have led there: that refutes nothing.
                Confirmation::NotReproduced { .. } | Confirmation::NotTried { .. } => {}
            }
            finding.confirmation = Some(confirmation);
        }
    }
}

fn one(analysis: &Analysis, finding: &Finding) -> Confirmation {
    if analysis.target.language != "python" {
        return Confirmation::NotTried {
            reason: "a finding in Rust is tried by a `#[drawloom::test]` that calls its functions: `--scaffold` begins one, `drawloom test` runs it".to_owned(),
        };
    }
    match python(analysis, finding) {
        Ok(confirmation) => confirmation,
        Err(reason) => Confirmation::NotTried { reason },
    }
}

/// The interpreter that has the Python package: `DRAWLOOM_PYTHON`, or `python3`.
fn interpreter() -> String {
    std::env::var("DRAWLOOM_PYTHON").unwrap_or_else(|_| "python3".to_owned())
}

fn python(analysis: &Analysis, finding: &Finding) -> Result<Confirmation, String> {
    let script = scaffold::python(analysis, finding)?;
    let folder = std::env::temp_dir().join("drawloom-confirm");
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let file = folder.join(format!("confirm_{}.py", finding.fingerprint));
    std::fs::write(&file, script).map_err(|error| error.to_string())?;
    let interpreter = interpreter();
    let mut child = Command::new(&interpreter)
        .arg(&file)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("`{interpreter}` cannot be run: {error}"))?;
    let began = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(_)) => break,
            Ok(None) if began.elapsed() > LONGEST => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("it did not end within {} s", LONGEST.as_secs()));
            }
            Ok(None) => std::thread::sleep(Duration::from_millis(20)),
            Err(error) => return Err(error.to_string()),
        }
    }
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let told = text
        .lines()
        .rev()
        .find_map(|line| serde_json::from_str::<serde_json::Value>(line).ok().filter(|told| told["drawloom"] == 1));
    let Some(told) = told else {
        let said = String::from_utf8_lossy(&output.stderr);
        let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
        return Err(format!("the program stopped: {last}"));
    };
    let text = |key: &str| told[key].as_str().unwrap_or_default().to_owned();
    match told["verdict"].as_str() {
        Some("fails") if text("kind").contains("invariant") => Ok(Confirmation::Confirmed {
            message: finding.sentence.clone(),
            replay: format!("{interpreter} {} {}", file.display(), text("token")),
            page: None,
        }),
        Some("fails") => Err(format!("the program fails in another way: {}: {}", text("kind"), text("message"))),
        Some("inconclusive") => Err(text("reason")),
        _ => Ok(Confirmation::NotReproduced { schedules: told["executions"].as_u64().unwrap_or_default() }),
    }
}
