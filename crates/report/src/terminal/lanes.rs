//! A lane for each node of a cluster, and one for faults: who sent what to whom, as a drawing beside the rows that say so.

use crate::names::Names;
use crate::processes::{Kind, Row};
use crate::record::Record;

/// Names of lanes are cut after so many letters.
const LONGEST: usize = 10;
/// Lanes take at most this part of the width.
const SHARE: usize = 2;

/// The lanes of a drawing, from left to right.
pub(super) struct Lanes {
    tasks: Vec<u32>,
    names: Vec<String>,
    /// How wide each is.
    lane: usize,
}

impl Lanes {
    /// The lanes of those who have a part in these rows; none if there is no room for them.
    pub(super) fn of(record: &Record, names: &Names<'_>, rows: &[Row], width: usize) -> Option<Lanes> {
        let has_part = |node: &u32| rows.iter().any(|row| row.task == *node || row.other_task == Some(*node));
        let tasks: Vec<u32> = record.processes.nodes.iter().copied().filter(has_part).collect();
        let names: Vec<String> = tasks.iter().map(|task| names.tag(*task).chars().take(LONGEST).collect()).collect();
        let longest = names.iter().map(|name| name.chars().count()).max()?;
        let lanes = Lanes { tasks, names, lane: longest.max(3) + 1 };
        let room = if width == 0 { 200 } else { width };
        (lanes.width() <= room / SHARE).then_some(lanes)
    }

    pub(super) fn width(&self) -> usize {
        self.lane * self.tasks.len()
    }

    /// The names above the lanes.
    pub(super) fn head(&self) -> String {
        self.names.iter().map(|name| format!("{name:^width$}", width = self.lane)).collect()
    }

    fn centre(&self, lane: usize) -> usize {
        lane * self.lane + (self.lane - 1) / 2
    }

    /// What a row tells of, drawn.
    pub(super) fn line(&self, row: &Row) -> String {
        let mut line = vec![' '; self.width()];
        for lane in 0..self.tasks.len() {
            line[self.centre(lane)] = '│';
        }
        let place = |task: u32| self.tasks.iter().position(|other| *other == task).map(|lane| self.centre(lane));
        let ends = match row.kind {
            // A fault hits the other one.
            Kind::Struck | Kind::Sent | Kind::Signalled => (Some(row.task), row.other_task),
            _ => (row.other_task, Some(row.task)),
        };
        let (from, to) = (ends.0.and_then(place), ends.1.and_then(place));
        match (from, to) {
            (Some(from), Some(to)) if from != to => {
                let (left, right) = (from.min(to), from.max(to));
                for cell in &mut line[left + 1..right] {
                    *cell = if *cell == '│' { '┼' } else { '─' };
                }
                line[from] = if from < to { '├' } else { '┤' };
                let before = if from < to { to - 1 } else { to + 1 };
                match row.kind {
                    Kind::Struck => line[to] = '↯',
                    Kind::Lost => line[before] = '✗',
                    _ => line[before] = if from < to { '▶' } else { '◀' },
                }
            }
            // To itself, or of its own.
            (_, Some(at)) => line[at] = if row.kind == Kind::Lost { '✗' } else { '●' },
            _ => {}
        }
        line.into_iter().collect()
    }
}
