//! The launcher's settings: this process's rank, the number of ranks, and where they meet.

use super::{job, node_list};
use std::env;

/// The rendezvous port if neither a variable nor the job's name determines one.
pub const DEFAULT_PORT: u16 = 29_533;

/// The environment variable for the port. It takes precedence over `MASTER_PORT`.
pub const PORT_VARIABLE: &str = "GRIDSYNC_PORT";

/// The most ranks of a job. Rank 0 has a connection and a thread for each rank.
pub const MOST_RANKS: u32 = 1 << 16;

/// The position of this process among the ranks of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    /// The number of this rank, starting at 0.
    pub rank: u32,
    /// Number of ranks.
    pub size: u32,
    /// The number of this rank on its machine, starting at 0; 0 if the launcher does not set it.
    pub local_rank: u32,
    /// Host name or address of rank 0.
    pub address: String,
    /// The port that rank 0 listens on.
    pub port: u16,
    /// The name of the job, the same for all its ranks; `None` if the launcher does not name it.
    pub job: Option<String>,
}

/// Why the environment does not determine this process's rank.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EnvironmentError {
    /// No launcher has set its variables.
    #[error(
        "no launcher has set the rank of this process: neither {} are set; start it with torchrun --no-python, mpirun or srun, \
         or set RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT",
        LAUNCHERS.map(|l| format!("{} and {}", l.rank, l.size)).join(" nor ")
    )]
    NoLauncher,
    /// Only one of two variables that belong together is set.
    #[error("{set} is set and {missing} is not: set both, or use a launcher, which sets them")]
    Half {
        /// The variable that is set.
        set: &'static str,
        /// The missing variable.
        missing: &'static str,
    },
    /// A variable is not a number, or is out of range.
    #[error("{variable} is {value:?}, but must be a number from {from} to {to}")]
    NotANumber {
        /// The variable.
        variable: &'static str,
        /// Its value.
        value: String,
        /// The smallest allowed number.
        from: u32,
        /// The largest allowed number.
        to: u32,
    },
    /// The rank is not below the number of ranks.
    #[error("{variable} is {rank}, but there are {size} ranks ({of}): it must be from 0 to {}", size - 1)]
    NoSuchRank {
        /// The variable that holds the rank.
        variable: &'static str,
        /// Its value.
        rank: u32,
        /// The variable that holds the number of ranks.
        of: &'static str,
        /// Its value, at least 1.
        size: u32,
    },
    /// No variable gives the address of rank 0.
    #[error(
        "MASTER_ADDR is not set, so that nothing says where rank 0 of {size} runs: set it to the name of that machine, \
         for example by mpirun -x MASTER_ADDR=…"
    )]
    NoAddress {
        /// Number of ranks.
        size: u32,
    },
    /// SLURM's list of machines cannot be parsed.
    #[error(
        "{variable} is {value:?}, which is no list of machines: set MASTER_ADDR to the machine of rank 0"
    )]
    BadNodeList {
        /// The variable.
        variable: &'static str,
        /// Its value.
        value: String,
    },
}

