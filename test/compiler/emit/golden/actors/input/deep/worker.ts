import type { Actor } from "viceroy/schema";
import type { Config, Counter } from "../actors.js";

/** Two files whose actors know each other. */
export interface Worker extends Actor<[counter: Counter]> {
  work(config: Config): Config[];
}
