//! Fixes of windows in a database: statements that a transaction has made, and another one has come between.
//!
//! A lock of the program keeps out the threads of one process, and no more. What the database itself can do keeps out
//! everybody, so it comes first. To try such a fix is to try what it comes to: a lock, or one step, from the first statement
//! of the window to the end of its transaction.

use super::{Draft, Words};
use crate::explain::explanation::{Effort, Fix};

/// What the database can do about the window; nothing, if that is in none.
pub(super) fn in_the_database(draft: &Draft<'_, '_>) -> Vec<Fix> {
    let Some(name) = draft.database() else { return Vec::new() };
    let example = draft.remark("for example: what was checked goes into the statement");
    let in_one = Words {
        title: "Check and write in one statement".to_owned(),
        effort: Effort::Simple,
        sketch: vec![
            format!("UPDATE … SET stock = stock - 1 WHERE id = … AND stock > 0   {example}"),
            draft.remark("no row was changed: somebody else came first"),
        ],
        tradeoff: "nothing is held between two statements",
        risk: "only what stands in the statement is checked",
    };
    // A database of SQLite is one file, or is in memory.
    let locked = match name.starts_with("file ") || name.starts_with("database ") {
        true => Words {
            title: "Begin the transaction with BEGIN IMMEDIATE".to_owned(),
            effort: Effort::Simple,
            sketch: vec![
                "BEGIN IMMEDIATE".to_owned(),
                draft.source(draft.first()),
                "…".to_owned(),
                "COMMIT".to_owned(),
            ],
            tradeoff: "writers wait for each other from the first read on",
            risk: "`database is locked`, if one waits longer than its timeout",
        },
        false => Words {
            title: "Lock the rows that are read: SELECT … FOR UPDATE".to_owned(),
            effort: Effort::Simple,
            sketch: vec!["SELECT … FOR UPDATE".to_owned(), "…".to_owned(), "COMMIT".to_owned()],
            tradeoff: "others who want the same rows wait until the transaction ends",
            risk: "a deadlock, if transactions lock rows in different orders",
        },
    };
    vec![draft.fix(in_one, draft.atomic()), draft.fix(locked, draft.lock())]
}
