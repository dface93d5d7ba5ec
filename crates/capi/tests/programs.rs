//! Programs of C against the library: what they are found to do.

mod support;

use support::{compile, here, installed, run, said};

const FIRST: &str = "lost update: failed: panic, 4 executions, exhausted
lost update, sampled: failed: panic, 1 executions
race: failed: data race, 1 executions
two locks: failed: deadlock, 3 executions, exhausted
pipeline: passed, 1 executions, exhausted
";

#[test]
fn a_program_of_c_is_explored_whoever_compiles_it() {
    for compiler in installed(&["gcc", "clang"]) {
        let program = compile(compiler, &here("tests/c/first.c"), &["-std=c99"], "first");
        assert_eq!(said(&run(&program, &[], &[])), FIRST, "{compiler}");
    }
    for compiler in installed(&["g++", "clang++"]) {
        let program = compile(compiler, &here("tests/c/first.c"), &["-std=c++17", "-x", "c++"], "first");
        assert_eq!(said(&run(&program, &[], &[])), FIRST, "{compiler}");
    }
}
