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
    let (read, write) = (draft.source(draft.first()), draft.source(draft.blame.closes.as_ref()));
    let one = match draft.blame.subkind {
        Some("lost-update") => compute_in_one(draft, &write),
        _ => check_in_one(draft, &write),
    };
    // A database of SQLite is one file, or is in memory; those of servers have tables.
    if name.starts_with("file ") || name.starts_with("database ") {
        let immediate = Words {
            title: "Begin the transaction with BEGIN IMMEDIATE".to_owned(),
            effort: Effort::Simple,
            sketch: vec!["BEGIN IMMEDIATE".to_owned(), read, "…".to_owned(), "COMMIT".to_owned()],
            tradeoff: "writers wait for each other from the first read on",
            risk: "`database is locked`, if one waits longer than its timeout",
        };
        return vec![draft.fix(one, draft.atomic()), draft.fix(immediate, draft.lock())];
    }
    let select = Words {
        title: "Lock the rows that are read: SELECT … FOR UPDATE".to_owned(),
        effort: Effort::Simple,
        sketch: vec!["SELECT … FOR UPDATE".to_owned(), "…".to_owned(), "COMMIT".to_owned()],
        tradeoff: "other transactions that want the same rows wait until this one ends",
        risk: "a deadlock, if transactions lock rows in different orders",
    };
    match (name.starts_with("row "), are_there(&read, &write)) {
        // A statement waits for the row, and looks at it again before it writes.
        (true, _) => vec![draft.fix(one, draft.lock()), draft.fix(select, draft.lock())],
        (false, true) => vec![draft.fix(select, draft.lock())],
        // A row that is not there yet cannot be locked, and a statement does not see what others have not committed.
        (false, false) => {
            let first = draft.remark("first in every transaction that reads or writes here");
            let in_place = Words {
                title: "Lock a row that stands for all of them, before looking".to_owned(),
                effort: Effort::Simple,
                sketch: vec![
                    format!("SELECT … FROM … WHERE id = … FOR UPDATE   {first}"),
                    read,
                    "…".to_owned(),
                    "COMMIT".to_owned(),
                ],
                tradeoff: "transactions that want the same row wait for each other",
                risk: "a transaction that forgets it is not kept out",
            };
            let again = draft.remark("and retry when the database rejects it (SQLSTATE 40001)");
            let serializable = Words {
                title: "Run these transactions at isolation level SERIALIZABLE".to_owned(),
                effort: Effort::Moderate,
                sketch: vec![format!("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE   {again}")],
                tradeoff: "no waiting, but some transactions fail at COMMIT",
                risk: "a transaction at another level is not kept out",
            };
            vec![draft.fix(in_place, draft.lock()), draft.fix(serializable, draft.lock())]
        }
    }
}

/// A statement that writes only if what was checked is still so.
fn check_in_one<'w>(draft: &Draft<'_, '_>, write: &str) -> Words<'w> {
    let checked = draft.remark("the check goes into the statement, such as `stock > 0`");
    let statement = in_one(&[write, &draft.source(draft.last())]);
    Words {
        title: "Check and write in one statement".to_owned(),
        effort: Effort::Simple,
        sketch: vec![
            format!("{statement}   {checked}"),
            draft.remark("no row was changed: another transaction came first"),
        ],
        tradeoff: "nothing is held between two statements",
        risk: "only the condition in the statement is checked",
    }
}

/// A statement that computes what it writes from what is there.
fn compute_in_one<'w>(draft: &Draft<'_, '_>, write: &str) -> Words<'w> {
    let statement = [write, &draft.source(draft.last())].into_iter().find_map(|line| computed(statement(line)?));
    let statement = statement.unwrap_or_else(|| "UPDATE … SET n = n + … WHERE …".to_owned());
    Words {
        title: "Read and write in one statement".to_owned(),
        effort: Effort::Simple,
        sketch: vec![format!("{statement}   {}", draft.remark("the database computes it from what is there"))],
        tradeoff: "nothing is held between two statements",
        risk: "this covers the written columns only, not others that must agree with them",
    }
}

