//! What a test came to.

use drawloom_explore::Checked;

use crate::options::{Options, Strategy};
use crate::source::Source;
use crate::story::Story;

/// What a test came to.
#[derive(Clone, Debug)]
pub(crate) struct Verdict {
    pub(crate) name: String,
    pub(crate) strategy: Strategy,
    pub(crate) iterations: u64,
    pub(crate) executions: u64,
    /// More schedules are left than were allowed.
    pub(crate) limited: bool,
    pub(crate) stories: Vec<Story>,
    /// Why nothing could be explored.
    pub(crate) refused: Option<String>,
}

impl Verdict {
    pub(crate) fn of(name: &str, options: &Options, checked: &Checked, file: Option<&str>) -> Verdict {
        let exploration = &checked.exploration;
        let source = Source::read(file.filter(|_| !exploration.findings().is_empty()));
        let stories = exploration.findings().iter().map(|found| {
            let mut story = Story::of(found.record(), source.as_ref());
            story.token = found.token().to_owned();
            story
        });
        Verdict {
            name: name.to_owned(),
            strategy: options.strategy,
            iterations: options.iterations,
            executions: exploration.executions(),
            limited: options.strategy == Strategy::Exhaustive && !exploration.exhausted(),
            stories: stories.collect(),
            refused: exploration.error().map(str::to_owned),
        }
    }

    pub(crate) fn refused(name: &str, options: &Options, why: &str) -> Verdict {
        Verdict {
            name: name.to_owned(),
            strategy: options.strategy,
            iterations: options.iterations,
            executions: 0,
            limited: false,
            stories: Vec::new(),
            refused: Some(why.to_owned()),
        }
    }

    pub(crate) fn failed(&self) -> bool {
        self.refused.is_some() || !self.stories.is_empty()
    }

    /// The schedule of the first finding.
    pub(crate) fn token(&self) -> Option<&str> {
        self.stories.first().map(|story| story.token.as_str())
    }
}
