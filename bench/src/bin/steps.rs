//! Runs one program under one contestant and does nothing else, for tools that watch a whole
//! process (callgrind, strace). Two runs of different sizes, subtracted, tell what the
//! difference in size costs; start-up cancels. `run.sh` does that.

use std::process::ExitCode;

use drawloom_bench::contestant::{CONTESTANTS, Contestant};
use drawloom_bench::programs::Program;

const USAGE: &str = "\
usage: steps CONTESTANT WORKLOAD TASKS OPS_PER_TASK ITERATIONS
       steps list

Prints the executions run and the steps taken (- if the contestant does not tell).
`steps list` prints the contestants; a WORKLOAD is `lock` or `atomic`.";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments == ["list"] {
        CONTESTANTS.iter().for_each(|contestant| println!("{}", contestant.name));
        return ExitCode::SUCCESS;
    }
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("steps: {problem}\n\n{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &[String]) -> Result<(), String> {
    let [name, workload, tasks, ops_per_task, iterations] = arguments else {
        return Err(format!("five arguments expected, {} given", arguments.len()));
    };
    let contestant = Contestant::named(name).ok_or_else(|| format!("`{name}` is not compiled in"))?;
    let number = |text: &String| text.parse::<usize>().map_err(|problem| format!("`{text}` as a number: {problem}"));
    let program = Program::new(workload.parse()?, number(tasks)?, number(ops_per_task)?);
    if !contestant.can_run(program) {
        return Err(format!("{name} does not take part in this program"));
    }
    let tally = contestant.run(program, number(iterations)? as u64);
    let steps = tally.steps.map_or("-".to_string(), |steps| steps.to_string());
    println!("{} {steps}", tally.executions);
    Ok(())
}
