//! The catalogue of resources that the embedded API server serves, as a 1.37 server names them.

/// One resource of the API: its names, scope and the habits that differ between resources.
#[derive(Debug, PartialEq, Eq, Hash)]
#[allow(clippy::struct_field_names, reason = "the API calls the field so")]
pub struct Kind {
    /// API group; the core group is empty.
    pub group: &'static str,
    /// The one version served.
    pub version: &'static str,
    /// Plural name, as in the URL.
    pub plural: &'static str,
    /// Singular name, as an operator may type it.
    pub singular: &'static str,
    /// `kind` in the object.
    pub kind: &'static str,
    /// Short names (`po`, `no`).
    pub short: &'static [&'static str],
    /// Lives in a namespace.
    pub namespaced: bool,
    /// Has a `status` subresource, so that the main resource does not change the status.
    pub status: bool,
    /// Counts `metadata.generation` when the spec changes.
    pub generation: bool,
    /// Groups of resources that go by one name (`kubectl get all`).
    pub categories: &'static [&'static str],
}

impl Kind {
    /// `v1` or `apps/v1`.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.to_owned()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// `pods` or `deployments.apps`, as error messages name a resource.
    pub fn qualified(&self) -> String {
        if self.group.is_empty() {
            self.plural.to_owned()
        } else {
            format!("{}.{}", self.plural, self.group)
        }
    }

    const fn new(
        group: &'static str,
        plural: &'static str,
        singular: &'static str,
        kind: &'static str,
    ) -> Self {
        Self {
            group,
            version: "v1",
            plural,
            singular,
            kind,
            short: &[],
            namespaced: true,
            status: false,
            generation: false,
            categories: &[],
        }
    }

    const fn short(mut self, short: &'static [&'static str]) -> Self {
        self.short = short;
        self
    }

    const fn cluster(mut self) -> Self {
        self.namespaced = false;
        self
    }

    const fn status(mut self) -> Self {
        self.status = true;
        self
    }

    const fn generation(mut self) -> Self {
        self.generation = true;
        self
    }

    const fn all(mut self) -> Self {
        self.categories = &["all"];
        self
    }
}

/// Namespaces.
pub static NAMESPACES: Kind = Kind::new("", "namespaces", "namespace", "Namespace")
    .short(&["ns"])
    .cluster()
    .status();
/// Pods.
pub static PODS: Kind = Kind::new("", "pods", "pod", "Pod")
    .short(&["po"])
    .status()
    .generation()
    .all();
/// Nodes.
pub static NODES: Kind = Kind::new("", "nodes", "node", "Node")
    .short(&["no"])
    .cluster()
    .status();
/// Services.
pub static SERVICES: Kind = Kind::new("", "services", "service", "Service")
    .short(&["svc"])
    .status()
    .all();
/// Events of the core group.
pub static EVENTS: Kind = Kind::new("", "events", "event", "Event").short(&["ev"]);
/// Pod disruption budgets.
pub static POD_DISRUPTION_BUDGETS: Kind = Kind::new(
    "policy",
    "poddisruptionbudgets",
    "poddisruptionbudget",
    "PodDisruptionBudget",
)
.short(&["pdb"])
.status()
.generation();
/// Runtime classes.
pub static RUNTIME_CLASSES: Kind =
    Kind::new("node.k8s.io", "runtimeclasses", "runtimeclass", "RuntimeClass").cluster();

static CONFIG_MAPS: Kind = Kind::new("", "configmaps", "configmap", "ConfigMap").short(&["cm"]);
static SECRETS: Kind = Kind::new("", "secrets", "secret", "Secret");
static SERVICE_ACCOUNTS: Kind =
    Kind::new("", "serviceaccounts", "serviceaccount", "ServiceAccount").short(&["sa"]);
static ENDPOINTS: Kind = Kind::new("", "endpoints", "endpoints", "Endpoints").short(&["ep"]);
static PERSISTENT_VOLUMES: Kind = Kind::new("", "persistentvolumes", "persistentvolume", "PersistentVolume")
    .short(&["pv"])
    .cluster()
    .status();
