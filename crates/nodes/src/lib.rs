//! The packet-processing nodes, one file each, by family.
//!
//! A new node is one new file and one line in its family's `mod.rs`: CONTRIBUTING walks through an
//! example.

/// Declares a family's node modules and lists their specs.
macro_rules! nodes {
    ($($file:ident::$node:ident $(as $feature:ident)?,)+) => {
        $(pub mod $file;
        pub use $file::$node;)+

        /// The family's nodes.
        pub const NODES: &[graph::NodeSpec<crate::tables::Setup>] =
            &[$(nodes!(@spec $file::$node $($feature)?),)+];

        #[cfg(test)]
        pub(crate) const FILES: &[&str] = &[$(stringify!($file),)+];
    };
    (@spec $file:ident::$node:ident) => { graph::spec::<$file::$node>() };
    (@spec $file:ident::$node:ident feature) => {
        graph::spec::<crate::interface::InTurn<$file::$node>>()
    };
}

/// Declares the families.
macro_rules! families {
    ($($family:ident,)+) => {
        $(pub mod $family;)+

        /// Every family of nodes, with its name.
        pub const FAMILIES: &[(&str, &[graph::NodeSpec<tables::Setup>])] =
            &[$((stringify!($family), $family::NODES),)+];

        #[cfg(test)]
        const FILES: &[&[&str]] = &[$($family::FILES,)+];
    };
}

families! {
    port,
    interface,
    filter,
    nat,
    l2,
    ip,
    local,
    tunnel,
    flow,
}

mod pause;
pub mod pictures;
mod sync;
pub mod tables;
#[cfg(test)]
pub(crate) mod testing;

/// Every node of the router.
pub const ALL: &[graph::NodeSpec<tables::Setup>] = &every();

/// How many there are.
const MANY: usize = {
    let (mut family, mut sum) = (0, 0);
    while family < FAMILIES.len() {
        sum += FAMILIES[family].1.len();
        family += 1;
    }
    sum
};

const fn every() -> [graph::NodeSpec<tables::Setup>; MANY] {
    let mut all = [port::NODES[0]; MANY];
    let (mut family, mut at) = (0, 0);
    while family < FAMILIES.len() {
        let (nodes, mut next) = (FAMILIES[family].1, 0);
        while next < nodes.len() {
            all[at] = nodes[next];
            (at, next) = (at + 1, next + 1);
        }
        family += 1;
    }
    all
}

#[cfg(test)]
pub mod contributing;

#[cfg(test)]
mod tests {
    #[test]
    fn a_node_is_named_after_its_file() {
        let names = super::ALL.iter().map(|spec| spec.name);
        assert!(names.eq(super::FILES.concat().iter().map(|file| file.replace('_', "-"))));
    }

    #[test]
    fn the_nodes_make_a_graph() {
        let layout = graph::Layout::new(super::ALL).unwrap();
        assert_eq!(layout.nodes.len(), super::ALL.len());
    }

    #[test]
    fn every_reason_for_a_drop_says_what_it_means_and_what_to_do() {
        let layout = graph::Layout::new(super::ALL).unwrap();
        assert!(layout.reasons.len() > 100);
        for graph::Reason { node, exit, about, mend, .. } in &layout.reasons {
            let is_sentence = |text: &str| text.ends_with('.') && text.len() >= 8;
            assert!(is_sentence(about), "{node} {exit} means: {about}");
            assert!(is_sentence(mend) && mend.len() <= 160, "{node} {exit} wants done: {mend}");
        }
    }
}
