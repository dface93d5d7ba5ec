//! Colour, if wanted.

/// What a piece of text is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ink {
    /// What went wrong.
    Alarm,
    /// A task, which keeps its colour throughout.
    Task(u32),
    /// What may be skipped when reading.
    Dim,
    /// What is to be pasted.
    Strong,
}

/// Puts ANSI colours around texts, or not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paint(pub(super) bool);

impl Paint {
    pub(super) fn ink(self, ink: Ink, text: &str) -> String {
        /// Colours that can be told apart on light and dark ground: cyan, magenta, yellow, green, blue.
        const TASKS: [&str; 5] = ["36", "35", "33", "32", "34"];
        if !self.0 || text.is_empty() {
            return text.to_owned();
        }
        let code = match ink {
            Ink::Alarm => "1;31",
            Ink::Task(task) => TASKS[task as usize % TASKS.len()],
            Ink::Dim => "2",
            Ink::Strong => "1",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}