/// The variables of a launcher.
struct Launcher {
    rank: &'static str,
    size: &'static str,
    local_rank: &'static str,
    /// The number of ranks on this machine.
    local_size: &'static str,
    /// Groups of variables that name the job and are the same on all machines. SLURM may start
    /// torchrun or mpirun in a different step on each machine, so only the job id counts.
    jobs: &'static [&'static [&'static str]],
}

/// The launchers, innermost first: srun can start torchrun and mpirun too, and then its variables
/// describe something else.
const LAUNCHERS: [Launcher; 4] = [
    // torchrun: https://docs.pytorch.org/docs/stable/elastic/run.html#environment-variables
    Launcher {
        rank: "RANK",
        size: "WORLD_SIZE",
        local_rank: "LOCAL_RANK",
        local_size: "LOCAL_WORLD_SIZE",
        jobs: &[&["TORCHELASTIC_RUN_ID"], &["SLURM_JOB_ID"]],
    },
    // Open MPI: https://docs.open-mpi.org/en/main/tuning-apps/environment-var.html
    Launcher {
        rank: "OMPI_COMM_WORLD_RANK",
        size: "OMPI_COMM_WORLD_SIZE",
        local_rank: "OMPI_COMM_WORLD_LOCAL_RANK",
        local_size: "OMPI_COMM_WORLD_LOCAL_SIZE",
        jobs: &[&["PMIX_NAMESPACE"], &["SLURM_JOB_ID"]],
    },
    // MPICH's Hydra and its derivatives.
    Launcher {
        rank: "PMI_RANK",
        size: "PMI_SIZE",
        local_rank: "MPI_LOCALRANKID",
        local_size: "MPI_LOCALNRANKS",
        jobs: &[&["PMI_JOBID"], &["SLURM_JOB_ID"]],
    },
    // SLURM: https://slurm.schedmd.com/srun.html#SECTION_OUTPUT-ENVIRONMENT-VARIABLES. The number
    // of ranks per machine has a different format, and the machines are in a list (see `address`).
    Launcher {
        rank: "SLURM_PROCID",
        size: "SLURM_NTASKS",
        local_rank: "SLURM_LOCALID",
        local_size: "",
        jobs: &[&["SLURM_JOB_ID", "SLURM_STEP_ID"], &["SLURM_JOB_ID"]],
    },
];

/// SLURM's lists of machines, narrowest first.
const NODE_LISTS: [&str; 3] = ["SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST", "SLURM_NODELIST"];

impl Environment {
    /// Reads the environment of this process.
    ///
    /// # Errors
    /// [`EnvironmentError`], which names the variables and the fix.
    pub fn of_process() -> Result<Self, EnvironmentError> {
        Self::from(&|name| env::var(name).ok())
    }

