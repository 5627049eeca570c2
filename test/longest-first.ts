/**
 * The order of test files: those that take long start first, so that no process works on a long file at the end of a run
 * while the others have nothing left to do. Vitest alone would start the largest files first, and some of the longest
 * tests are in small files. Files that share processes come last, next to each other: Vitest keeps a process only for the
 * next file in the order.
 */
import path from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The test files that take longest, in the order in which they start. `npm run verify` prints how long they take. */
const long = [
  "examples/how-to",
  "rdma/machine",
  "kubernetes/job/kubernetes-job",
  "kubernetes/job/resize",
  "kubernetes/job/command",
  "kubernetes/job/share",
  "host/between-workers",
  "job/ssh-job",
  "job/detach",
  "job/slurm-batch",
  "job/slurm-job",
  "tasks/detached/detached-actors",
  "job/slurm-through-login",
  "sync/hosts/sync-hosts",
  "job/slurm-states",
  "proc/ends",
  "docs/site",
  "native/rdma",
  "package/pack",
  "monorepo/workspaces",
  "faults/network",
  "package/prepared-typescript",
  "skypilot/job",
  "host/liveness",
  "job/slurm-resize",
  "job/batch-job",
  "compiler/emit/hostile",
  "host/ends",
  "tasks/simulation/planted-bugs",
  "testing/planted-bugs",
  "compiler/lock/git-merge",
  "job/ssh-faults",
  "job/ssh-doctor",
  "compiler/emit/proto/protoc",
  "job/slurm-credentials",
  "testing/example",
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
    const rank = ({ moduleId, project }: TestSpecification) =>
      project.config.isolate ? (place.get(path.posix.relative(root, moduleId)) ?? long.length) : long.length + 1;
    // Sorting is stable: Vitest's order holds among the others, and for a file of two projects.
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}
