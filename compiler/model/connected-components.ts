/**
 * Computes strongly connected components: groups of declarations that refer to each other. The algorithm is from Robert
 * Tarjan, "Depth-first search and linear graph algorithms" (1972). This implementation is iterative, so that a long
 * chain of references cannot overflow the stack.
 */

/**
 * Returns the strongly connected components of a graph. Each component follows all components that it refers to; inside
 * a component, the order of `nodes` is kept.
 *
 * @param nodes the nodes, by name
 * @param edges returns the nodes that a node refers to
 */
export function components(
  nodes: readonly string[],
  edges: (node: string) => readonly string[],
): readonly (readonly string[])[] {
  const order = new Map(nodes.map((node, i) => [node, i]));
  const low = new Map<string, number>();
  const open: string[] = [];
  const done = new Set<string>();
  const found: string[][] = [];
  for (const root of nodes) {
    if (low.has(root)) continue;
    const path: Visit[] = [enter(root)];
    for (let visit = path.at(-1); visit !== undefined; visit = path.at(-1)) {
      const next = visit.targets[visit.position++];
      if (next === undefined) {
        path.pop();
        leave(visit);
        const parent = path.at(-1);
        if (parent !== undefined) lower(parent.node, low.get(visit.node) ?? 0);
      } else if (!low.has(next)) {
        path.push(enter(next));
      } else if (!done.has(next)) {
        lower(visit.node, low.get(next) ?? 0);
      }
    }
  }
  return found;

  function enter(node: string): Visit {
    const number = low.size;
    low.set(node, number);
    open.push(node);
    return { node, number, targets: edges(node), position: 0 };
  }

  function lower(node: string, value: number): void {
    if (value < (low.get(node) ?? 0)) low.set(node, value);
  }

  function leave({ node, number }: Visit): void {
    if (low.get(node) !== number) return;
    const component = open.splice(open.lastIndexOf(node));
    for (const member of component) done.add(member);
    found.push(component.sort((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0)));
  }
}

interface Visit {
  readonly node: string;
  /** The position in the order of discovery, from 0. */
  readonly number: number;
  readonly targets: readonly string[];
  position: number;
}