    /// Reads the variables that `variable` returns.
    ///
    /// The rank comes from `RANK` and `WORLD_SIZE`, else from `OMPI_COMM_WORLD_RANK` and `_SIZE`,
    /// else from `PMI_RANK` and `PMI_SIZE`, else from `SLURM_PROCID` and `SLURM_NTASKS`. The
    /// address is `MASTER_ADDR`. Without it, it is the first machine of SLURM's list if SLURM
    /// started the ranks, or this machine if all ranks are on it.
    ///
    /// The name of the job is [`JOB_VARIABLE`](super::JOB_VARIABLE), else that of the launcher:
    /// `TORCHELASTIC_RUN_ID`, `PMIX_NAMESPACE`, `PMI_JOBID`, or `SLURM_JOB_ID` with `SLURM_STEP_ID`
    /// if SLURM started the ranks. The port is [`PORT_VARIABLE`], else `MASTER_PORT`, else one of
    /// [`JOB_PORTS`](super::JOB_PORTS), derived from the name of the job, or [`DEFAULT_PORT`] if
    /// the job has no name. If torchrun itself listens on `MASTER_PORT`, the next port is used.
    ///
    /// # Errors
    /// [`EnvironmentError`], which names the variables and the fix.
    pub fn from(variable: &dyn Fn(&str) -> Option<String>) -> Result<Self, EnvironmentError> {
        let variable = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        let set = |name: &'static str| variable(name).map(|_| name);
        let mut half = None;
        for launcher in &LAUNCHERS {
            match (set(launcher.rank), set(launcher.size)) {
                (Some(_), Some(_)) => return launcher.read(&variable),
                (Some(set), None) => half = half.or(Some((set, launcher.size))),
                (None, Some(set)) => half = half.or(Some((set, launcher.rank))),
                (None, None) => {}
            }
        }
        Err(match half {
            Some((set, missing)) => EnvironmentError::Half { set, missing },
            None => EnvironmentError::NoLauncher,
        })
    }
}

impl Launcher {
    fn read(
        &self,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Environment, EnvironmentError> {
        let size = number(variable, self.size, 1, MOST_RANKS)?.unwrap_or(1);
        let rank = number(variable, self.rank, 0, u32::MAX)?.unwrap_or(0);
        if rank >= size {
            let (variable, of) = (self.rank, self.size);
            return Err(EnvironmentError::NoSuchRank { variable, rank, of, size });
        }
        let local_rank = number(variable, self.local_rank, 0, u32::MAX)?.unwrap_or(0);
        let job = job::name(variable, self.jobs);
        Ok(Environment {
            rank,
            size,
            local_rank,
            address: self.address(variable, size)?,
            port: port(variable, job.as_deref())?,
            job,
        })
    }

    /// The address of rank 0.
    fn address(
        &self,
        variable: &dyn Fn(&str) -> Option<String>,
        size: u32,
    ) -> Result<String, EnvironmentError> {
        if let Some(address) = variable("MASTER_ADDR") {
            return Ok(address.trim().to_owned());
        }
        if self.rank == "SLURM_PROCID" {
            let list = |name: &'static str| variable(name).map(|value| (name, value));
            if let Some((variable, value)) = NODE_LISTS.into_iter().find_map(list) {
                let first = node_list::expand(&value).and_then(|nodes| nodes.into_iter().next());
                return first.ok_or(EnvironmentError::BadNodeList { variable, value });
            }
        }
        let here = variable(self.local_size).and_then(|value| value.trim().parse().ok());
        if size == 1 || here == Some(size) {
            return Ok("127.0.0.1".into());
        }
        Err(EnvironmentError::NoAddress { size })
    }
}

/// The rendezvous port of the job with this name.
fn port(
    variable: &dyn Fn(&str) -> Option<String>,
    job: Option<&str>,
) -> Result<u16, EnvironmentError> {
    let read = |name| {
        let port = number(variable, name, 1, u16::MAX.into())?;
        Ok(port.and_then(|port| u16::try_from(port).ok()))
    };
    if let Some(port) = read(PORT_VARIABLE)? {
        return Ok(port);
    }
    // torchrun's agent may run its own store on MASTER_PORT (`use_agent_store` in
    // torch/distributed/elastic/agent/server/local_elastic_agent.py).
    let is_taken = variable("TORCHELASTIC_USE_AGENT_STORE").is_some_and(|value| value == "True");
    Ok(match read("MASTER_PORT")? {
        Some(port) if is_taken => port.checked_add(1).unwrap_or(port - 1),
        Some(port) => port,
        None => job.map_or(DEFAULT_PORT, job::port),
    })
}

/// The number in the variable `name`, if it is set.
fn number(
    variable: &dyn Fn(&str) -> Option<String>,
    name: &'static str,
    from: u32,
    to: u32,
) -> Result<Option<u32>, EnvironmentError> {
    let Some(value) = variable(name) else {
        return Ok(None);
    };
    match value.trim().parse() {
        Ok(number) if (from..=to).contains(&number) => Ok(Some(number)),
        _ => Err(EnvironmentError::NotANumber { variable: name, value, from, to }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<Environment, EnvironmentError> {
        Environment::from(&|name| {
            let found = variables.iter().find(|(set, _)| *set == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    const TORCH: [(&str, &str); 5] = [
        ("RANK", "5"),
        ("WORLD_SIZE", "8"),
        ("LOCAL_RANK", "1"),
        ("MASTER_ADDR", "node7"),
        ("MASTER_PORT", "29500"),
    ];

    #[test]
    fn torchrun_sets_rank_address_and_port() {
        let found = read(&TORCH).expect("all is there");
        let expected = Environment {
            rank: 5,
            size: 8,
            local_rank: 1,
            address: "node7".into(),
            port: 29500,
            job: None,
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn the_port_of_torchruns_store_is_not_used() {
        let store = ("TORCHELASTIC_USE_AGENT_STORE", "True");
        let with = |more: &[(&'static str, &'static str)]| {
            read(&[more, &TORCH].concat()).expect("all is there").port
        };
        assert_eq!(with(&[store]), 29501);
        assert_eq!(with(&[("TORCHELASTIC_USE_AGENT_STORE", "False")]), 29500);
        assert_eq!(with(&[store, ("MASTER_PORT", "65535")]), 65534);
        assert_eq!(with(&[store, (PORT_VARIABLE, "7000")]), 7000);
    }

    #[test]
    fn mpirun_on_one_machine_needs_no_address() {
        let here = [
            ("OMPI_COMM_WORLD_RANK", "1"),
            ("OMPI_COMM_WORLD_SIZE", "2"),
            ("OMPI_COMM_WORLD_LOCAL_RANK", "1"),
            ("OMPI_COMM_WORLD_LOCAL_SIZE", "2"),
            // mpirun in a SLURM batch script: the script itself is process 0 of 1.
            ("SLURM_PROCID", "0"),
            ("SLURM_NTASKS", "1"),
        ];
        let found = read(&here).expect("all is there");
        assert_eq!((found.rank, found.size, found.local_rank), (1, 2, 1));
        assert_eq!((&found.address[..], found.port), ("127.0.0.1", DEFAULT_PORT));
        let far = [("PMI_RANK", "1"), ("PMI_SIZE", "4"), ("MPI_LOCALNRANKS", "2")];
        assert_eq!(read(&far), Err(EnvironmentError::NoAddress { size: 4 }));
    }

    #[test]
    fn srun_lists_the_machine_of_rank_0_first() {
        let srun = [
            ("SLURM_PROCID", "3"),
            ("SLURM_NTASKS", "4"),
            ("SLURM_LOCALID", "1"),
            ("SLURM_STEP_NODELIST", "gpu[07-08,12]"),
            ("SLURM_JOB_NODELIST", "cpu1,gpu[07-08,12]"),
        ];
        let found = read(&srun).expect("all is there");
        assert_eq!((found.rank, found.local_rank, &found.address[..]), (3, 1, "gpu07"));
        let named = [&srun[..], &[("MASTER_ADDR", "10.0.0.1")]].concat();
        assert_eq!(read(&named).expect("all is there").address, "10.0.0.1");
        let variable = "SLURM_JOB_NODELIST";
        let value = "gpu[".to_owned();
        let bad = [("SLURM_PROCID", "0"), ("SLURM_NTASKS", "2"), (variable, "gpu[")];
        assert_eq!(read(&bad), Err(EnvironmentError::BadNodeList { variable, value }));
    }

    #[test]
    fn the_default_port_is_derived_from_the_job() {
        let step = |number| {
            let srun = [("SLURM_PROCID", "0"), ("SLURM_NTASKS", "1"), ("SLURM_JOB_ID", "71")];
            read(&[&srun[..], &[("SLURM_STEP_ID", number)]].concat()).expect("all is there")
        };
        let (one, other) = (step("0"), step("1"));
        assert_eq!(one.job.as_deref(), Some("SLURM_JOB_ID=71 SLURM_STEP_ID=0"));
        assert_eq!(one, step("0"));
        assert_ne!(one.port, other.port);
    }

    #[test]
    fn torchrun_in_several_slurm_steps_is_one_job() {
        let torch = |step| {
            let slurm = [("SLURM_JOB_ID", "71"), ("SLURM_STEP_ID", step)];
            read(&[&TORCH[..], &slurm].concat()).expect("all is there")
        };
        assert_eq!(torch("0"), torch("1"));
        assert_eq!(torch("0").job.as_deref(), Some("SLURM_JOB_ID=71"));
    }

    #[test]
    fn missing_variables_are_named() {
        let said = read(&[]).expect_err("nothing is set").to_string();
        for name in ["RANK", "WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "PMI_SIZE", "SLURM_PROCID"] {
            assert!(said.contains(name), "{said}");
        }
        let (set, missing) = ("RANK", "WORLD_SIZE");
        assert_eq!(read(&[("RANK", "0")]), Err(EnvironmentError::Half { set, missing }));
        let (set, missing) = ("SLURM_NTASKS", "SLURM_PROCID");
        let alone = [("RANK", " "), ("SLURM_NTASKS", "2")];
        assert_eq!(read(&alone), Err(EnvironmentError::Half { set, missing }));
    }

    #[test]
    fn invalid_values_are_refused_and_quoted() {
        let rank = |rank, size| {
            let variables = [("RANK", rank), ("WORLD_SIZE", size), ("MASTER_ADDR", "x")];
            read(&variables).map(|found| found.rank).map_err(|error| error.to_string())
        };
        assert_eq!(rank("3", "4"), Ok(3));
        let said = rank("4", "4").expect_err("there is none");
        assert!(said.contains("RANK is 4") && said.contains("from 0 to 3"), "{said}");
        for (bad, size) in
            [("-1", "4"), ("one", "4"), ("0", "0"), ("0", "many"), ("0", "4294967295")]
        {
            let said = rank(bad, size).expect_err("it is no number");
            assert!(said.contains("must be a number"), "{said}");
        }
        let port = [("RANK", "0"), ("WORLD_SIZE", "1"), ("MASTER_PORT", "65536")];
        let said = read(&port).expect_err("there is none").to_string();
        assert!(said.contains("MASTER_PORT") && said.contains("65535"), "{said}");
    }
}
