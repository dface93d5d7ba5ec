//! An analysis for a terminal: each finding with its source, annotated.

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use super::markdown::confirmed;
use crate::finding::{Analysis, Confidence, Finding};

/// How it is drawn.
#[derive(Clone, Copy, Debug, Default)]
pub struct Look {
    /// With colours.
    pub coloured: bool,
    /// With lines of ASCII alone.
    pub ascii: bool,
    /// With checkpoints and the inventory of shared state.
    pub full: bool,
}

/// Analyses as text; `source` reads a file again.
pub fn terminal(analyses: &[Analysis], source: &dyn Fn(&str) -> Option<String>, look: Look) -> String {
    let renderer = if look.coloured { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.decor_style(if look.ascii { DecorStyle::Ascii } else { DecorStyle::Unicode });
    let mut out = String::new();
    for analysis in analyses {
        for problem in &analysis.problems {
            out += &format!("warning: {}: {}\n", problem.place, problem.message);
        }
        let text = source(&analysis.target.path).unwrap_or_default();
        for finding in &analysis.findings {
            out += &renderer.render(&groups(finding, &text, &analysis.target.path));
            out += "\n\n";
        }
        for note in &analysis.notes {
            out += &format!("note[{}] {}: {}\n", note.rule, note.place, note.text);
        }
        if look.full {
            for state in &analysis.shared_state {
                out += &format!("shared {}: {}\n", state.state, state.guard.text);
            }
            for point in &analysis.checkpoints {
                let line = point.place.as_ref().map_or(0, |place| place.line);
                out += &format!("L{line}: {}   ← {}\n", point.source.as_deref().unwrap_or_default(), point.mark);
            }
        }
    }
    out
}

/// Where the lines of a text begin and end, without what is blank before them.
fn spans(text: &str) -> Vec<std::ops::Range<usize>> {
    let mut from = 0;
    let mut all = Vec::new();
    for line in text.split_inclusive('\n') {
        let content = line.trim_end();
        let blank = content.len() - content.trim_start().len();
        all.push(from + blank..from + content.len().max(blank));
        from += line.len();
    }
    all
}

fn groups<'a>(finding: &'a Finding, text: &'a str, path: &'a str) -> Vec<Group<'a>> {
    let level = match finding.evidence.confidence {
        Confidence::High => Level::ERROR,
        Confidence::Medium => Level::WARNING,
        Confidence::Low => Level::NOTE,
    };
    let spans = spans(text);
    let mut labels: Vec<(u32, String, bool)> = Vec::new();
    for step in &finding.evidence.trace {
        let line = step.place.line;
        if line as usize > spans.len() || step.effect == drawloom_report::explain::Effect::Crash {
            continue;
        }
        let primary = step.place == finding.place || step.place == finding.act;
        let label = format!("{}. {}: {}", step.n, step.task, step.text);
        match labels.iter_mut().find(|(at, ..)| *at == line) {
            Some((_, known, first)) => {
                *known = format!("{known}; {label}");
                *first |= primary;
            }
            None => labels.push((line, label, primary)),
        }
    }
    if !labels.iter().any(|(.., primary)| *primary)
        && let Some(first) = labels.first_mut()
    {
        first.2 = true;
    }
    let annotations = labels.into_iter().map(|(line, label, primary)| {
        let kind = if primary { AnnotationKind::Primary } else { AnnotationKind::Context };
        kind.span(spans[line as usize - 1].clone()).label(label)
    });
    let title =
        level.clone().primary_title(format!("{}: {}", finding.class.title(), finding.sentence)).id(finding.rule);
    let mut group = title.element(Snippet::source(text).path(path).annotations(annotations.collect::<Vec<_>>()));
    let said = &finding.evidence;
    group = group.element(Level::NOTE.message(format!(
        "{} (confidence: {}, {})",
        finding.because(),
        said.confidence.word(),
        said.score
    )));
    if let Some(confirmation) = &finding.confirmation {
        group = group.element(Level::NOTE.message(confirmed(confirmation)));
    }
    let mut all = vec![group];
    if let Some(fix) = finding.fixes.first() {
        let sketch = fix.sketch.lines().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n");
        let title = Level::HELP.secondary_title(format!("{} [{}]", fix.title, fix.effort.word()));
        all.push(title.element(Level::NOTE.no_name().message(sketch)));
    }
    all
}
