//! A history of operations as a page: one lane for each process, an order that explains it as far as one does, and, if none
//! explains all of it, the fewest operations that show that.

use drawloom_check::explain::{Explanation, Shown, Timeline};
use drawloom_report::html_escaped;
use serde::Serialize;

/// No page is larger than this: texts are cut, and the number of operations is bounded already.
const LARGEST: usize = 1 << 20;

/// What the page shows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Lanes {
    /// `ok`, `illegal` or `unknown`.
    pub verdict: &'static str,
    /// What the history should be.
    pub level: String,
    /// The whole history.
    pub timeline: Timeline,
    /// Why no order explains it.
    pub explanation: Option<Explanation>,
}

/// A page that shows a history, without a network; never larger than a megabyte.
pub fn page(lanes: &Lanes, title: &str) -> String {
    // Texts get shorter until the page fits.
    let mut longest = 400;
    loop {
        let page = render(&shortened(lanes, longest), title);
        if page.len() <= LARGEST || longest <= 6 {
            return page;
        }
        longest /= 2;
    }
}

fn shortened(lanes: &Lanes, longest: usize) -> Lanes {
    let cut = |text: &mut String| {
        if let Some((at, _)) = text.char_indices().nth(longest) {
            text.truncate(at);
            text.push('…');
        }
    };
    let mut short = lanes.clone();
    for drawn in &mut short.timeline.drawn {
        cut(&mut drawn.text);
        drawn.state.iter_mut().for_each(cut);
    }
    short.timeline.parts.iter_mut().for_each(|part| cut(&mut part.name));
    if let Some(short) = &mut short.explanation {
        short
            .minimal
            .iter_mut()
            .chain(&mut short.failed)
            .chain(&mut short.context)
            .for_each(|shown: &mut Shown| cut(&mut shown.text));
        for attempt in &mut short.attempts {
            cut(&mut attempt.reason);
            attempt.states.iter_mut().for_each(cut);
        }
        if let Some(part) = &mut short.part {
            cut(&mut part.name);
        }
    }
    short
}

fn render(lanes: &Lanes, title: &str) -> String {
    let data = serde_json::to_string(lanes).unwrap_or_default();
    // A script ends at the first `</`, whatever is around it.
    let data = data.replace("</", "<\\/").replace("<!--", "<\\u0021--");
    include_str!("lanes/page.html")
        .replace("/*style*/", include_str!("lanes/page.css"))
        .replace("/*script*/", include_str!("lanes/page.js"))
        .replace("{{title}}", &html_escaped(title))
        .replace("\"{{data}}\"", &data)
}
