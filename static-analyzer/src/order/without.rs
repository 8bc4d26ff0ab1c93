//! A fragment without some of its log points: those of calls that a top-level method
//! never makes, although others below the same methods do.

use super::fragment::{Answer, Fragment, Node};

impl Fragment {
    /// The same order without some log points, which are sorted. What would have printed
    /// them does not run: there is no silent way past them either, but what was one before.
    pub(crate) fn without(&self, gone: &[u32]) -> Self {
        let mut position: Vec<Option<u32>> = Vec::with_capacity(self.nodes.len());
        let mut nodes: Vec<Node> = Vec::new();
        for node in &self.nodes {
            let mut node = node.clone();
            for points in [&mut node.points, &mut node.once] {
                points.retain(|point| gone.binary_search(point).is_err());
            }
            let at = u32::try_from(nodes.len()).expect("a fragment has few nodes");
            position.push((!node.points.is_empty()).then_some(at));
            nodes.extend((!node.points.is_empty()).then_some(node));
        }
        let left = |list: &[u32]| list.iter().filter_map(|&at| position[at as usize]).collect::<Vec<u32>>();
        for node in &mut nodes {
            node.next = left(&node.next);
        }
        let [entries, returns, throws] = [&self.entries, &self.returns, &self.throws].map(|list| left(list));
        let kept = |answer: Answer| Answer { returns: left(&answer.returns), ..answer };
        let answers = self.answers.clone().map(|answers| answers.map(kept));
        let silent = self.silent || nodes.is_empty();
        Fragment { nodes, entries, returns, throws, silent, answers }
    }
}

#[cfg(test)]
mod tests {
    use crate::order::fragment::tests::text;
    use crate::order::fragment::{Fragment, Node};

    #[test]
    fn what_is_not_called_is_not_passed_over_either() {
        let node = |points: &[u8], next: &[u32]| Node {
            points: points.iter().map(|&p| u32::from(p)).collect(),
            next: next.to_vec(),
            ..Node::default()
        };
        // One of two reasons, then the step.
        let nodes = vec![node(b"a", &[1, 2]), node(b"b", &[3]), node(b"c", &[3]), node(b"de", &[])];
        let fragment = Fragment { nodes, entries: vec![0], returns: vec![3], ..Fragment::default() };
        let gone = [b'b', b'd'].map(u32::from);
        assert_eq!(text(&fragment.without(&gone)), "<a a:c c:e e: >e");
        assert_eq!(fragment.without(&[]), fragment);
    }
}
