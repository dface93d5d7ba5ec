//! Places at which the program asks for less than sequential consistency, and gets all of it.

use drawloom_engine::Site;

/// A power of two.
const RECENT: usize = 64;

/// Each place once. Nothing but how many there are is ever looked at: they are addresses.
pub(crate) struct Weaker {
    /// Places by a part of their address: most accesses are at one that was noted before.
    recent: [Site; RECENT],
    all: Vec<Site>,
}

impl Default for Weaker {
    fn default() -> Weaker {
        Weaker { recent: [Site::UNKNOWN; RECENT], all: Vec::new() }
    }
}

impl Weaker {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn note(&mut self, site: Site) {
        // The lowest bits of an address are the same in all.
        if self.recent[(site.0 >> 3) % RECENT] != site {
            self.add(site);
        }
    }

    #[cold]
    fn add(&mut self, site: Site) {
        self.recent[(site.0 >> 3) % RECENT] = site;
        if !self.all.contains(&site) {
            self.all.push(site);
        }
    }

    pub(crate) fn all(&self) -> &[Site] {
        &self.all
    }
}
