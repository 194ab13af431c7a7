# The objects of the scale cluster as requests for `curl --config`: one section a request.
# Input: null. Arguments: server, cacert, cert, key, nodes, pods, shard, shards, step.
# The pods weigh what pods weigh that a chart made and a kubelet runs: about 6 KB of JSON.

def pad($width): tostring | ("0" * ([$width - length, 0] | max)) + .;
def node_name($i): "scale-\(if $i % 5 == 4 then "win" else "linux" end)-\($i | pad(3))";
def pod_name($i): "web-\($i / 10 | floor | pad(4))-7d9c5b6f48-\($i | pad(5))";
def namespace($i): "scale-\($i % 20 | pad(2))";
def windows($i): ($i % $nodes) % 5 == 4;

def node($i): {
    apiVersion: "v1", kind: "Node",
    metadata: {
        name: node_name($i),
        labels: {
            "kubernetes.io/os": (if $i % 5 == 4 then "windows" else "linux" end),
            "kubernetes.io/arch": "amd64", "kubernetes.io/hostname": node_name($i),
            "topology.kubernetes.io/zone": "zone-\($i % 3)"
        }
    },
    spec: {podCIDR: "172.21.\($i % 256).0/24"}
};

def node_status($i): {status: {
    capacity: {cpu: "16", memory: "65536Mi", pods: "110"},
    allocatable: {cpu: "16", memory: "65036Mi", pods: "110"},
    addresses: [{type: "InternalIP", address: "192.168.\(20 + ($i / 250 | floor)).\($i % 250 + 1)"}, {type: "Hostname", address: node_name($i)}],
    conditions: [{type: "Ready", status: "True", reason: "KubeletReady", message: "kubelet is posting ready status",
        lastHeartbeatTime: (now | todate), lastTransitionTime: (now | todate)}],
    nodeInfo: {
        architecture: "amd64", bootID: "11", machineID: node_name($i), systemUUID: node_name($i), kubeProxyVersion: "",
        containerRuntimeVersion: "containerd://2.2.2", kubeletVersion: "v1.37.2",
        kernelVersion: (if $i % 5 == 4 then "10.0.26100.33438" else "6.12.48" end),
        operatingSystem: (if $i % 5 == 4 then "windows" else "linux" end),
        osImage: (if $i % 5 == 4 then "Windows Server 2025 Datacenter" else "Debian GNU/Linux 13 (trixie)" end)
    }
}};

def pod($i): {
    apiVersion: "v1", kind: "Pod",
    metadata: {
        name: pod_name($i), namespace: namespace($i),
        labels: {
            "app.kubernetes.io/name": "web", "app.kubernetes.io/instance": "web-\($i / 10 | floor | pad(4))",
            "app.kubernetes.io/managed-by": "Helm", "app.kubernetes.io/version": "1.3.0",
            "helm.sh/chart": "web-4.2.0", "pod-template-hash": "7d9c5b6f48"
        },
        annotations: {
            "checksum/config": ("0123456789abcdef" * 4), "checksum/secret": ("fedcba9876543210" * 4),
            "prometheus.io/scrape": "true", "prometheus.io/port": "9102"
        },
        ownerReferences: [{apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-\($i / 10 | floor | pad(4))-7d9c5b6f48",
            uid: "00000000-0000-4000-8000-\($i / 10 | floor | pad(12))", controller: true, blockOwnerDeletion: true}]
    },
    spec: {
        nodeName: node_name($i % $nodes),
        nodeSelector: {"kubernetes.io/os": (if windows($i) then "windows" else "linux" end)},
        tolerations: [{operator: "Exists"}],
        terminationGracePeriodSeconds: 30,
        volumes: [{name: "config", configMap: {name: "web"}}, {name: "tmp", emptyDir: {}}],
        containers: [("web", "metrics") | {
            name: ., image: "registry.example.com/team/\(.):1.3.0",
            ports: [{name: "http", containerPort: (if . == "web" then 8080 else 9102 end)}],
            env: [range(12) | {name: "SETTING_\(.)", value: "the value of setting number \(.)"}],
            resources: {requests: {cpu: "100m", memory: "128Mi"}, limits: {cpu: "500m", memory: "256Mi"}},
            readinessProbe: {httpGet: {path: "/healthz", port: "http"}, periodSeconds: 10},
            livenessProbe: {httpGet: {path: "/livez", port: "http"}, periodSeconds: 20},
            volumeMounts: [{name: "config", mountPath: "/etc/web"}, {name: "tmp", mountPath: "/tmp"}]
        }]
    }
};

def pod_status($i): {status: {
    phase: "Running", hostIP: "192.168.20.1", podIP: "172.21.\($i / 250 | floor).\($i % 250 + 1)",
    podIPs: [{ip: "172.21.\($i / 250 | floor).\($i % 250 + 1)"}], startTime: (now | todate), qosClass: "Burstable",
    conditions: [("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
        | {type: ., status: "True", lastTransitionTime: (now | todate)}],
    containerStatuses: [("web", "metrics") | {
        name: ., ready: true, started: true, restartCount: 0,
        image: "registry.example.com/team/\(.):1.3.0",
        imageID: ("registry.example.com/team/\(.)@sha256:" + "0123456789abcdef" * 4),
        containerID: "containerd://\($i | pad(32))\(if . == "web" then "0" * 32 else "1" * 32 end)",
        state: {running: {startedAt: (now | todate)}}
    }]
}};

def request($method; $path; $type; $body): [
    "url = \($server + $path | @json)", "request = \($method)", "header = \("Content-Type: \($type)" | @json)",
    "data = \($body | tojson | @json)", "output = /dev/null", "cacert = \($cacert)", "cert = \($cert)", "key = \($key)",
    "silent", "show-error", "fail", "next"
] | .[];

def mine($count): range($shard; $count; $shards);
def create($path; $body): request("POST"; $path; "application/json"; $body);
def patch($path; $body): request("PATCH"; $path; "application/merge-patch+json"; $body);
def pod_path($i): "/api/v1/namespaces/\(namespace($i))/pods/\(pod_name($i))";

if $step == "namespaces" then
    mine(20) as $i | (create("/api/v1/namespaces"; {metadata: {name: namespace($i)}}),
        # No controller runs that would make it, and no pod is admitted without it.
        create("/api/v1/namespaces/\(namespace($i))/serviceaccounts"; {metadata: {name: "default"}}))
elif $step == "nodes" then
    mine($nodes) as $i | (create("/api/v1/nodes"; node($i)), patch("/api/v1/nodes/\(node_name($i))/status"; node_status($i)))
elif $step == "pods" then
    mine($pods) as $i | (create("/api/v1/namespaces/\(namespace($i))/pods"; pod($i)), patch(pod_path($i) + "/status"; pod_status($i)))
elif $step == "churn" then
    # As a kubelet reports a container that restarts: a status patch of one pod after another.
    mine($pods) as $n | ($n * 7919 % $pods) as $i
    | patch(pod_path($i) + "/status"; {status: {containerStatuses: (pod_status($i).status.containerStatuses | .[0].restartCount = $n + 1)}})
else error("no such step: \($step)") end
