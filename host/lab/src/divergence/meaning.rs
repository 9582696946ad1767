//! The meaning of the numbers of `gridsync lab divergence`.

use super::report::Divergence;

/// The paragraphs below the tables.
pub(super) fn paragraphs(report: &Divergence) -> Vec<String> {
    let mut meaning = vec![
        "Predication: as written, no kernel has a branch. Each arm is one value, so the compiler \
         lets every lane select one of the two (selp). Code without a branch cannot diverge, so \
         a profiler tells 100 % for it. With loops in the arms the branch stays, and each loop has \
         one more."
            .to_owned(),
        "Branch efficiency is 100·(branches − diverged) / branches. Here the branches are those of \
         the ifs in the source. A profiler also counts the branches of loops and other branches \
         that do not diverge, so it tells more than 0 % for math1."
            .to_owned(),
        "Two ifs: an if/else is one branch of a warp. Two ifs are two branches, and both diverge: \
         twice as many diverged branches for the same result."
            .to_owned(),
        "math4: C reads tid >> 5 & 1 == 0 as (tid >> 5) & (1 == 0), because == binds tighter than \
         & there. That is always false: every element gets 200, and no branch is left to diverge. \
         In Rust == binds weaker than & and >>, so the same text means ((tid >> 5) & 1) == 0."
            .to_owned(),
        "A warp that diverges runs the paths of its lanes one after the other: w paths of the same \
         length take w times as long as one. The same paths cost hardly more than one if all \
         lanes of a warp take the same one. So divergence costs where both arms are long. Then it helps to \
         branch on something that is the same for 32 neighbours, or to sort the work by its path."
            .to_owned(),
    ];
    let math2 = report.kernels.iter().find(|kernel| kernel.kernel == "math2");
    if math2.is_some_and(|kernel| kernel.diverged > 0) {
        meaning.push(format!(
            "Blocks of {} threads are no whole warps: each block begins with a new warp, so tid / 32 \
             is not the number of a warp. That is why math2 and math4 diverge here.",
            report.block
        ));
    }
    if let Some((first, later)) = report.first_launch_us.zip(report.later_launch_us) {
        meaning.push(format!(
            "The first launch of this process took {first:.0} µs, and the same launch later \
             {later:.1} µs: the driver compiles a kernel when it is first needed. So each kernel is \
             launched before it is timed."
        ));
    }
    meaning
}
