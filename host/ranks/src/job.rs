//! The name that a launcher gives a job, and the port derived from it.

use super::hash::fnv;
use std::ops::Range;

/// The environment variable that names the job. It takes precedence over the launchers' variables.
pub const JOB_VARIABLE: &str = "GRIDSYNC_JOB";

/// The ports of named jobs, below the range from which operating systems assign ephemeral ports.
pub const JOB_PORTS: Range<u16> = 20_000..30_000;

/// The name of the job, from the first of these groups whose variables are all set, or `None`.
/// [`JOB_VARIABLE`] comes first.
pub(super) fn name(
    variable: &dyn Fn(&str) -> Option<String>,
    launcher: &[&[&'static str]],
) -> Option<String> {
    let value = |name: &&'static str| {
        let value = variable(name)?;
        let value = value.trim();
        // torchrun's default without --rdzv-id, which is the same for all jobs.
        let is_a_name = *name != "TORCHELASTIC_RUN_ID" || value != "none";
        is_a_name.then(|| format!("{name}={value}"))
    };
    let group = |names: &[&'static str]| -> Option<String> {
        Some(names.iter().map(value).collect::<Option<Vec<_>>>()?.join(" "))
    };
    group(&[JOB_VARIABLE]).or_else(|| launcher.iter().copied().find_map(group))
}

/// The port of the job with this name.
pub(super) fn port(name: &str) -> u16 {
    JOB_PORTS.start + (fnv(name.bytes()) % JOB_PORTS.len() as u64) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLURM: [&[&str]; 2] = [&["SLURM_JOB_ID", "SLURM_STEP_ID"], &["SLURM_JOB_ID"]];

    fn named(variables: &[(&str, &str)], launcher: &[&[&'static str]]) -> Option<String> {
        let variable = |name: &str| {
            let found = variables.iter().find(|(set, _)| *set == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        name(&variable, launcher)
    }

    #[test]
    fn a_job_name_contains_its_variables() {
        let step = [("SLURM_JOB_ID", "71"), ("SLURM_STEP_ID", " 2 ")];
        assert_eq!(named(&step, &SLURM).as_deref(), Some("SLURM_JOB_ID=71 SLURM_STEP_ID=2"));
        assert_eq!(named(&step[..1], &SLURM).as_deref(), Some("SLURM_JOB_ID=71"));
        let own = [&step[..], &[(JOB_VARIABLE, "mine")]].concat();
        assert_eq!(named(&own, &SLURM).as_deref(), Some("GRIDSYNC_JOB=mine"));
        assert_eq!(named(&step[1..], &SLURM), None);
    }

    #[test]
    fn the_default_id_of_torchrun_is_not_a_job_name() {
        let torch: [&[&str]; 2] = [&["TORCHELASTIC_RUN_ID"], &["SLURM_JOB_ID"]];
        let found = |id| named(&[("TORCHELASTIC_RUN_ID", id), ("SLURM_JOB_ID", "71")], &torch);
        assert_eq!(found("none").as_deref(), Some("SLURM_JOB_ID=71"));
        assert_eq!(found("5f1c").as_deref(), Some("TORCHELASTIC_RUN_ID=5f1c"));
    }

    #[test]
    fn different_job_names_give_different_ports() {
        let ports: Vec<_> =
            (0..4).map(|step| port(&format!("SLURM_JOB_ID=71 SLURM_STEP_ID={step}"))).collect();
        assert!(ports.iter().all(|port| JOB_PORTS.contains(port)), "{ports:?}");
        assert!((1..4).all(|i| !ports[..i].contains(&ports[i])), "{ports:?}");
    }
}
