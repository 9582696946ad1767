//! Random litmus tests: the emulator shows nothing that the model forbids.

use super::verdict::Judged;
use gridsync_verify::random;
use litmus::parse;

/// Number of tests, and of schedules of each.
const TESTS: u64 = 3000;
const SCHEDULES: u64 = 60;

/// A sequence of numbers from a seed.
struct Draw {
    seed: u64,
    drawn: u64,
}

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.drawn += 1;
        (random(self.seed, self.drawn) % bound as u64) as usize
    }

    fn of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }

    /// An instruction that may write to register `to`.
    fn instruction(&mut self, to: usize) -> String {
        let (at, scope) = (self.of(&["x", "y"]), self.of(&["cta", "gpu", "gpu", "sys"]));
        match self.below(10) {
            0..3 => match self.below(3) {
                0 => format!("st.weak {at}, {}", 1 + to),
                1 => format!("st.relaxed.{scope} {at}, {}", 1 + to),
                _ => format!("st.release.{scope} {at}, {}", 1 + to),
            },
            3..7 => match self.below(4) {
                0 => format!("ld.weak r{to}, {at}"),
                1 => format!("ld.volatile r{to}, {at}"),
                2 => format!("ld.relaxed.{scope} r{to}, {at}"),
                _ => format!("ld.acquire.{scope} r{to}, {at}"),
            },
            7 => {
                let order = self.of(&["relaxed", "acquire", "release", "acq_rel"]);
                format!("atom.{order}.{scope}.add r{to}, {at}, 16")
            }
            _ => format!("fence.{}.{scope}", self.of(&["acq_rel", "sc", "sc"])),
        }
    }

    /// A test of two or three threads with up to four instructions each.
    fn test(&mut self) -> String {
        let threads = 2 + self.below(2);
        let rows = 2 + self.below(if threads == 2 { 3 } else { 2 });
        let row = |cells: Vec<String>| cells.join(" | ") + " ;\n";
        let place = |thread| format!("P{thread}@cta {},gpu 0", self.below(2));
        let mut text =
            "PTX random\n{ x=0; y=0; }\n".to_owned() + &row((0..threads).map(place).collect());
        for at in 0..rows {
            text += &row((0..threads).map(|_| self.instruction(at)).collect());
        }
        let shown = (0..threads).flat_map(|p| (0..rows).map(move |r| format!("P{p}:r{r}")));
        let shown: Vec<_> = ["x".into(), "y".into()].into_iter().chain(shown).collect();
        text + &format!("locations [{}]\nexists (x == 0)", shown.join("; "))
    }
}

#[test]
fn the_emulator_shows_nothing_that_the_model_forbids() {
    let (mut states, mut seen) = (0, 0);
    for seed in 0..TESTS {
        let text = Draw { seed, drawn: 0 }.test();
        let test = parse(&text).unwrap_or_else(|error| panic!("{error}:\n{text}"));
        let judged = Judged::of("random".into(), test, SCHEDULES)
            .unwrap_or_else(|error| panic!("{error}:\n{text}"));
        assert_eq!(judged.contradiction(), None, "{text}");
        let emulated = judged.emulated.expect("it has no barriers");
        states += judged.model.states.len();
        seen += emulated.states.len();
    }
    // Not seen are load buffering, races of writes, and states that need more schedules.
    assert!(seen * 4 > states, "{seen} of {states} states were seen");
}
