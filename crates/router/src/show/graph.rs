//! Nodes, drops and the graph.

use crate::router::Router;
use control::view;
use dataplane::NodeTotals;
use std::sync::Arc;

impl Router {
    pub(super) fn show_drawing(
        &self,
        view::DrawingFilter { format }: view::DrawingFilter,
    ) -> impl FnOnce() -> view::Drawing + Send + 'static {
        let (layout, drawn) = (Arc::clone(&self.core.dataplane.layout), Arc::clone(&self.drawn));
        move || {
            let text = match format {
                view::GraphFormat::Text => drawn.text.get_or_init(|| ::graph::draw_text(&layout)),
                view::GraphFormat::Dot => drawn.dot.get_or_init(|| ::graph::draw_dot(&layout)),
                view::GraphFormat::Svg => drawn.svg.get_or_init(|| ::graph::draw_svg(&layout)),
            };
            view::Drawing { format, text: text.clone() }
        }
    }

    pub(super) fn show_nodes(&self) -> Vec<view::Node> {
        let layout = &self.core.dataplane.layout;
        let node = |(totals, node): (NodeTotals, &::graph::LayoutNode<_>)| {
            let mut exits: Vec<_> = node
                .edges
                .iter()
                .zip(&totals.exits)
                .map(|(edge, &packets)| view::Exit {
                    name: edge.name.clone(),
                    to: layout.nodes[edge.target].spec.name.to_owned(),
                    packets,
                })
                .collect();
            if totals.taken != 0 {
                let (name, to) = ("taken".to_owned(), String::new());
                exits.push(view::Exit { name, to, packets: totals.taken });
            }
            view::Node {
                name: totals.name.to_owned(),
                calls: totals.calls,
                packets: totals.packets,
                packets_per_call: ratio(totals.packets, totals.calls),
                cycles_per_packet: ratio(totals.cycles, totals.packets),
                exits,
            }
        };
        self.core.nodes_since_cleared().into_iter().zip(&layout.nodes).map(node).collect()
    }

    pub(super) fn show_errors(&self) -> Vec<view::Drop> {
        let mut drops = Vec::new();
        let reasons = &self.core.dataplane.layout.reasons;
        for (name, port) in self.core.ports.iter() {
            for count in self.core.dropped(port) {
                let mut reasons = reasons.iter();
                let why = reasons.find(|it| it.node == count.node && it.exit == count.reason);
                drops.push(view::Drop {
                    meaning: why.map(|it| it.about.clone()).unwrap_or_default(),
                    help: why.map(|it| it.mend.to_owned()).unwrap_or_default(),
                    node: count.node.to_owned(),
                    reason: count.reason,
                    answered: count.answered,
                    port: Some(name.as_str().to_owned()),
                    packets: count.packets,
                });
            }
        }
        drops
    }

    pub(super) fn show_graph(&self) -> view::Graph {
        let nodes = &self.core.dataplane.layout.nodes;
        let mut graph = view::Graph::default();
        for node in nodes {
            let (name, about) = (node.spec.name.to_owned(), node.spec.about.to_owned());
            graph.nodes.push(view::GraphNode { name, about });
            graph.edges.extend(node.edges.iter().map(|edge| view::GraphEdge {
                from: node.spec.name.to_owned(),
                exit: edge.name.clone(),
                to: nodes[edge.target].spec.name.to_owned(),
            }));
        }
        graph
    }
}

/// `a` for each `b`; 0 where there is no `b`.
fn ratio(a: u64, b: u64) -> f64 {
    if b == 0 { 0.0 } else { a as f64 / b as f64 }
}

#[cfg(test)]
mod tests {
    use control::config::objects::commands;
    use control::view::{self, Answer, Shows, View, Visitor};

    /// Commands that show views, as in `show ports`.
    #[derive(Default)]
    struct Shown(Vec<&'static str>);

    impl Visitor for Shown {
        fn visit<V: View>(&mut self)
        where
            dyn Shows: Answer<V>,
        {
            self.0.push(V::COMMAND);
        }
    }

    #[test]
    fn what_to_do_about_drops_names_commands_that_there_are() {
        let mut shown = Shown::default();
        view::visit(&mut shown);
        let layout = ::graph::Layout::new(nodes::ALL).unwrap();
        let mut named = 0;
        for reason in &layout.reasons {
            for command in reason.mend.split('`').filter_map(|it| it.strip_prefix("volley ")) {
                let words: Vec<&str> = command.split(' ').collect();
                let edits = commands().iter().any(|it| words.starts_with(&[it.noun, it.verb]));
                let shows = shown
                    .0
                    .iter()
                    .any(|it| command == *it || command.starts_with(&format!("{it} ")));
                assert!(edits || shows, "{} {}: {command}", reason.node, reason.exit);
                named += 1;
            }
        }
        assert!(named > 20, "{named}");
    }
}
