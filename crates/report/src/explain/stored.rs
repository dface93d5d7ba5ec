//! A guard as it is written to files: the engine's own types know nothing of files.

use crate::json::{Fault, Readable, Reader, Written};
use crate::record::Place;
use drawloom_engine::guard::{Guard, Region, Site};

enum Stored {
    Lock(Vec<Stretch>),
    Atomic(Vec<Stretch>),
    Order { before: Place, after: Place },
    NotifyAll(Vec<Place>),
}

struct Stretch {
    enter: Place,
    leave: Place,
    whole: bool,
}

pub(super) fn write(guard: &Option<Guard>, out: &mut String) {
    let stretches = |regions: &[Region]| {
        regions.iter().map(|r| Stretch { enter: place(&r.enter), leave: place(&r.leave), whole: r.whole }).collect()
    };
    let stored = guard.as_ref().map(|guard| match guard {
        Guard::Lock(regions) => Stored::Lock(stretches(regions)),
        Guard::Atomic(regions) => Stored::Atomic(stretches(regions)),
        Guard::Order { before, after } => Stored::Order { before: place(before), after: place(after) },
        Guard::NotifyAll(sites) => Stored::NotifyAll(sites.iter().map(place).collect()),
    });
    stored.write(out);
}

pub(super) fn read(from: &mut Reader<'_>) -> Result<Option<Guard>, Fault> {
    let regions = |stretches: Vec<Stretch>| {
        stretches.into_iter().map(|s| Region { enter: site(&s.enter), leave: site(&s.leave), whole: s.whole }).collect()
    };
    let stored = Option::<Stored>::read(from)?;
    Ok(stored.map(|stored| match stored {
        Stored::Lock(stretches) => Guard::Lock(regions(stretches)),
        Stored::Atomic(stretches) => Guard::Atomic(regions(stretches)),
        Stored::Order { before, after } => Guard::Order { before: site(&before), after: site(&after) },
        Stored::NotifyAll(places) => Guard::NotifyAll(places.iter().map(site).collect()),
    }))
}

crate::json::variants! {
    Stored {
        values { Lock = "lock", Atomic = "atomic", NotifyAll = "notify_all" }
        objects { Order = "order" { before, after } }
    }
}

crate::json::object! {
    Stretch { enter, leave, #[left_out] whole }
}

fn place(site: &Site) -> Place {
    Place { file: site.file.clone(), line: site.line, column: site.column }
}

/// A place as guards name it.
pub(super) fn site(place: &Place) -> Site {
    Site { file: place.file.clone(), line: place.line, column: place.column }
}
