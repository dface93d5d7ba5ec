//! Recipes: how an execution was drawn, so that it can be drawn again with a few draws changed.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use super::Tape;

/// Draws that a recipe may give, at most: a longer one is not changed any more.
const MOST_GIVEN: usize = 48;
/// Draws that are changed at once, at most.
const MOST_CHANGED: u64 = 5;

/// How an execution is drawn: from the tape of a seed, but for single draws that are given.
///
/// ```
/// use drawloom_engine::strategy::Recipe;
///
/// let recipe: Recipe = "5eed 3:ff 17:0".parse()?;
/// assert_eq!(recipe.to_string(), "5eed 3:ff 17:0");
/// assert_eq!("3:ff".parse::<Recipe>(), Err(drawloom_engine::strategy::NoRecipe));
/// # Ok::<(), drawloom_engine::strategy::NoRecipe>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recipe {
    /// Of the tape.
    pub(super) seed: u64,
    /// Which draws, from 0 and in order, and what they come to.
    pub(super) given: Vec<(u32, u64)>,
}

/// A text that is no recipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRecipe;

impl fmt::Display for NoRecipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("this is not a recipe of an execution")
    }
}

impl std::error::Error for NoRecipe {}

impl Recipe {
    /// All draws are those of the tape.
    pub(super) fn fresh(seed: u64) -> Self {
        Recipe { seed, given: Vec::new() }
    }

    /// Whether more draws may be changed.
    pub(super) fn can_change(&self) -> bool {
        self.given.len() + MOST_CHANGED as usize <= MOST_GIVEN
    }

    /// The same with a few of those draws made anew, from `tape`.
    pub(super) fn changed(&self, draws: Range<u32>, tape: &mut Tape) -> Recipe {
        let mut given = self.given.clone();
        for _ in 0..=tape.below(MOST_CHANGED) {
            let at = draws.start + tape.below(draws.len().max(1) as u64) as u32;
            let change = (at, tape.bits());
            match given.binary_search_by_key(&change.0, |(at, _)| *at) {
                Ok(known) => given[known] = change,
                Err(place) => given.insert(place, change),
            }
        }
        Recipe { seed: self.seed, given }
    }
}

impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}", self.seed)?;
        self.given.iter().try_for_each(|(at, bits)| write!(f, " {at}:{bits:x}"))
    }
}

impl FromStr for Recipe {
    type Err = NoRecipe;

    fn from_str(text: &str) -> Result<Self, NoRecipe> {
        let mut words = text.split(' ');
        let seed = words.next().and_then(|word| u64::from_str_radix(word, 16).ok()).ok_or(NoRecipe)?;
        let draw = |word: &str| {
            let (at, bits) = word.split_once(':')?;
            Some((at.parse().ok()?, u64::from_str_radix(bits, 16).ok()?))
        };
        let given: Vec<(u32, u64)> = words.map(|word| draw(word).ok_or(NoRecipe)).collect::<Result<_, _>>()?;
        let in_order = given.windows(2).all(|pair| pair[0].0 < pair[1].0);
        if in_order && given.len() <= MOST_GIVEN { Ok(Recipe { seed, given }) } else { Err(NoRecipe) }
    }
}
