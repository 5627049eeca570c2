/**
 * The harness that benchmarks import. A benchmark is a program that compares subjects (peers, the limit, and Viceroy). Each
 * subject runs in processes of its own, the subjects are interleaved in rounds, and the benchmark prints medians, spreads and
 * ratios that are paired within a round.
 *
 *   await benchmark({ name: "rpc", title: "…", needs: ["viceroy"] }, async ({ options, workDir }) => {
 *     const samples = await runInterleaved(subjects, { rounds: options.quick ? 1 : 5 });
 *     return { sections: [{ title: "Two cores", rows: compare(samples, { … }) }] };
 *   });
 */
export { benchmark } from "./benchmark.js";
export { canPin, endWithParent, pinned, runJson, startAnswering, startReady } from "./child.js";
export { measureInterleaved, runInterleaved } from "./interleave.js";
export { cacheDir, node24, prepare, repository, setUpAddon } from "./setup.js";
export { median, quantile } from "./stats.js";
export { compare, ratioOf } from "./table.js";
