/** The options of `JobContext.actor`. */
import type { RunOptions } from "../context/run-options.js";
import type { OwnActorOptions } from "./actor-options.js";

/** The options of `JobContext.actor`. */
export interface ActorOptions extends OwnActorOptions {
  /** The resources of its host that the actor holds until it ends. Default: none. */
  readonly resources?: RunOptions["resources"];
  /** Environment variables, working directory and packages of the process. The rest is that of the context. */
  readonly environment?: RunOptions["environment"];
  /** A placement group, or a slice of one, whose reserved resources the actor uses. Default: those that are not reserved. */
  readonly placement?: RunOptions["placement"];
}
