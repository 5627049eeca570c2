/** How the bytes of a connection go. */
import type { Pipe } from "../../link/pipe.js";

export interface Way {
  readonly pipe: Pipe;
  /** Whether the pipe, once destroyed, reads into none of the memory that it was given: others get memory of their own to read into. */
  readonly direct: boolean;
}
