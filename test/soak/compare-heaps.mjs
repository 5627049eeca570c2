/**
 * Finds memory leaks: `node test/soak/compare-heaps.mjs A B C` compares three snapshots of the heap of one process, in
 * order. It prints the objects that are in the last two snapshots and not in the first, counted by constructor, with
 * the most frequent paths that keep them alive.
 */
import { readFileSync } from "node:fs";

const SHOWN = 25;
const WAYS = 3;
const LONGEST = 14;

const [first, middle, last] = process.argv.slice(2);
if (last === undefined) {
  process.stderr.write("usage: node test/soak/compare-heaps.mjs A.heapsnapshot B.heapsnapshot C.heapsnapshot\n");
  process.exit(3);
}

/** Returns the width of the rows of a flat table, and the offset of each field in a row. */
function layoutOf(fields) {
  return { width: fields.length, ...Object.fromEntries(fields.map((name, i) => [name, i])) };
}

function load(file) {
  const { snapshot, nodes, edges, strings } = JSON.parse(readFileSync(file, "utf8"));
  const { meta } = snapshot;
  return {
    nodes,
    edges,
    strings,
    node: layoutOf(meta.node_fields),
    edge: layoutOf(meta.edge_fields),
    nodeTypes: meta.node_types[0],
    edgeTypes: meta.edge_types[0],
  };
}

function idsOf({ nodes, node }) {
  const ids = new Set();
  for (let at = node.id; at < nodes.length; at += node.width) ids.add(nodes[at]);
  return ids;
}

/** Returns the edge by which a breadth-first search from the root reaches each node. Weak edges are not followed. */
function reach(heap) {
  const { nodes, edges, node, edge, edgeTypes } = heap;
  const count = nodes.length / node.width;
  const begin = new Uint32Array(count + 1);
  for (let i = 0; i < count; i++) begin[i + 1] = begin[i] + nodes[i * node.width + node.edge_count];
  const by = new Int32Array(count).fill(-1);
  const from = new Int32Array(count).fill(-1);
  from[0] = 0;
  const queue = [0];
  for (let head = 0; head < queue.length; head++) {
    const i = queue[head];
    for (let e = begin[i]; e < begin[i + 1]; e++) {
      if (edgeTypes[edges[e * edge.width + edge.type]] === "weak") continue;
      const to = edges[e * edge.width + edge.to_node] / node.width;
      if (from[to] >= 0) continue;
      from[to] = i;
      by[to] = e;
      queue.push(to);
    }
  }
  return { from, by };
}

function nameOf({ nodes, node, nodeTypes, strings }, i) {
  const type = nodeTypes[nodes[i * node.width + node.type]];
  const name = strings[nodes[i * node.width + node.name]];
  if (type === "object" || type === "native" || type === "synthetic") return name;
  return type === "closure" ? `function ${name}` : `(${type})`;
}

function wayTo(heap, { from, by }, i) {
  const { edges, edge, edgeTypes, strings } = heap;
  const steps = [];
  for (let at = i; at > 0 && steps.length < LONGEST; at = from[at]) {
    const e = by[at] * edge.width;
    const type = edgeTypes[edges[e + edge.type]];
    const label = edges[e + edge.name_or_index];
    const text =
      type === "element" ? "[]" : type === "hidden" ? "[]" : `.${strings[label]}`.replace(/\d+ \/ part.*/, "");
    steps.push(`${nameOf(heap, from[at])}${text}`);
  }
  return steps.join(" < ");
}

const old = idsOf(load(first));
const kept = idsOf(load(middle));
const heap = load(last);
const paths = reach(heap);
const groups = new Map();
for (let i = 0; i < heap.nodes.length / heap.node.width; i++) {
  const id = heap.nodes[i * heap.node.width + heap.node.id];
  if (old.has(id) || !kept.has(id) || paths.from[i] < 0) continue;
  const name = nameOf(heap, i);
  const group = groups.get(name) ?? { count: 0, bytes: 0, members: [] };
  groups.set(name, group);
  group.count++;
  group.bytes += heap.nodes[i * heap.node.width + heap.node.self_size];
  group.members.push(i);
}
for (const [name, { count, bytes, members }] of [...groups].sort(([, a], [, b]) => b.bytes - a.bytes).slice(0, SHOWN)) {
  console.log(`${(bytes / 1024).toFixed(0).padStart(7)} KiB ${String(count).padStart(7)} ${name}`);
  const ways = new Map();
  for (const i of members) {
    const way = wayTo(heap, paths, i);
    ways.set(way, (ways.get(way) ?? 0) + 1);
  }
  for (const [way, times] of [...ways].sort(([, a], [, b]) => b - a).slice(0, WAYS))
    console.log(`${String(times).padStart(27)} ${way}`);
}
