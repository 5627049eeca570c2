import type { Int32 } from "viceroy/schema";

/** What may be missing, and what may be null. */
export interface Presence {
  required: string;
  optional?: string;
  nullable: string | null;
  both?: Int32 | null;
  readonly constant: boolean;
  list: (string | null)[];
  nested?: { value?: Int32 };
}

export interface Nothing {}
