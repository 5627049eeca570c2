/** The ranks of a tree whose actors have the same schema of the interface, which differs from the sender's. */
import type { PeerSchema } from "../../link/frame/binding.js";
import type { RankRun } from "./rank-runs.js";

export interface SchemaGroup {
  readonly schema: PeerSchema;
  readonly ranks: readonly RankRun[];
}
