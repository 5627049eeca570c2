/** A value that another process has, as this process knows it. */
import type { StoredMemory } from "../../../generated/tasks.js";
import type { HeldValue } from "../objects/held-value.js";

export interface Elsewhere {
  /** The number of encoded bytes; undefined while it is not known whether there is a value. */
  readonly size: number | undefined;
  /** The memory in which the processes of one machine find the value, if it is known. */
  readonly memory: StoredMemory | undefined;
  /** The number of the host that has the value; undefined: the process that has it is on none of the hosts. */
  readonly host: number | undefined;
  /** Begins to bring the value here, unless it has begun. The result then settles. */
  fetch(): void;
  /** The value is lost. Its size and its memory are not known until it has been made again. */
  lost(): void;
  /** This process has released its references to the value. */
  released(): void;
  /** Begins to ask whether there is a value, unless it has begun. */
  locate(): void;
}

/** A result that has come back to its owner: the value, or what is known of it where it stays. */
export type ReceivedValue = HeldValue | { readonly elsewhere: Elsewhere };
