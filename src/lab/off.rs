//! Services of a machine that is off.

use super::machine::Stage;
use super::world::World;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use std::sync::Arc;

#[derive(Clone)]
struct Gate {
    world: World,
    node: Arc<str>,
    needed: Stage,
}

/// The same service, which answers only while the machine of `node` is at least at `needed`. Below that every
/// request gets what a proxy answers for a machine that it does not reach (503): the port of an attached lab cannot
/// vanish, as clients keep their connections.
pub fn silent_below(needed: Stage, service: Router, world: World, node: &str) -> Router {
    let gate = Gate {
        world,
        node: node.into(),
        needed,
    };
    service.layer(from_fn_with_state(gate, pass))
}

async fn pass(State(gate): State<Gate>, request: Request, next: Next) -> Response {
    let runs = gate
        .world
        .machine(&gate.node)
        .is_some_and(|machine| machine.stage >= gate.needed);
    if runs {
        next.run(request).await
    } else {
        let text = format!("dial tcp: {}: connect: no route to host\n", gate.node);
        (StatusCode::SERVICE_UNAVAILABLE, text).into_response()
    }
}
