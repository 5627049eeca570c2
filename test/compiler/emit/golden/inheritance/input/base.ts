import type { Actor, Uint64 } from "viceroy/schema";

export interface Entity {
  /** Unique. */
  id: Uint64;
  hidden: Hidden;
}

interface Hidden {
  secret: string;
}

/** Whatever can be asked for its name. */
export interface Named extends Actor<[name: string]> {
  /** The name. */
  whoAreYou(): string;
}
