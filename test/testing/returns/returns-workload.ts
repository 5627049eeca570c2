/** Hosts that are lost and come back, as a workload of `npm run sim`. */
import type { Workload } from "../workload.js";
import { type Invariant, invariants } from "./invariants.js";
import { bugs } from "./planted-bugs.js";
import { optionsOf, returns } from "./returns-scenario.js";

export const returnsWorkload: Workload<Invariant> = { scenario: returns, optionsOf, invariants, bugs };
