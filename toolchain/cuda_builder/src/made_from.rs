//! The files that a build depends on.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::BuildError;

/// The sources and manifests of the last build in the target folder `dir`, according to cargo's
/// `messages`: JSON, one per line. Cargo lists the sources of a crate and its path dependencies in
/// a file next to its result.
pub(crate) fn made_from(messages: &str, dir: &Path) -> Result<Vec<PathBuf>, BuildError> {
    let Some(name) = last_built(messages) else { return Ok(Vec::new()) };
    let list = dir.join(format!("nvptx64-nvidia-cuda/release/{name}.d"));
    let text = fs::read_to_string(&list).map_err(BuildError::io(&list))?;
    let mut files: BTreeSet<PathBuf> = dependencies(&text).into_iter().collect();
    let manifests: Vec<_> = files.iter().filter_map(|file| manifest_of(file)).collect();
    files.extend(manifests);
    Ok(files.into_iter().collect())
}

/// The name of the crate that cargo built last.
fn last_built(messages: &str) -> Option<String> {
    let mut messages = messages.lines().filter_map(|line| serde_json::from_str(line).ok());
    let artifact: Value = messages.rfind(|it: &Value| it["reason"] == "compiler-artifact")?;
    Some(artifact["target"]["name"].as_str()?.replace('-', "_"))
}

/// The files after the colon of a make rule, in which a backslash escapes a space in a name.
fn dependencies(rule: &str) -> Vec<PathBuf> {
    let Some((_, files)) = rule.lines().next().and_then(|line| line.split_once(": ")) else {
        return Vec::new();
    };
    let files = files.replace("\\ ", "\0");
    files.split_whitespace().map(|file| PathBuf::from(file.replace('\0', " "))).collect()
}

fn manifest_of(source: &Path) -> Option<PathBuf> {
    let manifests = source.ancestors().skip(1).map(|folder| folder.join("Cargo.toml"));
    manifests.into_iter().find(|manifest| manifest.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_crate_is_used_and_other_messages_are_ignored() {
        let messages = r#"
not JSON
{"reason":"compiler-artifact","target":{"name":"dependency"}}
{"reason":"compiler-artifact","target":{"name":"my-kernels"}}
{"reason":"build-finished","success":true}"#;
        assert_eq!(last_built(messages).as_deref(), Some("my_kernels"));
        assert_eq!(made_from("", Path::new("")).unwrap(), Vec::<PathBuf>::new());
    }

    #[test]
    fn names_with_spaces_stay_whole() {
        let rule = "/t/kernels.ptx: /my\\ code/lib.rs /b.rs\n\n/b.rs:\n";
        assert_eq!(dependencies(rule), ["/my code/lib.rs", "/b.rs"].map(PathBuf::from));
        assert_eq!(dependencies(""), Vec::<PathBuf>::new());
    }
}
