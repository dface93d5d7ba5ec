//! The explanation as a page: one lane for each process, attempts on demand.

use drawloom_check::explain::{Explanation, Shown};
use drawloom_report::html_escaped;

/// No page is larger than this: texts are cut, and the number of operations is bounded already.
const LARGEST: usize = 1 << 20;

/// A page that shows an explanation, without a network; never larger than a megabyte.
pub fn page(explanation: &Explanation, title: &str) -> String {
    // Texts get shorter until the page fits.
    let mut longest = 400;
    loop {
        let page = render(&shortened(explanation, longest), title);
        if page.len() <= LARGEST || longest <= 12 {
            return page;
        }
        longest /= 2;
    }
}

fn shortened(explanation: &Explanation, longest: usize) -> Explanation {
    let cut = |text: &mut String| {
        if let Some((at, _)) = text.char_indices().nth(longest) {
            text.truncate(at);
            text.push('…');
        }
    };
    let mut short = explanation.clone();
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
    short
}

fn render(explanation: &Explanation, title: &str) -> String {
    // A script ends at the first `</`, whatever is around it.
    let data = explanation.to_json().replace("</", "<\\/").replace("<!--", "<\\u0021--");
    include_str!("lanes/page.html")
        .replace("/*style*/", include_str!("lanes/page.css"))
        .replace("/*script*/", include_str!("lanes/page.js"))
        .replace("{{title}}", &html_escaped(title))
        .replace("\"{{data}}\"", &data)
}