static PERSISTENT_VOLUME_CLAIMS: Kind = Kind::new(
    "",
    "persistentvolumeclaims",
    "persistentvolumeclaim",
    "PersistentVolumeClaim",
)
.short(&["pvc"])
.status();
static DEPLOYMENTS: Kind = Kind::new("apps", "deployments", "deployment", "Deployment")
    .short(&["deploy"])
    .status()
    .generation()
    .all();
static REPLICA_SETS: Kind = Kind::new("apps", "replicasets", "replicaset", "ReplicaSet")
    .short(&["rs"])
    .status()
    .generation()
    .all();
static DAEMON_SETS: Kind = Kind::new("apps", "daemonsets", "daemonset", "DaemonSet")
    .short(&["ds"])
    .status()
    .generation()
    .all();
static STATEFUL_SETS: Kind = Kind::new("apps", "statefulsets", "statefulset", "StatefulSet")
    .short(&["sts"])
    .status()
    .generation()
    .all();
static CONTROLLER_REVISIONS: Kind = Kind::new(
    "apps",
    "controllerrevisions",
    "controllerrevision",
    "ControllerRevision",
);
static JOBS: Kind = Kind::new("batch", "jobs", "job", "Job")
    .status()
    .generation()
    .all();
static CRON_JOBS: Kind = Kind::new("batch", "cronjobs", "cronjob", "CronJob")
    .short(&["cj"])
    .status()
    .generation()
    .all();
static LEASES: Kind = Kind::new("coordination.k8s.io", "leases", "lease", "Lease");
static STORAGE_CLASSES: Kind = Kind::new("storage.k8s.io", "storageclasses", "storageclass", "StorageClass")
    .short(&["sc"])
    .cluster();
static CSI_NODES: Kind = Kind::new("storage.k8s.io", "csinodes", "csinode", "CSINode").cluster();
static CSI_DRIVERS: Kind = Kind::new("storage.k8s.io", "csidrivers", "csidriver", "CSIDriver").cluster();
static VOLUME_ATTACHMENTS: Kind = Kind::new(
    "storage.k8s.io",
    "volumeattachments",
    "volumeattachment",
    "VolumeAttachment",
)
.cluster()
.status();
static PRIORITY_CLASSES: Kind = Kind::new(
    "scheduling.k8s.io",
    "priorityclasses",
    "priorityclass",
    "PriorityClass",
)
.short(&["pc"])
.cluster();
static ENDPOINT_SLICES: Kind = Kind::new(
    "discovery.k8s.io",
    "endpointslices",
    "endpointslice",
    "EndpointSlice",
);
static API_SERVICES: Kind = Kind::new(
    "apiregistration.k8s.io",
    "apiservices",
    "apiservice",
    "APIService",
)
.cluster()
.status();

static CATALOGUE: [&Kind; 28] = [
    &CONFIG_MAPS,
    &ENDPOINTS,
    &EVENTS,
    &NAMESPACES,
    &NODES,
    &PERSISTENT_VOLUME_CLAIMS,
    &PERSISTENT_VOLUMES,
    &PODS,
    &SECRETS,
    &SERVICE_ACCOUNTS,
    &SERVICES,
    &API_SERVICES,
    &CONTROLLER_REVISIONS,
    &DAEMON_SETS,
    &DEPLOYMENTS,
    &REPLICA_SETS,
    &STATEFUL_SETS,
    &CRON_JOBS,
    &JOBS,
    &POD_DISRUPTION_BUDGETS,
    &STORAGE_CLASSES,
    &CSI_NODES,
    &CSI_DRIVERS,
    &VOLUME_ATTACHMENTS,
    &PRIORITY_CLASSES,
    &LEASES,
    &RUNTIME_CLASSES,
    &ENDPOINT_SLICES,
];

/// Every resource served, in the order of discovery.
pub fn all() -> impl Iterator<Item = &'static Kind> {
    CATALOGUE.iter().copied()
}

/// The resource that a URL names, if it is served.
pub fn find(group: &str, version: &str, plural: &str) -> Option<&'static Kind> {
    all().find(|kind| kind.group == group && kind.version == version && kind.plural == plural)
}

/// The API groups with a name, in the order of discovery, each once.
pub fn groups() -> Vec<&'static str> {
    let mut groups: Vec<&'static str> = Vec::new();
    for kind in all() {
        if !kind.group.is_empty() && !groups.contains(&kind.group) {
            groups.push(kind.group);
        }
    }
    groups
}
