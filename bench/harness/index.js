/**
 * What a benchmark imports. A benchmark is a program that compares subjects (a peer, the limit, or Viceroy): each
 * subject runs in processes of its own, subjects take turns round by round, and what is printed are medians, spreads
 * and ratios paired within a round.
 *
 *   await benchmark({ name: "rpc", title: "…", needs: ["viceroy"] }, async ({ options, workDir }) => {
 *     const samples = await takeTurns(subjects, { rounds: options.quick ? 1 : 5 });
 *     return { sections: [{ title: "Two cores", rows: compare(samples, { … }) }] };
 *   });
 */
export { benchmark } from "./benchmark.js";
export { canPin, endWithParent, pinned, runJson, startAnswering, startReady } from "./child.js";
export { cacheDir, node24, repository, setUpAddon } from "./setup.js";
export { median, quantile } from "./stats.js";
export { compare, ratioOf } from "./table.js";
export { takeTurns, takeWindows } from "./turns.js";
