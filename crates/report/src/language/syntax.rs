//! How the source of a language is read. No language is parsed for that; of what cannot be told nothing is claimed.

use crate::record::Place;
use crate::source::Sources;
use crate::source::statement::Statement;

/// What a reader takes from the source of a language.
pub(crate) trait Syntax: Sync {
    /// The word before the name of a function that is declared.
    fn declares(&self) -> &'static str;

    /// The statement around a place.
    fn statement(&'static self, sources: &Sources<'_>, place: &Place) -> Option<Statement>;

    /// What the thing that is made at `place` is called there: the variable or field that it goes to.
    fn name_at(&self, sources: &Sources<'_>, place: &Place) -> Option<String>;

    /// What a method is called on at `place`, and whether that is a field or an element.
    fn receiver_at(&self, _sources: &Sources<'_>, _place: &Place) -> Option<(String, bool)> {
        None
    }

    /// What the task that is spawned at `place` does.
    fn task_at(&self, _sources: &Sources<'_>, _place: &Place) -> Option<String> {
        None
    }

    /// What `lines` call something that a record calls `name`, after its type; at those lines it was touched.
    fn container(&self, _name: &str, _lines: &mut dyn Iterator<Item = String>) -> Option<String> {
        None
    }

    /// The variable at the end of a name that a record has for it: `balance` of `Account.balance`.
    fn variable<'n>(&self, name: &'n str) -> &'n str {
        name
    }

    /// Whether a piece of a coroutine begins at `place`: what it does up to its next wait is one step.
    fn begins_piece(&self, _sources: &Sources<'_>, _place: &Place) -> bool {
        false
    }

    /// The first line of the piece that is the beginning of the function at `place`, if it uses anything.
    fn first_of_piece(&self, _sources: &Sources<'_>, _place: &Place) -> Option<Place> {
        None
    }

    /// The line of the piece that begins at `place` in which one of `names` is used first.
    fn in_piece(&self, _sources: &Sources<'_>, _place: &Place, _names: &[String]) -> Option<Place> {
        None
    }

    /// Whether something is decided by the value at the place of a statement.
    fn is_condition(&self, statement: &Statement) -> bool;

    /// Whether the place is in the head of a loop over something: `for i in 0..self.len()`.
    fn is_loop(&self, statement: &Statement) -> bool;

    fn is_assertion(&self, statement: &Statement) -> bool;

    /// The variables that the value is bound to.
    fn bound(&self, statement: &Statement) -> Vec<String>;

    /// Whether the value is what the function around it comes to.
    fn is_returned(&self, statement: &Statement) -> bool;

    /// Whether nobody learns what was found: a blind write.
    fn is_blind(&self, statement: &Statement) -> bool;

    /// Whether the statement puts something in the place of what was there: `self.best = score`.
    fn assigns(&self, _statement: &Statement) -> bool {
        false
    }

    /// Whether the statement is a call, and assigns nothing.
    fn calls(&self, _statement: &Statement) -> bool {
        false
    }

    /// Of a lock that is taken here, whether what it guards is used at once: `*self.total.lock().unwrap() += 1`.
    fn uses_guarded(&self, _statement: &Statement) -> bool {
        false
    }

    /// Of a lock that is taken here, whether what it guards is only read; none if that cannot be told.
    fn only_reads(&self, _statement: &Statement) -> Option<bool> {
        None
    }
}
