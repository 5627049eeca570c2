/** Clusters of actors as a workload of `npm run sim`. */
import { cluster, optionsOf } from "./cluster.js";
import { type Invariant, invariants } from "./invariants.js";
import { bugs } from "./planted-bugs.js";
import type { Workload } from "./workload.js";

export const clusterWorkload: Workload<Invariant> = { scenario: cluster, optionsOf, invariants, bugs };
