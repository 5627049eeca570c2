/**
 * The order of test files: those that take long start first, so that no process works on a long file at the end of a run
 * while the others have nothing left to do. Vitest alone would start the largest files first, and some of the longest
 * tests are in small files.
 */
import path from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The test files that take longest, in the order in which they start. `npm run verify` prints how long they take. */
const long = [
  "examples/how-to",
  "rdma/machine",
  "job/detach",
  "job/slurm-batch",
  "job/slurm-states",
  "proc/ends",
  "docs/site",
  "native/rdma",
  "package/pack",
  "monorepo/workspaces",
  "faults/network",
  "job/batch-job",
  "job/slurm-job",
  "job/ssh-job",
  "compiler/emit/hostile",
  "host/ends",
  "supervise/checkpoints",
  "bundlers/bundlers",
  "bundlers/single-file",
  "package/light",
  "package/container",
];
const place = new Map(long.map((name, i) => [`test/${name}.test.ts`, i]));

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { root } = this.ctx.config;
    const rank = ({ moduleId }: TestSpecification) => place.get(path.posix.relative(root, moduleId)) ?? long.length;
    // Sorting is stable: Vitest's order holds among the others, and for a file of two projects.
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}
