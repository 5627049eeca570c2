// The types of schemas/presence.ts, without codecs.
/** What may be missing, and what may be null. */
export interface Presence {
  required: string;
  optional?: string;
  nullable: string | null;
  both?: number | null;
  readonly constant: boolean;
  list: (string | null)[];
  nested?: { value?: number };
}

export type Nothing = object;
