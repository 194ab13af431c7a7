//! Columns of the table of SMB mappings.

use super::cells::{absent, glyph_of, plain, reading, role_of, text_or_dash};
use super::{Column, Head, HeadParts, TableRow, Unit, elapsed};
use crate::domain::Timestamp;
use crate::domain::object::Os;
use crate::domain::severity::Severity;
use crate::domain::smb::log::Privacy;
use crate::domain::text::sanitise;
use crate::store::order::{SUMS, Summand};
use crate::store::smb::{MappingState, SmbMapping};
use crate::store::view::{Align, Direction, Line, Role, RowKey, Span};
use std::borrow::Cow;

/// A mapping.
#[derive(Clone, Copy)]
pub struct SmbRow<'a> {
    /// The mapping.
    pub mapping: &'a SmbMapping,
    /// The time that its ages are told for.
    pub now: Timestamp,
}

/// A column of the table of SMB mappings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SmbColumn {
    /// Node.
    Node,
    /// Share with directory.
    Remote,
    /// `DOMAIN\user`.
    Account,
    /// Whether encryption was demanded.
    Privacy,
    /// Pods that use it.
    Pods,
    /// How it stands, and since when.
    State,
    /// Volume.
    Volume,
    /// Claim.
    Claim,
    /// How long its volume has been staged.
    Staged,
}

impl SmbRow<'_> {
    fn volumes(&self) -> Option<String> {
        let volumes = self.mapping.volumes.as_ref().ok()?;
        joined(volumes.iter().map(|volume| volume.name.to_string()))
    }

    fn claims(&self) -> Option<String> {
        let volumes = self.mapping.volumes.as_ref().ok()?;
        let claims = volumes.iter().filter_map(|volume| volume.claim.as_ref());
        joined(claims.map(|(namespace, name)| format!("{namespace}/{name}")))
    }

    fn pods(&self) -> Option<String> {
        let pods = self.mapping.pods.as_ref().ok()?;
        joined(pods.iter().map(|pod| format!("{}/{}", pod.namespace, pod.name)))
    }

    /// `win-demo/reports-writer-67b96b59b-rfb6z +2`.
    fn pods_cell(&self) -> Line {
        let Ok(pods) = &self.mapping.pods else {
            return absent();
        };
        let Some(first) = pods.first() else {
            return plain("none", Role::Muted);
        };
        let mut line = plain(
            sanitise(&format!("{}/{}", first.namespace, first.name)),
            Role::Text,
        );
        if pods.len() > 1 {
            line.push(Span::new(format!(" +{}", pods.len() - 1), Role::Muted));
        }
        line
    }

    /// `mapped 12:50:42`, `✖ 1326: user name or password is wrong`.
    fn state_cell(&self) -> Line {
        let mapping = self.mapping;
        let worst = mapping.warnings.first().map(|warned| warned.warning.severity());
        let (text, role) = match &mapping.state {
            MappingState::Failed(failure, _) => {
                let severity = failure.cause.severity();
                let glyph = glyph_of(severity).unwrap_or_default();
                (
                    format!("{glyph} {}", failure.cause.words()),
                    role_of(severity, Role::Text),
                )
            }
            state @ MappingState::LeftBehind => (format!("▲ {}", state.name()), Role::Warn),
            state @ MappingState::Mapped => {
                let glyph = worst.and_then(glyph_of).map(|glyph| format!("{glyph} "));
                let role = role_of(worst.unwrap_or(Severity::Fine), Role::Ok);
                (format!("{}{}", glyph.unwrap_or_default(), state.name()), role)
            }
            state => (state.name().to_owned(), Role::Muted),
        };
        let mut line = plain(sanitise(&text), role);
        if let Some(at) = mapping.state_at {
            line.push(Span::new(format!(" {}", clock(at, self.now)), Role::Muted));
        }
        line
    }
}

/// The time of today, else the day.
pub fn clock(at: Timestamp, now: Timestamp) -> String {
    let form = if at.date_naive() == now.date_naive() {
        "%H:%M:%S"
    } else {
        "%Y-%m-%d"
    };
    at.format(form).to_string()
}

fn joined(items: impl Iterator<Item = String>) -> Option<String> {
    let items: Vec<String> = items.collect();
    (!items.is_empty()).then(|| items.join(" "))
}

