//! What could be done: templates for each class, filled in with the steps, names and source lines of the case.
//!
//! A fix that changes nothing but the order of operations carries a [`Guard`], so that it can be tried: the
//! exploration is run again as if the fix were there.

mod locks;
mod transactions;
mod waits;
mod whole;

use drawloom_engine::guard::{Guard, Region, Site};
use drawloom_engine::sorted::sort_by_key;

use super::accesses::Access;
use super::case::{Blame, Case};
use super::class::Class;
use super::explanation::{Effort, Fix};
use super::stored::site;
use crate::language::Sketch;

/// What could be done, the simplest first.
pub(super) fn fixes(case: &Case<'_>, blame: &Blame) -> Vec<Fix> {
    let Some(class) = blame.class else { return Vec::new() };
    let draft = Draft { case, blame };
    let is_dropped = matches!(blame.subkind, Some("dropped-future" | "aborted-task"));
    let mut fixes = match class {
        Class::Toctou => locks::check_then_act(&draft),
        Class::StaleReference => locks::stale_reference(&draft),
        Class::LifetimeMismatch => locks::lifetime(&draft),
        Class::MissingGuard => locks::missing_guard(&draft),
        Class::AtomicityGap if is_dropped => waits::dropped(&draft),
        Class::AtomicityGap => locks::atomicity(&draft),
        Class::DataRace => locks::data_race(&draft),
        Class::Deadlock => waits::deadlock(&draft),
        Class::OrderViolation => waits::order(&draft),
        Class::LostWakeup => waits::lost_wakeup(&draft),
        Class::Livelock => waits::livelock(&draft),
        Class::Starvation => waits::starvation(&draft),
        Class::AnyOrder => Vec::new(),
    };
    if !is_dropped && matches!(class, Class::Toctou | Class::StaleReference | Class::MissingGuard | Class::AtomicityGap)
    {
        fixes.extend(whole::whole(&draft));
    }
    if matches!(class, Class::Toctou | Class::AtomicityGap) && !is_dropped {
        // They keep out other processes, too, and the same steps: nothing is left that a lock of the program adds.
        let in_the_database = transactions::in_the_database(&draft);
        let guards = || in_the_database.iter().filter_map(|fix| fix.guard.as_ref());
        // Nor do advices help that speak of variables.
        let is_new = |fix: &Fix| fix.guard.is_some() && guards().all(|guard| fix.guard.as_ref() != Some(guard));
        fixes.retain(|fix| in_the_database.is_empty() || is_new(fix));
        fixes.splice(..0, in_the_database);
    }
    sort_by_key(&mut fixes, |fix| fix.effort);
    fixes
}

/// What the templates are filled in with.
struct Draft<'d, 'a> {
    case: &'d Case<'a>,
    blame: &'d Blame,
}

/// The words of a fix.
struct Words<'w> {
    title: String,
    effort: Effort,
    sketch: Vec<String>,
    tradeoff: &'w str,
    risk: &'w str,
}

impl Draft<'_, '_> {
    fn fix(&self, words: Words<'_>, guard: Option<Guard>) -> Fix {
        Fix {
            title: words.title,
            effort: words.effort,
            sketch: words.sketch.join("\n"),
            closes: self.closes(),
            tradeoff: words.tradeoff.to_owned(),
            risk: words.risk.to_owned(),
            guard,
            verified: None,
        }
    }

    /// Which step can no longer come where it came.
    fn closes(&self) -> String {
        let Blame { opens, intrudes, closes, .. } = self.blame;
        let number = |access: &Access| access.step + 1;
        let harm: Vec<String> =
            intrudes.iter().filter(|a| a.step < self.case.end()).map(|a| number(a).to_string()).collect();
        let steps = match harm.as_slice() {
            [] => return String::new(),
            [one] => format!("step {one}"),
            many => format!("steps {}", many.join(" and ")),
        };
        match (opens, closes) {
            (Some(opens), Some(closes)) if closes.step < self.case.end() => {
                format!("{steps} can no longer come between steps {} and {}", number(opens), number(closes))
            }
            (Some(opens), _) => format!("{steps} can no longer come before what follows step {}", number(opens)),
            (None, Some(closes)) => format!("{steps} and step {} come in the other order", number(closes)),
            (None, None) => String::new(),
        }
    }

    /// What code calls it that is blamed.
    fn name(&self) -> String {
        match self.is_nameless() {
            true => receiver(&self.source(self.first())).unwrap_or("state").to_owned(),
            false => self.known_as().to_owned(),
        }
    }

