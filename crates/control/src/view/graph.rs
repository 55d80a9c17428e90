//! The graph of nodes.

use super::answer::*;

/// The graph of nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Graph {
    /// Its nodes, upstream first.
    pub nodes: Vec<GraphNode>,
    /// Its edges.
    pub edges: Vec<GraphEdge>,
}

/// A node of the graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GraphNode {
    /// Its name.
    pub name: String,
    /// One line of what it does.
    pub about: String,
}

/// An edge of the graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GraphEdge {
    /// Node it leaves.
    pub from: String,
    /// Exit it is.
    pub exit: String,
    /// Node it leads to.
    pub to: String,
}

impl View for Graph {
    view!("show graph", "/v1/graph", All => Self, "The graph of nodes");
    const DRAWN_AT: Option<&'static str> = Some("/v1/graph/drawing");

    fn table(graph: &Self) -> Table {
        table!(&graph.edges, edge => {
            "from": edge.from, "exit": edge.exit, "to": edge.to,
        })
    }
}
