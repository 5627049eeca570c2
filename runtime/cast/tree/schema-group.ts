/** Ranks of a tree whose actors know the interface by another schema than the sender. */
import type { PeerSchema } from "../../link/frame/binding.js";
import type { RankRun } from "./rank-runs.js";

export interface SchemaGroup {
  readonly schema: PeerSchema;
  readonly ranks: readonly RankRun[];
}
