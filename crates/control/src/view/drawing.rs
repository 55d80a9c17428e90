//! The graph of nodes, drawn.

use super::answer::*;

/// How the graph is to be drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct DrawingFilter {
    /// How it is written; text when left out.
    #[serde(default)]
    #[param(inline)]
    pub format: GraphFormat,
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

/// The graph of nodes, drawn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Drawing {
    /// How it is written.
    pub format: GraphFormat,
    /// The drawing.
    pub text: String,
}

impl View for Drawing {
    view!("graph", "/v1/graph/drawing", DrawingFilter => Self, "Print the graph of nodes");
    const MEDIA: &'static [&'static str] = &["text/plain", "text/vnd.graphviz", "image/svg+xml"];

    fn written(drawing: Self) -> Option<(&'static str, String)> {
        let media = match drawing.format {
            GraphFormat::Text => "text/plain; charset=utf-8",
            GraphFormat::Dot => "text/vnd.graphviz; charset=utf-8",
            GraphFormat::Svg => "image/svg+xml",
        };
        Some((media, drawing.text))
    }
}
