//! The page of an SMB mapping, its preview, and what the pages of nodes and pods say about mappings.

use super::{labelled, lines, measured};
use crate::domain::smb::DRIVER;
use crate::domain::smb::warning::{Subject, Warned};
use crate::domain::text::sanitise;
use crate::domain::{Name, Timestamp, format};
use crate::store::Store;
use crate::store::columns::Column;
use crate::store::columns::cells::{ABSENT, glyph_of, plain, role_of};
use crate::store::columns::smb::{SmbColumn, SmbRow};
use crate::store::smb::{MappedVolume, SmbMapping};
use crate::store::view::{Line, Page, Role, Section, Span};

impl Store {
    /// The page of a mapping; `None` if it is gone.
    pub fn smb_page(&self, node: &Name, remote: &str, now: Timestamp) -> Option<Page> {
        let mapping = self.smb_mapping(node, remote)?;
        let mut title = plain(format!("{}  ", sanitise(mapping.remote.as_str())), Role::Title);
        title.extend(SmbColumn::State.cell(&SmbRow { mapping, now }));
        title.push(Span::new(format!("   on {}", sanitise(node)), Role::Muted));
        let mut sections = Vec::new();
        if !mapping.warnings.is_empty() {
            sections.push(warnings("worth knowing", &mapping.warnings));
        }
        sections.push(lines("mapping", facts(mapping, now)));
        sections.push(lines("volumes", volumes(mapping)));
        Some(Page { title, sections })
    }

    /// Lines about the selected mapping: what is wrong with it, or worth knowing.
    pub(super) fn smb_preview(&self, node: &Name, remote: &str) -> Option<Vec<Line>> {
        let mapping = self.smb_mapping(node, remote)?;
        Some(mapping.warnings.iter().map(warning).collect())
    }

    /// What a Windows node maps, and what is wrong with that; `None` on a node that has nothing to do with SMB.
    pub(super) fn smb_of_node(&self, node: &Name, now: Timestamp) -> Option<Section> {
        let mut page: Vec<Line> = self
            .smb
            .of_node(node)
            .map(|mapping| {
                let row = SmbRow { mapping, now };
                let mut line = plain(format!("{}  ", sanitise(mapping.remote.as_str())), Role::Text);
                line.extend(SmbColumn::State.cell(&row));
                line.push(Span::new("   ", Role::Muted));
                line.extend(SmbColumn::Pods.cell(&row));
                line
            })
            .collect();
        let count = page.len();
        let about = Subject::Node(node.clone());
        let wrong = self.smb.warnings.iter().filter(|warned| warned.about == about);
        page.extend(wrong.map(warning));
        (!page.is_empty()).then(|| lines(&format!("SMB {count}"), page))
    }

    /// `   SMB 1   drivers smb.csi.k8s.io`, for the preview of a Windows node.
    pub(super) fn smb_brief(&self, node: &Name) -> Line {
        if self.smb_count().is_none() {
            return Line::new();
        }
        let count = self.smb.of_node(node).count();
        let mut line = plain("   SMB ", Role::Muted);
        line.push(Span::new(count.to_string(), Role::Text));
        let registered = self.cluster.storage.csi_nodes.find(&(None, node.clone()));
        if let Some(registered) = registered {
            let drivers = format!("   drivers {}", registered.drivers.join(" "));
            line.push(Span::new(sanitise(&drivers).into_owned(), Role::Muted));
        }
        line
    }

    /// What a claim of a pod is on its node: `\\server\share\directory, mapped 12:50:42`, or what keeps it from that.
    pub(super) fn smb_of_claim(&self, pod: (&Name, &Name), claim: &str, now: Timestamp) -> Option<Line> {
        let uses = |mapping: &&SmbMapping| {
            let pods = mapping.pods.as_deref().unwrap_or_default();
            let volumes = mapping.volumes.as_deref().unwrap_or_default();
            let is_claim = |volume: &MappedVolume| {
                let claim_of = volume.claim.as_ref();
                claim_of.is_some_and(|(namespace, name)| namespace == pod.0 && &**name == claim)
            };
            pods.iter().any(|one| (&one.namespace, &one.name) == pod) && volumes.iter().any(is_claim)
        };
        let mapping = self.smb.mappings.iter().find(uses)?;
        let mut line = plain(format!("  {}  ", sanitise(mapping.remote.as_str())), Role::Text);
        line.extend(SmbColumn::State.cell(&SmbRow { mapping, now }));
        Some(line)
    }

