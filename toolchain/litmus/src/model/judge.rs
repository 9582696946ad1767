//! From a test to its final states.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use super::event::{Candidate, Kind};
use super::reads_from::{Sources, choices, known, known_write};
use super::relation::{Budget, Relation};
use super::{causality, coherence, phases};
use crate::error::TooLarge;
use crate::instruction::Location;
use crate::program::{End, Path, Value, paths};
use crate::test::{Quantifier, Term, Test};

/// Maximum number of search steps: partial choices of sources, and partial orders.
const MOST_STEPS: u64 = 5_000_000;

/// How many of the final states satisfy a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Occurrence {
    /// None of them.
    Never,
    /// Some, but not all.
    Sometimes,
    /// All of them, and there is at least one.
    Always,
}

/// The model's verdict on a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The columns of the states: [`Test::asked`].
    pub columns: Vec<Term>,
    /// The final states that are allowed and pass the filter, sorted, without duplicates. A state
    /// has a value for each column.
    pub states: Vec<Vec<i32>>,
    /// How many of the states satisfy the formula of the question.
    pub occurrence: Occurrence,
    /// Whether the answer to the question is yes. A `forall` without any state is answered yes.
    pub holds: bool,
    /// Whether every fair run ends.
    pub terminates: bool,
    /// Number of allowed executions that end, before the filter.
    pub executions: u64,
}

/// Determines the final states that the memory model allows, and whether every fair run ends.
///
/// All executions are examined. See the documentation of this crate for the choices and bounds.
///
/// # Errors
/// Returns an error if the test exceeds a bound. Nothing is then known about it.
pub fn judge(test: &Test) -> Result<Judgement, TooLarge> {
    let columns = test.asked();
    let mut of_threads = Vec::new();
    for (number, thread) in test.threads.iter().enumerate() {
        let asked = columns.iter().filter_map(|term| match term {
            Term::Register(of, register) if *of == number => Some(*register),
            _ => None,
        });
        of_threads.push(paths(number, thread, &asked.collect())?);
    }
    let budget = Budget::new(MOST_STEPS);
    let states = BTreeSet::new();
    let mut search =
        Search { test, columns, budget: &budget, states, executions: 0, endless: false };
    search.combine(&of_threads, &mut Vec::new())?;

    let Search { columns, states, executions, endless, .. } = search;
    let holds_in = |state: &&Vec<i32>| test.question.formula.holds(&of_state(&columns, state));
    let holding = states.iter().filter(holds_in).count();
    let occurrence = match holding {
        0 => Occurrence::Never,
        _ if holding == states.len() => Occurrence::Always,
        _ => Occurrence::Sometimes,
    };
    let holds = match test.question.quantifier {
        Quantifier::Exists => holding > 0,
        Quantifier::NotExists => holding == 0,
        Quantifier::Forall => holding == states.len(),
    };
    let states = states.into_iter().collect();
    Ok(Judgement { columns, states, occurrence, holds, terminates: !endless, executions })
}

/// The values of a state, by term.
fn of_state(columns: &[Term], state: &[i32]) -> impl Fn(Term) -> i32 {
    move |term| columns.binary_search(&term).map_or(0, |column| state[column])
}

struct Search<'a> {
    test: &'a Test,
    columns: Vec<Term>,
    budget: &'a Budget,
    states: BTreeSet<Vec<i32>>,
    executions: u64,
    endless: bool,
}

impl Search<'_> {
    /// Examines all combinations of paths that begin with `chosen`.
    fn combine<'p>(
        &mut self,
        of_threads: &'p [Vec<Path>],
        chosen: &mut Vec<&'p Path>,
    ) -> Result<(), TooLarge> {
        let Some((first, rest)) = of_threads.split_first() else { return self.executions(chosen) };
        for path in first {
            chosen.push(path);
            self.combine(rest, chosen)?;
            chosen.pop();
        }
        Ok(())
    }

    /// Examines all executions with these paths.
    fn executions(&mut self, paths: &[&Path]) -> Result<(), TooLarge> {
        let ends = paths.iter().all(|path| path.end == End::Finished);
        if !ends && self.endless {
            return Ok(());
        }
        let candidate = Candidate::new(self.test, paths, self.budget)?;
        let _ = choices(&candidate, &mut |sources| {
            for meeting in phases::meetings(&candidate, sources) {
                causality::orders(&candidate, sources, &meeting, &mut |causality| {
                    coherence::orders(&candidate, sources, causality, &mut |coherence| {
                        if ends {
                            self.executions += 1;
                            self.finish(&candidate, sources, coherence);
                            ControlFlow::Continue(())
                        } else {
                            self.endless = true;
                            ControlFlow::Break(())
                        }
                    })
                })?;
            }
            ControlFlow::Continue(())
        });
        if self.budget.is_spent() { Err(TooLarge::Search { steps: MOST_STEPS }) } else { Ok(()) }
    }

    /// Records the final states of an execution. The final value of a location is that of any write
    /// that is not followed by another one in coherence order.
    fn finish(&mut self, candidate: &Candidate, sources: &Sources, coherence: &Relation) {
        let mut states = vec![Vec::new()];
        for column in &self.columns {
            let values: BTreeSet<i32> = match column {
                Term::Register(thread, register) => {
                    let registers = &candidate.paths[*thread].registers;
                    let value = registers.get(register).unwrap_or(&Value::Constant(0));
                    [known(candidate, sources, value, candidate.starts[*thread])].into()
                }
                Term::Location(location) => last_writes(candidate, *location, coherence)
                    .map(|write| known_write(candidate, sources, write))
                    .collect(),
                Term::Constant(constant) => [*constant].into(),
            };
            states = states
                .iter()
                .flat_map(|state| values.iter().map(|value| [&state[..], &[*value]].concat()))
                .collect();
        }
        let passes = |state: &Vec<i32>| match &self.test.filter {
            Some(filter) => filter.holds(&of_state(&self.columns, state)),
            None => true,
        };
        self.states.extend(states.into_iter().filter(passes));
    }
}

fn last_writes(
    candidate: &Candidate,
    location: Location,
    coherence: &Relation,
) -> impl Iterator<Item = usize> {
    candidate.of(Kind::Write).filter(move |write| {
        candidate.events[*write].location == Some(location) && coherence.after(*write) == 0
    })
}
