//! A page for the browser: the report, and every cycle as a drawing. Needs nothing from elsewhere.

use std::fmt::Write;
use std::path::Path;

use drawloom_check::transactions::{Anomaly, Finding};
use drawloom_report::html_escaped;

use super::{Answer, Shown, lanes};

/// More cycles than this are in the text only, so that the page stays small.
const DRAWN: usize = 20;
/// Longer cycles are in the text only.
const LONGEST: usize = 12;

pub(super) fn page(file: &Path, answer: &Answer) -> String {
    let title = file.display().to_string();
    if let Shown::Operations(lanes) = &answer.shown {
        return lanes::page(lanes, &title);
    }
    let title = format!("{title}: {}", answer.text.lines().next().unwrap_or_default());
    let colour = match answer.code {
        0 => "#2a7d2a",
        1 => "#b3261e",
        _ => "#8a6d00",
    };
    let mut body = String::new();
    let is_cycle = |finding: &&Finding| matches!(finding.anomaly, Anomaly::Cycle(..));
    let short = |finding: &&Finding| finding.transactions.len() <= LONGEST;
    let findings: &[Finding] = match &answer.shown {
        Shown::Cycles(findings) => findings,
        Shown::Nothing | Shown::Operations(_) => &[],
    };
    for finding in findings.iter().filter(is_cycle).filter(short).take(DRAWN) {
        let _ = write!(body, "<figure>{}<figcaption>{}</figcaption><ul>", drawing(finding), finding.anomaly);
        for sentence in &finding.because {
            let _ = write!(body, "<li>{}</li>", html_escaped(sentence));
        }
        body.push_str("</ul></figure>\n");
    }
    format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>{title}</title>\n<style>\n\
         body {{ font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem }}\n\
         h1 {{ color: {colour}; font-size: 1.3rem }} pre {{ overflow-x: auto; background: #8881; padding: 1rem }}\n\
         figure {{ margin: 1rem 0; border-top: 1px solid #8885; padding-top: 1rem }} figcaption {{ font-weight: 600 }}\n\
         svg {{ max-width: 22rem; color: inherit }} @media (prefers-color-scheme: dark) {{ :root {{ color-scheme: dark }} }}\n\
         </style>\n<h1>{title}</h1>\n<pre>{}</pre>\n{body}</html>\n",
        html_escaped(&answer.text),
        title = html_escaped(&title),
    )
}

/// The transactions on a circle, with an arrow from each to the next.
fn drawing(finding: &Finding) -> String {
    let count = finding.transactions.len();
    let point = |at: usize, radius: f64| {
        let angle = std::f64::consts::TAU * at as f64 / count as f64 - std::f64::consts::FRAC_PI_2;
        (150.0 + radius * angle.cos(), 150.0 + radius * angle.sin())
    };
    let mut svg = String::from(
        "<svg viewBox=\"0 0 300 300\" role=\"img\"><defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" \
         markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"currentColor\"/></marker></defs>",
    );
    for (at, txn) in finding.transactions.iter().enumerate() {
        let ((x1, y1), (x2, y2)) = (point(at, 110.0), point(at + 1, 110.0));
        let (dx, dy) = (x2 - x1, y2 - y1);
        let length = dx.hypot(dy).max(1.0);
        // Bent to its left, so that two arrows between the same transactions lie apart; clear of the circles.
        let (bend_x, bend_y) = ((x1 + x2) / 2.0 - dy / length * 25.0, (y1 + y2) / 2.0 + dx / length * 25.0);
        let (ux, uy) = (dx / length * 24.0, dy / length * 24.0);
        let kind = kind(finding.because.get(at).map_or("", String::as_str));
        let _ = write!(
            svg,
            "<path d=\"M{:.1} {:.1}Q{bend_x:.1} {bend_y:.1} {:.1} {:.1}\" fill=\"none\" stroke=\"currentColor\" \
             marker-end=\"url(#tip)\"/><text x=\"{bend_x:.1}\" y=\"{bend_y:.1}\" text-anchor=\"middle\" font-size=\"12\" \
             fill=\"currentColor\">{kind}</text>",
            x1 + ux,
            y1 + uy,
            x2 - ux,
            y2 - uy,
        );
        let _ = write!(
            svg,
            "<circle cx=\"{x1:.1}\" cy=\"{y1:.1}\" r=\"20\" fill=\"none\" stroke=\"currentColor\"/><text x=\"{x1:.1}\" \
             y=\"{:.1}\" text-anchor=\"middle\" font-size=\"12\" fill=\"currentColor\">T{}</text>",
            y1 + 4.0,
            txn.0 + 1
        );
    }
    svg + "</svg>"
}

/// The word in brackets at the beginning of a sentence: ww, wr, rw, process, realtime.
fn kind(sentence: &str) -> &str {
    let inner = sentence.split_once('(').and_then(|(_, rest)| rest.split_once(')'));
    inner.map_or("", |(kind, _)| kind)
}
