//! Nothing: all there is is a test.