    /// Whether it has no name: then it is known by the place at which it was made, which is no word of a program.
    fn is_nameless(&self) -> bool {
        self.known_as().contains(['/', ':'])
    }

    fn known_as(&self) -> &str {
        let resource = self.first().map(|a| a.resource).or(self.blame.resources.first().copied());
        resource.map_or("state", |r| self.case.names.bare(r))
    }

    fn first(&self) -> Option<&Access> {
        self.blame.opens.as_ref().or(self.blame.closes.as_ref())
    }

    /// A sketch, in the language of the program.
    fn written(&self, sketch: Sketch<'_>) -> Vec<String> {
        (self.case.record.meta.language.sketch)(&sketch)
    }

    /// Lines under a lock.
    fn hold<'s>(&self, lock: &'s str, lines: Vec<String>) -> Sketch<'s> {
        Sketch::Hold { lock, lines, in_coroutines: self.in_coroutines() }
    }

    /// Whether what is to be kept together are pieces of coroutines: they wait for a lock in another way than threads do.
    fn in_coroutines(&self) -> bool {
        [&self.blame.opens, &self.blame.closes].into_iter().flatten().any(|access| access.piece)
    }

    /// A comment, in the language of the program.
    fn remark(&self, text: &str) -> String {
        format!("{} {text}", self.case.record.meta.language.comment)
    }

    fn is_atomic(&self) -> bool {
        let kind = |access: &Access| self.case.whole.resources[access.resource as usize].kind.as_str();
        self.blame.opens.as_ref().is_some_and(|a| kind(a) == "atomic")
    }

    /// The source line of an access.
    fn source(&self, access: Option<&Access>) -> String {
        let place = access.and_then(|a| self.case.accessed_at(a));
        place.and_then(|place| self.case.sources.line(&place)).unwrap_or_else(|| "…".to_owned())
    }

    /// What is to be over before others may come: the end of the window; or, where a lock was given back after a look
    /// at what it guards, the section in which the task acts upon that, if it comes later.
    fn last(&self) -> Option<&Access> {
        let (opens, closes) = (self.blame.opens.as_ref()?, self.blame.closes.as_ref()?);
        let acts = |a: &&Access| {
            a.section
                && a.task == closes.task
                && a.resource == opens.resource
                && a.at > closes.at
                && self.case.accesses.forward(closes, a)
        };
        let looks = opens.section && opens.task == closes.task && opens.resource != closes.resource;
        Some(
            self.case
                .accesses
                .all
                .iter()
                .find(acts)
                .filter(|_| looks)
                .unwrap_or_else(|| self.end_of_transaction(closes)),
        )
    }

    /// The last access of the transaction that an access belongs to, by which all that was written in it is seen by others;
    /// the access itself, if it is in none.
    fn end_of_transaction<'s>(&'s self, access: &'s Access) -> &'s Access {
        let later = self.case.accesses.all.iter().filter(|a| a.task == access.task && a.step > access.step);
        let belongs = |a: &&Access| a.resource != access.resource || a.in_transaction;
        later.take_while(belongs).filter(|a| a.in_transaction).last().unwrap_or(access)
    }

    /// The database that the window is in, if it is in one and something in it is written in a transaction.
    fn database(&self) -> Option<&str> {
        let closes = self.blame.closes.as_ref()?;
        let ends = [Some(closes), Some(self.end_of_transaction(closes)), self.blame.intrudes.last()];
        ends.iter().flatten().any(|access| access.in_transaction).then(|| self.known_as())
    }

    /// Both lines of the window, one after the other, or once if they are one. The line of a `with` that commits at its end
    /// comes before what is committed: then that is said.
    fn window_lines(&self) -> Vec<String> {
        let line = |access: Option<&Access>| access.and_then(|a| self.case.place_of(a.step)).map(|place| place.line);
        let (closes, last) = (self.blame.closes.as_ref(), self.last());
        let is_before = line(last) < line(closes) && last.is_some_and(|access| access.in_transaction);
        let end = match is_before {
            true => format!("{}   {}", self.source(closes), self.remark("and until it is committed")),
            false => self.source(last),
        };
        let first = self.source(self.blame.opens.as_ref());
        match (first == end, self.loop_around()) {
            (true, Some(head)) => vec![head, format!("    {first}")],
            (true, None) => vec![first],
            (false, _) => vec![first, "…".to_owned(), end],
        }
    }

    /// The head of the loop whose one line makes both accesses of the window, in different rounds: it belongs under the lock.
    fn loop_around(&self) -> Option<String> {
        let (opens, closes) = (self.blame.opens.as_ref()?, self.blame.closes.as_ref()?);
        let one_statement = !self.case.record.meta.language.facts.columns && opens.resource != closes.resource;
        let place = self.case.accessed_at(opens).filter(|_| one_statement)?;
        let indent = |line: &str| line.len() - line.trim_start().len();
        let at = |line: u32| self.case.sources.raw(&place.file, line);
        let own = indent(&at(place.line)?);
        let above = (1..place.line).rev().filter_map(at).find(|line| !line.trim().is_empty() && indent(line) < own)?;
        let head = above.trim();
        (head.starts_with("for ") || head.starts_with("while ") || head.starts_with("async for "))
            .then(|| head.to_owned())
    }

    /// The stretch from one access to another, with the sections that they are in: a lock that is taken inside
    /// of others in one place, and outside in another, would be a deadlock.
    fn region(&self, from: &Access, to: &Access) -> Option<Region> {
        let (enter, leave) = (self.begins(from)?, self.is_over(to)?);
        // A line of several accesses is one statement. To the same thing, they are rounds of a loop.
        let whole = !self.case.record.meta.language.facts.columns && from.resource != to.resource;
        Some(Region { enter, leave, whole })
    }

    /// Where the outermost section around an access begins; the access itself, if it is in none.
    fn begins(&self, access: &Access) -> Option<Site> {
        let section = self.case.accesses.outermost(access);
        let first = section.map_or(access.step, |hold| self.case.accesses.request(hold));
        self.case.place_of(first).map(site)
    }

    /// Where it is given back.
    fn is_over(&self, access: &Access) -> Option<Site> {
        let section = self.case.accesses.outermost(access).map(|hold| &self.case.accesses.holds[hold]);
        let given_back = section.and_then(|bar| self.case.place_of(bar.to));
        given_back.map(site).or_else(|| self.begins(access))
    }

    /// The window, and what the other task does to the same.
    fn regions(&self) -> Option<Vec<Region>> {
        let Blame { opens, intrudes, .. } = self.blame;
        let mut regions = vec![self.region(opens.as_ref()?, self.last()?)?];
        if let Some(harm) = intrudes.last() {
            let first = intrudes.first().filter(|first| first.step != harm.step);
            // Its own read of the same, before: what it writes rests on that.
            let reads = |a: &&Access| {
                a.task == harm.task
                    && a.resource == harm.resource
                    && a.mode.reads()
                    && a.at < harm.at
                    && self.case.accesses.forward(a, harm)
            };
            let read = self.case.accesses.all.iter().rfind(reads);
            let region = self.region(first.or(read).unwrap_or(harm), self.end_of_transaction(harm))?;
            // Both may be at the same code: then the window says where it is over.
            if !regions.iter().any(|known| known.enter == region.enter) {
                regions.push(region);
            }
        }
        Some(regions)
    }

    fn lock(&self) -> Option<Guard> {
        self.regions().map(Guard::Lock)
    }

    fn atomic(&self) -> Option<Guard> {
        self.regions().map(Guard::Atomic)
    }
}

/// What an atomic is called in a line that uses it: `self.0` of `if self.0.load(Relaxed) == 0`.
fn receiver(line: &str) -> Option<&str> {
    const METHODS: [&str; 6] = [".load(", ".store(", ".swap(", ".fetch_", ".compare_exchange", ".lock("];
    let end = METHODS.iter().filter_map(|method| line.find(method)).min()?;
    let is_of_name = |c: char| c.is_alphanumeric() || "_.:[]".contains(c);
    let start =
        line[..end].rfind(|c| !is_of_name(c)).map_or(0, |at| at + line[at..].chars().next().map_or(1, char::len_utf8));
    Some(&line[start..end]).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::receiver;

    #[test]
    fn what_is_used_is_called_as_the_line_calls_it() {
        assert_eq!(receiver("if self.0.load(Relaxed) == 0 { return false; }"), Some("self.0"));
        assert_eq!(receiver("let n = stock[at].fetch_sub(1, Relaxed);"), Some("stock[at]"));
        assert_eq!(receiver("*COUNTS.lock().unwrap() += 1;"), Some("COUNTS"));
        assert_eq!(receiver("take(&stock)"), None);
    }
}
