//! `drainboard image`: the variants of an image in its registry, and which nodes of the cluster take which.

mod json;
mod table;

use super::args::{ImageArgs, ImageFormat};
use super::collect;
use super::exit::{CliError, Outcome};
use super::output;
use crate::domain::Name;
use crate::domain::image::{Mark, NodePlatform, Platform, marks};
use crate::domain::windows_version::WindowsVersion;
use crate::sources::SourcesOptions;
use crate::sources::event::{Problem, Watched};
use crate::sources::registry::{self, Image, ImageReference};
use crate::store::facts::NodeFacts;
use chrono::Utc;

/// Prints the variants. Without a cluster it says so and prints them alone.
///
/// # Errors
/// The reference is none, the registry cannot be read, or the output is gone.
pub async fn run(args: &ImageArgs, options: SourcesOptions) -> Result<Outcome, CliError> {
    let reference: ImageReference = args
        .image
        .parse()
        .map_err(|error: registry::NoReference| CliError::Usage(error.to_string()))?;
    let timeout = options.request_timeout;
    let (image, nodes) = tokio::join!(registry::read(&reference, timeout), nodes(options));
    let placed = Placed::new(image?, nodes?);
    match args.output {
        ImageFormat::Table => output::print(&table::text(&placed))?,
        ImageFormat::Json => output::print_json(&json::document(&placed))?,
    }
    Ok(Outcome::Fine)
}

/// A node and what its containerd matches.
#[derive(Clone, Debug)]
struct Node {
    name: Name,
    platform: NodePlatform,
}

/// The nodes, or why there is no cluster to compare with.
async fn nodes(options: SourcesOptions) -> Result<Result<Vec<Node>, Problem>, CliError> {
    match collect::list(Watched::Nodes, options).await {
        Ok(collected) => Ok(Ok(collected
            .store
            .node_facts(Utc::now())
            .into_iter()
            .filter_map(node)
            .collect())),
        Err(CliError::Unreadable(problem)) => Ok(Err(problem)),
        Err(other) => Err(other),
    }
}

/// Nothing for a node that has not yet said what it is.
fn node(facts: NodeFacts) -> Option<Node> {
    let platform = NodePlatform {
        os: facts.os?,
        architecture: facts.architecture,
        windows: facts.windows_version,
    };
    Some(Node {
        name: facts.name,
        platform,
    })
}

/// An image beside the nodes of a cluster.
struct Placed {
    image: Image,
    /// What is noteworthy about each variant.
    marks: Vec<Vec<Mark>>,
    /// Who takes what, or why that is not known.
    cluster: Result<Takers, Problem>,
}

struct Takers {
    /// For each variant the nodes that take it.
    of_variant: Vec<Vec<Name>>,
    /// Nodes that take none.
    without: Vec<Node>,
}

impl Placed {
    fn new(image: Image, nodes: Result<Vec<Node>, Problem>) -> Self {
        let platforms: Vec<Platform> = image
            .variants
            .iter()
            .map(|variant| variant.platform.clone())
            .collect();
        let known = nodes.as_deref().unwrap_or_default();
        let windows: Vec<(Name, WindowsVersion)> = known
            .iter()
            .filter_map(|node| Some((node.name.clone(), node.platform.windows?)))
            .collect();
        Self {
            marks: platforms
                .iter()
                .map(|platform| marks(platform, &windows))
                .collect(),
            cluster: nodes.map(|nodes| Takers::new(&platforms, nodes)),
            image,
        }
    }
}

impl Takers {
    fn new(platforms: &[Platform], nodes: Vec<Node>) -> Self {
        let mut takers = Self {
            of_variant: vec![Vec::new(); platforms.len()],
            without: Vec::new(),
        };
        for node in nodes {
            match node.platform.choose(platforms) {
                Some(variant) => takers.of_variant[variant].push(node.name),
                None => takers.without.push(node),
            }
        }
        takers
    }
}

#[cfg(test)]
mod tests;
