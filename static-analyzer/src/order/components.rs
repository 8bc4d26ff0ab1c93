//! Strongly connected components of a directed graph (Tarjan 1972), without
//! recursion: methods of generated code have chains of many thousand vertices.

/// The components of a graph.
#[derive(Debug)]
pub(crate) struct Components {
    /// For each vertex its component. Components are numbered in reverse
    /// topological order: every edge goes to an equal or smaller number.
    pub(crate) of: Vec<u32>,
    /// For each component its vertices, sorted.
    pub(crate) members: Vec<Vec<u32>>,
}

const UNSEEN: u32 = u32::MAX;

/// Components of the graph with these successor lists. Linear.
pub(crate) fn components(successors: &[Vec<u32>]) -> Components {
    let n = successors.len();
    let mut state = State {
        index: vec![UNSEEN; n],
        low: vec![0; n],
        of: vec![UNSEEN; n],
        members: Vec::new(),
        stack: Vec::new(),
        n_seen: 0,
    };
    let mut path: Vec<(u32, usize)> = Vec::new();
    for root in 0..n {
        if state.index[root] != UNSEEN {
            continue;
        }
        state.open(root);
        path.push((vertex(root), 0));
        while let Some(&mut (v, ref mut edge)) = path.last_mut() {
            let v = v as usize;
            if let Some(&to) = successors[v].get(*edge) {
                *edge += 1;
                let to = to as usize;
                if state.index[to] == UNSEEN {
                    state.open(to);
                    path.push((vertex(to), 0));
                } else if state.of[to] == UNSEEN {
                    state.low[v] = state.low[v].min(state.index[to]);
                }
            } else {
                path.pop();
                if let Some(&(parent, _)) = path.last() {
                    let parent = parent as usize;
                    state.low[parent] = state.low[parent].min(state.low[v]);
                }
                state.close(v);
            }
        }
    }
    Components { of: state.of, members: state.members }
}

struct State {
    index: Vec<u32>,
    low: Vec<u32>,
    of: Vec<u32>,
    members: Vec<Vec<u32>>,
    stack: Vec<u32>,
    n_seen: u32,
}

impl State {
    fn open(&mut self, v: usize) {
        self.index[v] = self.n_seen;
        self.low[v] = self.n_seen;
        self.n_seen += 1;
        self.stack.push(vertex(v));
    }

    fn close(&mut self, v: usize) {
        if self.low[v] != self.index[v] {
            return;
        }
        let component = vertex(self.members.len());
        let mut members = Vec::new();
        while let Some(w) = self.stack.pop() {
            self.of[w as usize] = component;
            members.push(w);
            if w as usize == v {
                break;
            }
        }
        members.sort_unstable();
        self.members.push(members);
    }
}

fn vertex(index: usize) -> u32 {
    u32::try_from(index).expect("a graph has fewer than 2^32 vertices")
}

#[cfg(test)]
mod tests {
    use super::components;

    #[test]
    fn loops_fold_and_numbers_descend_along_edges() {
        let graph = vec![vec![1], vec![2], vec![1, 3], vec![], vec![4]];
        let found = components(&graph);
        assert_eq!(found.of[1], found.of[2]);
        assert!(found.of[0] > found.of[1] && found.of[1] > found.of[3]);
        assert_eq!(found.members.len(), 4);
    }
}
