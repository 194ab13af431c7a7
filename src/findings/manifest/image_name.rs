//! What the name of an image tells. Only names of Microsoft's own images tell anything about Windows: the base and
//! the version stand in their tags.

/// Build numbers of the LTSC releases, as Microsoft's tags name them.
const RELEASES: [(&str, u32); 5] = [
    ("ltsc2016", 14393),
    ("ltsc2019", 17763),
    ("1809", 17763),
    ("ltsc2022", 20348),
    ("ltsc2025", 26100),
];

/// The name of an image, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageName<'a> {
    /// Registry and repository.
    pub repository: &'a str,
    /// Tag; `None` means `latest`, unless there is a digest.
    pub tag: Option<&'a str>,
    /// Whether a digest pins it.
    pub pinned: bool,
}

/// Which base image of Microsoft's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// `cmd.exe`, `curl.exe`, `tar.exe`; no PowerShell.
    NanoServer,
    /// With PowerShell and .NET Framework; a gigabyte or more.
    ServerCore,
    /// All of the server's interfaces; several gigabytes.
    Server,
}

impl<'a> ImageName<'a> {
    /// Takes `registry/repository:tag@digest` apart.
    pub fn of(image: &'a str) -> Self {
        let (name, pinned) = image
            .split_once('@')
            .map_or((image, false), |(name, _)| (name, true));
        let path = name.rfind('/').map_or(0, |slash| slash + 1);
        let colon = name[path..].find(':').map(|colon| path + colon);
        Self {
            repository: colon.map_or(name, |colon| &name[..colon]),
            tag: colon.map(|colon| &name[colon + 1..]),
            pinned,
        }
    }

    /// The path in Microsoft's registry, if it lies there.
    fn microsoft(self) -> Option<&'a str> {
        self.repository.strip_prefix("mcr.microsoft.com/")
    }

    /// Whether it is one of the base images that hold nothing but Windows, which have no tag `latest`.
    pub fn is_bare_base(self) -> bool {
        matches!(
            self.microsoft(),
            Some("windows/nanoserver" | "windows/servercore" | "windows/server" | "windows")
        )
    }

    /// Whether it exists for Windows only.
    pub fn is_windows_only(self) -> bool {
        self.base().is_some()
            || self
                .microsoft()
                .is_some_and(|path| path == "windows" || path.starts_with("windows/"))
    }

    /// The base that it is or stands on, where its name tells.
    pub fn base(self) -> Option<Base> {
        let path = self.microsoft()?;
        let tag = self.tag.unwrap_or_default();
        let says = |word: &str| path.contains(word) || tag.contains(word);
        if says("nanoserver") {
            Some(Base::NanoServer)
        } else if says("servercore") || path.starts_with("dotnet/framework/") {
            Some(Base::ServerCore)
        } else if path == "windows/server" || path == "windows" {
            Some(Base::Server)
        } else {
            None
        }
    }

    /// The build of Windows that its tag names, where it is one of Microsoft's.
    pub fn build(self) -> Option<u32> {
        self.microsoft()?;
        let tag = self.tag?;
        let numbered = |word: &str| {
            let mut parts = word.strip_prefix("10.0.")?.split('.');
            parts.next()?.parse().ok()
        };
        tag.split(['-', '_']).find_map(|word| {
            RELEASES
                .iter()
                .find_map(|(release, build)| (*release == word).then_some(*build))
                .or_else(|| numbered(word))
        })
    }

    /// Whether it serves with IIS, which logs to files.
    pub fn is_iis(self) -> bool {
        self.microsoft().is_some_and(|path| {
            path.starts_with("windows/servercore/iis")
                || path == "dotnet/framework/aspnet"
                || path == "dotnet/framework/wcf"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_taken_apart_at_the_right_colon() {
        let name = ImageName::of("localhost:5000/app");
        assert_eq!((name.repository, name.tag), ("localhost:5000/app", None));
        let name = ImageName::of("localhost:5000/app:1.3@sha256:05d1");
        assert_eq!(
            (name.repository, name.tag, name.pinned),
            ("localhost:5000/app", Some("1.3"), true)
        );
    }

    #[test]
    fn microsofts_tags_tell_base_and_build() {
        for (image, base, build) in [
            (
                "mcr.microsoft.com/windows/nanoserver:ltsc2025",
                Some(Base::NanoServer),
                Some(26100),
            ),
            (
                "mcr.microsoft.com/windows/servercore/iis:windowsservercore-ltsc2022",
                Some(Base::ServerCore),
                Some(20348),
            ),
            (
                "mcr.microsoft.com/dotnet/aspnet:9.0-nanoserver-1809",
                Some(Base::NanoServer),
                Some(17763),
            ),
            (
                "mcr.microsoft.com/windows/servercore:10.0.20348.2322-amd64",
                Some(Base::ServerCore),
                Some(20348),
            ),
            ("mcr.microsoft.com/dotnet/samples:aspnetapp", None, None),
            ("ghcr.io/example/nanoserver:ltsc2025", None, None),
        ] {
            let name = ImageName::of(image);
            assert_eq!((name.base(), name.build()), (base, build), "{image}");
        }
    }
}
