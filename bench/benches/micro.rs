//! The comparison as criterion benchmarks, for watching one contestant over time. For ratios
//! use the `compare` binary: here the contestants run one after the other, not alternately.

use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use drawloom_bench::contestant::CONTESTANTS;
use drawloom_bench::programs::Program;

fn micro(criterion: &mut Criterion) {
    for program in Program::LOOPS.into_iter().chain([Program::SMALLEST]) {
        let mut group = criterion.benchmark_group(program.to_string());
        group.throughput(Throughput::Elements(program.ops()));
        for contestant in CONTESTANTS.iter().filter(|contestant| contestant.can_run(program)) {
            group.bench_function(contestant.name, |bencher| {
                bencher.iter_custom(|executions| {
                    let start = Instant::now();
                    let tally = contestant.run(program, executions);
                    // A contestant that ran more than asked for is not to pay for it.
                    start.elapsed().mul_f64(executions as f64 / tally.executions as f64)
                });
            });
        }
        group.finish();
    }
}

fn short() -> Criterion {
    Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(500))
}

criterion_group!(name = benches; config = short(); targets = micro);
criterion_main!(benches);
