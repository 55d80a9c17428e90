//! The graph of nodes.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::answer::{All, View};
use super::table::{Style, table};

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
    type Reply = Self;
    type Filter = All;
    const COMMAND: &'static str = "show graph";
    const PATH: &'static str = "/v1/graph";
    const ABOUT: &'static str = "The graph of nodes";
    const DRAWN_AT: Option<&'static str> = Some("/v1/graph/drawing");

    fn text(graph: &Self, style: Style) -> String {
        let table = table!(&graph.edges, edge => {
            "from": edge.from,
            "exit": edge.exit,
            "to": edge.to,
        });
        table.render(style)
    }
}

/// How a graph is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum GraphFormat {
    /// For reading.
    #[default]
    Text,
    /// For Graphviz.
    Dot,
    /// For browsers.
    Svg,
}