impl<'a> Column<SmbRow<'a>> for SmbColumn {
    const ALL: &'static [Self] = &[
        Self::Node,
        Self::Remote,
        Self::Account,
        Self::Privacy,
        Self::Pods,
        Self::State,
        Self::Volume,
        Self::Claim,
        Self::Staged,
    ];
    const OWN_ORDER: Option<(Self, Direction)> = None;

    fn head(self) -> Head {
        use Align::{Left, Right};
        let (id, title, align, width, priority, units, doc): HeadParts = match self {
            Self::Node => (
                "node",
                "NODE",
                Left,
                (12, 40),
                250,
                &[],
                "The Windows node that maps the share",
            ),
            Self::Remote => (
                "remote",
                "REMOTE PATH",
                Left,
                (20, 110),
                240,
                &[],
                "Share and directory; each directory is a mapping of its own",
            ),
            Self::Account => (
                "account",
                "ACCOUNT",
                Left,
                (17, 40),
                200,
                &[],
                "Account as the node plugin logged it; the Secret is never read",
            ),
            Self::Privacy => (
                "privacy",
                "PRIVACY",
                Left,
                (7, 7),
                180,
                &[],
                "Whether SMB encryption is demanded (RequirePrivacy), as the node plugin logged it",
            ),
            Self::Pods => (
                "pods",
                "PODS",
                Left,
                (15, 60),
                190,
                &[],
                "Pods of the node that use the mapping",
            ),
            Self::State => (
                "state",
                "STATE",
                Left,
                (20, 60),
                230,
                &[],
                "mapped, failed with its Win32 code, removed, or left behind its last pod; and since when",
            ),
            Self::Volume => ("volume", "VOLUME", Left, (12, 44), 120, &[], "PersistentVolume"),
            Self::Claim => (
                "claim",
                "CLAIM",
                Left,
                (10, 40),
                130,
                &[],
                "PersistentVolumeClaim",
            ),
            Self::Staged => (
                "staged",
                "STAGED",
                Right,
                (6, 8),
                110,
                &[Unit::Duration],
                "How long the volume has been staged, as the node plugin logged it",
            ),
        };
        Head {
            id,
            title,
            doc,
            align,
            width,
            priority,
            wide: matches!(self, Self::Volume | Self::Claim | Self::Staged),
            units,
        }
    }

    fn cell(self, row: &SmbRow<'a>) -> Line {
        let mapping = row.mapping;
        match self {
            Self::Node => plain(sanitise(&mapping.node), Role::Text),
            Self::Remote => plain(sanitise(mapping.remote.as_str()), Role::Text),
            Self::Account => reading(&mapping.account, row.now, Role::Text, |account| {
                sanitise(account).into_owned()
            }),
            Self::Privacy => {
                let role = match mapping.privacy.value() {
                    Some(Privacy::On) => Role::Ok,
                    Some(Privacy::Off) => Role::Warn,
                    Some(Privacy::Untold) | None => Role::Muted,
                };
                reading(&mapping.privacy, row.now, role, |privacy| match privacy {
                    Privacy::On => "✔".to_owned(),
                    Privacy::Off => "▲ off".to_owned(),
                    Privacy::Untold => privacy.name().to_owned(),
                })
            }
            Self::Pods => row.pods_cell(),
            Self::State => row.state_cell(),
            Self::Volume => text_or_dash(row.volumes().as_deref()),
            Self::Claim => text_or_dash(row.claims().as_deref()),
            Self::Staged => reading(&mapping.staged_at, row.now, Role::Text, |at| {
                crate::domain::format::kubectl_duration((row.now - *at).num_seconds().max(0))
            }),
        }
    }

    fn number(self, row: &SmbRow<'a>, unit: Unit) -> Option<f64> {
        match (self, unit) {
            (Self::Staged, Unit::Duration) => row.mapping.staged_at.value().map(|at| elapsed(row.now - *at)),
            _ => None,
        }
    }

    fn text<'r>(self, row: &'r SmbRow<'a>) -> Option<Cow<'r, str>> {
        let mapping = row.mapping;
        let text: Cow<'r, str> = match self {
            Self::Node => (&*mapping.node).into(),
            Self::Remote => mapping.remote.as_str().into(),
            Self::Account => (&**mapping.account.value()?).into(),
            Self::Privacy => mapping.privacy.value()?.name().into(),
            Self::Pods => row.pods()?.into(),
            Self::State => match &mapping.state {
                MappingState::Failed(failure, _) => format!("failed {}", failure.cause.words()).into(),
                state => state.name().into(),
            },
            Self::Volume => row.volumes()?.into(),
            Self::Claim => row.claims()?.into(),
            Self::Staged => return None,
        };
        Some(match text {
            Cow::Borrowed(text) => sanitise(text),
            Cow::Owned(text) => sanitise(&text).into_owned().into(),
        })
    }
}

impl TableRow for SmbRow<'_> {
    type Column = SmbColumn;

    fn key(&self) -> RowKey {
        RowKey::Smb {
            node: self.mapping.node.clone(),
            remote: self.mapping.remote.as_str().into(),
        }
    }

    fn os(&self) -> Option<Os> {
        Some(Os::Windows)
    }

    fn now(&self) -> Timestamp {
        self.now
    }

    fn any_word(&self, test: &mut dyn FnMut(&str) -> bool) -> bool {
        let columns = [
            SmbColumn::Node,
            SmbColumn::Remote,
            SmbColumn::Account,
            SmbColumn::Pods,
            SmbColumn::State,
            SmbColumn::Volume,
            SmbColumn::Claim,
        ];
        columns
            .into_iter()
            .any(|column| column.text(self).is_some_and(|text| test(&text)))
    }

    fn summands(&self) -> [Summand; SUMS] {
        Default::default()
    }
}