    /// What is wrong with the volumes of a pod (NFS on Windows).
    pub(super) fn smb_of_pod(&self, namespace: &Name, name: &Name) -> Option<Section> {
        let about = Subject::Pod(namespace.clone(), name.clone());
        let wrong: Vec<Warned> = self
            .smb
            .warnings
            .iter()
            .filter(|warned| warned.about == about)
            .cloned()
            .collect();
        (!wrong.is_empty()).then(|| warnings("", &wrong))
    }
}

fn facts(mapping: &SmbMapping, now: Timestamp) -> Vec<Line> {
    let row = SmbRow { mapping, now };
    let mut state = SmbColumn::State.cell(&row);
    state.push(Span::new(
        format!("   told by: {}", mapping.told_by.name()),
        Role::Muted,
    ));
    let staged = measured(&mapping.staged_at, now, |at| {
        let age = format::ago((now - *at).num_seconds());
        plain(
            format!("{}  {age}", at.format("%Y-%m-%d %H:%M:%S UTC")),
            Role::Text,
        )
    });
    let account = measured(&mapping.account, now, |account| {
        plain(sanitise(account), Role::Text)
    });
    let privacy = measured(&mapping.privacy, now, |privacy| plain(privacy.name(), Role::Text));
    let pods = match &mapping.pods {
        Err(reason) => unknown(&reason.to_string()),
        Ok(pods) if pods.is_empty() => plain("none on this node", Role::Muted),
        Ok(pods) => {
            let names: Vec<String> = pods
                .iter()
                .map(|pod| {
                    let runs = if pod.runs { "" } else { " (waits)" };
                    format!("{}/{}{runs}", pod.namespace, pod.name)
                })
                .collect();
            plain(sanitise(&names.join("  ")), Role::Text)
        }
    };
    vec![
        labelled("state", state),
        labelled("pods", pods),
        labelled("account", account),
        labelled("privacy", privacy),
        labelled("staged since", staged),
    ]
}

fn volumes(mapping: &SmbMapping) -> Vec<Line> {
    let volumes = match &mapping.volumes {
        Err(reason) => return vec![unknown(&reason.to_string())],
        Ok(volumes) if volumes.is_empty() => {
            return vec![plain("no volume of the cluster has this path", Role::Muted)];
        }
        Ok(volumes) => volumes,
    };
    volumes
        .iter()
        .flat_map(|volume| {
            let claim = match (&volume.claim, &volume.claim_phase) {
                (Some((namespace, name)), Some(phase)) => format!("{namespace}/{name} ({phase})"),
                (Some((namespace, name)), None) => format!("{namespace}/{name}"),
                (None, _) => ABSENT.to_owned(),
            };
            let class = volume.class.as_deref().unwrap_or(ABSENT);
            let about = format!(
                "{} ({})   claim {claim}   class {class}",
                volume.name, volume.phase
            );
            let staged = format!(
                r"C:\var\lib\kubelet\plugins\kubernetes.io\csi\{DRIVER}\{}\globalmount",
                volume.hash
            );
            [
                labelled("volume", plain(sanitise(&about), Role::Text)),
                labelled("staged at", plain(sanitise(&staged), Role::Muted)),
            ]
        })
        .collect()
}

fn unknown(reason: &str) -> Line {
    vec![
        Span::new(ABSENT, Role::Absent),
        Span::new(format!("  {}", sanitise(reason)), Role::Muted),
    ]
}

/// One line: what is so.
fn warning(warned: &Warned) -> Line {
    let severity = warned.warning.severity();
    let glyph = glyph_of(severity).unwrap_or("·");
    let text = format!("{glyph} {}", warned.warning.title());
    plain(sanitise(&text), role_of(severity, Role::Text))
}

/// What is so, on what evidence, and what to do.
fn warnings(title: &str, all: &[Warned]) -> Section {
    let mut page = Vec::new();
    for warned in all {
        page.push(warning(warned));
        let evidence = warned.evidence.iter();
        page.extend(evidence.map(|evidence| plain(sanitise(&format!("    {evidence}")), Role::Muted)));
        if let Some(remedy) = warned.warning.remedy(&warned.about) {
            page.push(plain(sanitise(&format!("    → {remedy}")), Role::Text));
        }
    }
    lines(title, page)
}
