/** Contexts with tasks as a workload of `npm run sim`. */
import type { Workload } from "../../testing/workload.js";
import { type Invariant, invariants } from "./invariants.js";
import { bugs } from "./planted-bugs.js";
import { optionsOf, tasks } from "./task-scenario.js";

export const taskWorkload: Workload<Invariant> = { scenario: tasks, optionsOf, invariants, bugs };
