//! Tables as the server prints them for kubectl.

use super::peer::Peer;
use serde_json::Value;

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

/// Name, type, format and priority of the columns.
fn columns(table: &Value) -> Vec<String> {
    assert_eq!(
        (&table["kind"], &table["apiVersion"]),
        (&Value::from("Table"), &Value::from("meta.k8s.io/v1"))
    );
    table["columnDefinitions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|column| {
            let text = |field: &str| column[field].as_str().unwrap();
            let (name, kind, format, priority) =
                (text("name"), text("type"), text("format"), &column["priority"]);
            format!("{name} {kind} {format} {priority}")
        })
        .collect()
}

/// The row of this object, without the age.
fn cells(table: &Value, name: &str, age: usize) -> Vec<String> {
    let row = table["rows"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["object"]["metadata"]["name"] == name)
        .unwrap();
    assert_eq!(row["object"]["kind"], "PartialObjectMetadata");
    let mut cells: Vec<String> = row["cells"]
        .as_array()
        .unwrap()
        .iter()
        .map(|cell| cell.as_str().map_or_else(|| cell.to_string(), str::to_owned))
        .collect();
    assert!(cells[age].ends_with(['s', 'm', 'h', 'd']), "{cells:?}");
    cells.remove(age);
    cells
}

pub async fn kubectl_gets_the_columns_of_nodes(peer: &Peer) {
    let table = peer.get_as(TABLE, "/api/v1/nodes").await.json();
    assert_eq!(
        columns(&table),
        [
            "Name string name 0",
            "Status string  0",
            "Roles string  0",
            "Age string  0",
            "Version string  0",
            "Internal-IP string  1",
            "External-IP string  1",
            "OS-Image string  1",
            "Kernel-Version string  1",
            "Container-Runtime string  1",
        ]
    );
    assert_eq!(
        cells(&table, "k8s-lab-win-1", 3),
        [
            "k8s-lab-win-1",
            "Ready",
            "<none>",
            "v1.37.2",
            "192.168.10.25",
            "<none>",
            "Windows Server 2025 Standard",
            "10.0.26100.33438 (amd64)",
            "containerd://2.2.2",
        ]
    );
    assert_eq!(
        cells(&table, "k8s-lab-master-1", 3)[..3],
        ["k8s-lab-master-1", "Ready", "control-plane"]
    );
}

pub async fn kubectl_gets_the_columns_of_pods(peer: &Peer) {
    let table = peer
        .get_as(TABLE, "/api/v1/namespaces/win-demo/pods")
        .await
        .json();
    assert_eq!(
        columns(&table),
        [
            "Name string name 0",
            "Ready string  0",
            "Status string  0",
            "Restarts string  0",
            "Age string  0",
            "IP string  1",
            "Node string  1",
            "Nominated Node string  1",
            "Readiness Gates string  1",
        ]
    );
    let hello = table["rows"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|row| row["object"]["metadata"]["name"].as_str())
        .find(|name| name.starts_with("hello-win-"))
        .unwrap();
    let cells = cells(&table, hello, 4);
    assert_eq!(cells[..4], [hello, "1/1", "Running", "0"]);
    assert_eq!(cells[5..], ["k8s-lab-win-1", "<none>", "<none>"]);
}
