//! Nothing: all there is are tests.
