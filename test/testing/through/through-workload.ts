/** A driver whose gateways are lost, as a workload of `npm run sim`. */
import type { Workload } from "../workload.js";
import { type Invariant, invariants } from "./invariants.js";
import { bugs } from "./planted-bugs.js";
import { optionsOf, through } from "./through-scenario.js";

export const throughWorkload: Workload<Invariant> = { scenario: through, optionsOf, invariants, bugs };