/// An UPDATE that adds to its first column, instead of setting it: `SET n = ?` becomes `SET n = n + …`.
fn computed(update: &str) -> Option<String> {
    let upper = update.to_ascii_uppercase();
    let set = upper.find(" SET ")? + " SET ".len();
    let column = update[set..].split('=').next()?.trim();
    let value = set + update[set..].find('=')? + 1;
    let rest = [upper[value..].find(" WHERE "), update[value..].find(',')].into_iter().flatten().min();
    let rest = rest.map_or("", |at| &update[value + at..]);
    Some(format!("{} {column} + …{rest}", &update[..value]))
}

/// Whether all rows that matter are there to be locked when they are read: the line that reads selects rows, and no sum or
/// number of them, and the line that writes changes some.
fn are_there(read: &str, write: &str) -> bool {
    const AGGREGATES: [&str; 6] = ["COUNT(", "SUM(", "MAX(", "MIN(", "AVG(", "EXISTS"];
    let (read, write) = (read.to_ascii_uppercase(), write.to_ascii_uppercase());
    read.contains("SELECT ") && write.contains("UPDATE ") && !AGGREGATES.iter().any(|word| read.contains(word))
}

/// The statement that writes, if one of these lines has it, with room for what was checked.
fn in_one(lines: &[&str]) -> String {
    let found = lines.iter().find_map(|line| statement(line));
    let starts =
        |statement: &str, word: &str| statement.get(..word.len()).is_some_and(|s| s.eq_ignore_ascii_case(word));
    match found {
        Some(statement) if starts(statement, "INSERT") => {
            let into = statement.split(['(']).next().unwrap_or(statement).split_whitespace().take(3);
            format!("{} … SELECT … WHERE …", into.collect::<Vec<_>>().join(" "))
        }
        Some(statement) if statement.to_ascii_uppercase().contains(" WHERE ") => format!("{statement} AND …"),
        Some(statement) => format!("{statement} WHERE …"),
        None => "UPDATE … WHERE … AND …".to_owned(),
    }
}

/// The statement of SQL that writes in a line of a program: it ends with the quote that it begins with.
fn statement(line: &str) -> Option<&str> {
    const WORDS: [&str; 3] = ["UPDATE ", "INSERT ", "DELETE "];
    let upper = line.to_ascii_uppercase();
    let at = WORDS.iter().filter_map(|word| upper.find(word)).min()?;
    let quote = line[..at].chars().next_back().filter(|c| matches!(c, '"' | '\''))?;
    let rest = &line[at..];
    Some(rest[..rest.find(quote)?].trim_end())
}

#[cfg(test)]
mod tests {
    use super::{are_there, computed, in_one};

    #[test]
    fn what_is_written_is_computed_from_what_is_there() {
        let said = |statement: &str| computed(statement).unwrap_or_default();
        assert_eq!(said("UPDATE a SET n = ? WHERE id = 1"), "UPDATE a SET n = n + … WHERE id = 1");
        assert_eq!(said("update a set n=?, m = 2"), "update a set n= n + …, m = 2");
        assert_eq!(said("INSERT INTO a VALUES (?)"), "");
    }

    #[test]
    fn rows_can_be_locked_that_are_there_when_they_are_read() {
        let update = r#"c.execute("UPDATE job SET owner = %s WHERE id = %s", row)"#;
        assert!(are_there(r#"c.execute("select id from job where owner is null limit 1")"#, update));
        assert!(!are_there(r#"c.execute("select count(*) from job where owner is null")"#, update));
        assert!(!are_there(r#"c.execute("select id from job")"#, r#"c.execute("insert into job values (1)")"#));
        assert!(!are_there("session.scalars(jobs)", "session.commit()"));
    }

    #[test]
    fn the_program_s_own_statement_has_room_for_what_was_checked() {
        let said = |line: &str| in_one(&[line]);
        assert_eq!(
            said(r#"c.execute("UPDATE job SET done = 1 WHERE id = %s", row)"#),
            "UPDATE job SET done = 1 WHERE id = %s AND …"
        );
        assert_eq!(said("db.execute('delete from job')"), "delete from job WHERE …");
        assert_eq!(
            said(r#"db.execute("INSERT INTO player (name) VALUES (?)", (name,))"#),
            "INSERT INTO player … SELECT … WHERE …"
        );
        assert_eq!(said("session.commit()"), "UPDATE … WHERE … AND …");
        assert_eq!(
            in_one(&["db.commit()", "db.execute(\"UPDATE a SET b = 1 WHERE c\")"]),
            "UPDATE a SET b = 1 WHERE c AND …"
        );
    }
}
