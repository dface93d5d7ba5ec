//! Comments that steer the analysis: `drawloom: ignore[DL001] because …`, `drawloom: owner-confined because …`.

use drawloom_syntax::Module;

use crate::finding::Finding;

/// Whether a comment at one of the lines of a finding says to leave it out. A comment without a reason says nothing.
pub(crate) fn is_ignored(module: &Module, finding: &Finding) -> bool {
    module.comments.iter().any(|comment| {
        let Some(rest) = comment.text.strip_prefix("drawloom:").map(str::trim) else { return false };
        let here = |line: u32| line == comment.line || (comment.alone && line == comment.line + 1);
        let touches = here(finding.act.line)
            || here(finding.place.line)
            || finding.evidence.trace.first().is_some_and(|step| here(step.place.line));
        if !touches {
            return false;
        }
        if let Some(reason) = rest.strip_prefix("owner-confined").or_else(|| rest.strip_prefix("guarded-by")) {
            return reason.chars().filter(|c| c.is_alphanumeric()).count() >= 3;
        }
        let Some(rest) = rest.strip_prefix("ignore[") else { return false };
        let Some((rules, reason)) = rest.split_once(']') else { return false };
        let named = rules.split(',').any(|rule| rule.trim() == finding.rule);
        named && reason.chars().filter(|c| c.is_alphanumeric()).count() >= 3
    })
}

/// Comments that mean to leave something out, but give no reason or name no rule.
pub(crate) fn without_reason(module: &Module) -> Vec<u32> {
    let wrong = module.comments.iter().filter(|comment| {
        let Some(rest) = comment.text.strip_prefix("drawloom:").map(str::trim) else { return false };
        if !rest.starts_with("ignore") {
            return false;
        }
        let Some((rules, reason)) = rest.strip_prefix("ignore[").and_then(|rest| rest.split_once(']')) else {
            return true;
        };
        rules.trim().is_empty() || reason.chars().filter(|c| c.is_alphanumeric()).count() < 3
    });
    wrong.map(|comment| comment.line).collect()
}
