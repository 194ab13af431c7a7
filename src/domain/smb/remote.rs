//! The path of a share as Windows maps it. On HostProcess nodes each directory of a share is a mapping of its own.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

/// `\\server\share\directory`, as it was written; SMB tells no cases apart, and neither do comparisons.
#[derive(Clone, Debug)]
pub struct RemotePath(Box<str>);

impl RemotePath {
    /// From any spelling: `//server/share`, `\\server\share`, `UNC\server\share`, `\\?\UNC\server\share`. `None` for
    /// what names no server with a share.
    pub fn parse(text: &str) -> Option<Self> {
        let path = text.trim().replace('/', "\\");
        let bare = path.trim_start_matches('\\');
        let bare = bare.strip_prefix("?\\").unwrap_or(bare);
        let bare = bare.strip_prefix("UNC\\").unwrap_or(bare);
        let bare = bare.trim_end_matches('\\');
        let (server, share) = bare.split_once('\\')?;
        let whole = !server.is_empty() && !share.is_empty();
        whole.then(|| Self(format!("\\\\{bare}").into()))
    }

    /// The path that the plugin puts together from a volume's `source` and `subDir`.
    pub fn of_volume(source: &str, sub_dir: Option<&str>) -> Option<Self> {
        match sub_dir.filter(|sub_dir| !sub_dir.is_empty()) {
            Some(sub_dir) => Self::parse(&format!("{}/{sub_dir}", source.trim_end_matches('/'))),
            None => Self::parse(source),
        }
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The server.
    pub fn server(&self) -> &str {
        self.parts().next().unwrap_or_default()
    }

    /// The share on the server.
    pub fn share(&self) -> &str {
        self.parts().nth(1).unwrap_or_default()
    }

    fn parts(&self) -> impl Iterator<Item = &str> {
        self.0.trim_start_matches('\\').split('\\')
    }

    fn folded(&self) -> impl Iterator<Item = char> {
        self.0.chars().flat_map(char::to_lowercase)
    }
}

impl fmt::Display for RemotePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl PartialEq for RemotePath {
    fn eq(&self, other: &Self) -> bool {
        self.folded().eq(other.folded())
    }
}

impl Eq for RemotePath {}

impl PartialOrd for RemotePath {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for RemotePath {
    fn cmp(&self, other: &Self) -> Ordering {
        self.folded().cmp(other.folded())
    }
}

impl Hash for RemotePath {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for character in self.folded() {
            character.hash(state);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_share_is_one_path() {
        let path = RemotePath::parse(r"\\files.example.com\k8s\reports").unwrap();
        for spelling in [
            "//files.example.com/k8s/reports",
            r"UNC\files.example.com\k8s\reports",
            r"\\?\UNC\files.example.com\k8s\reports",
            r"\\FILES.example.com\K8S\Reports\",
        ] {
            assert_eq!(RemotePath::parse(spelling), Some(path.clone()), "{spelling}");
        }
        assert_eq!((path.server(), path.share()), ("files.example.com", "k8s"));
    }

    #[test]
    fn what_names_no_share_is_no_path() {
        for text in ["", "//", r"\\server", "//server/", "/share"] {
            assert_eq!(RemotePath::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_sub_directory_is_part_of_the_mapping() {
        let path = RemotePath::of_volume("//files.example.com/k8s/", Some("reports")).unwrap();
        assert_eq!(path.as_str(), r"\\files.example.com\k8s\reports");
        let whole = RemotePath::of_volume("//files.example.com/k8s", Some("")).unwrap();
        assert_eq!(whole.as_str(), r"\\files.example.com\k8s");
    }
}
