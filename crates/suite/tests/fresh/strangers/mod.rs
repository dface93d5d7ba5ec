//! Programs that were written when the explainer did well on all others, by somebody who had not seen these; with labels of what they
//! are known for. At the first run the class was right in 11 of 15, and 2 of 15 proposed a step of an atomic that cannot help.

pub mod threads;
