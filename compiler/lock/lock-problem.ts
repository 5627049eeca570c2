/** The problems of a lock, and those between a lock and a schema, as plain data. Diagnostics are created from them. */
import type { Position } from "../model/index.js";

export type LockProblem =
  /** The first line is not the header of a supported format. */
  | { readonly kind: "lockVersion"; readonly at: Position; readonly found: string; readonly expected: string }
  /** The lock has conflict markers of git. The position is that of the first marker. */
  | { readonly kind: "lockConflict"; readonly at: Position }
  | { readonly kind: "lockSyntax"; readonly at: Position; readonly why: string }
  /** Two blocks belong to the same declaration. `other` is the line of the first block. */
  | { readonly kind: "lockDuplicate"; readonly at: Position; readonly what: string; readonly other: number }
  | {
      readonly kind: "lockIdTwice";
      readonly at: Position;
      readonly id: number;
      readonly first: string;
      readonly second: string;
    }
  /** The value of `next` would assign an id twice. */
  | {
      readonly kind: "lockNext";
      readonly at: Position;
      readonly of: string;
      readonly next: number;
      readonly highest: number;
    }
  /** `@id` contradicts the id in the lock. */
  | {
      readonly kind: "idChanged";
      readonly at: Position;
      readonly member: string;
      readonly locked: number;
      readonly asked: number;
    }
  /** `@id` requests an id that another member has or had. */
  | {
      readonly kind: "idTaken";
      readonly at: Position;
      readonly member: string;
      readonly id: number;
      readonly holder: string;
      readonly retired: boolean;
    }
  /** `@id` requests a number that cannot be an id. */
  | { readonly kind: "idRange"; readonly at: Position; readonly member: string; readonly id: number }
  /** `@was` names a member that never existed. */
  | { readonly kind: "wasUnknown"; readonly at: Position; readonly member: string; readonly was: string }
  /** `@was` names a member that another member already continues. */
  | {
      readonly kind: "wasTaken";
      readonly at: Position;
      readonly member: string;
      readonly was: string;
      readonly holder: string;
    }
  /** A member is missing and a new member has the same type, which may be a rename. */
  | {
      readonly kind: "ambiguousRename";
      readonly at: Position;
      readonly declaration: string;
      /** Whether `declaration` is the path of an inline shape. */
      readonly isInPlace: boolean;
      readonly removed: string;
      readonly added: string;
    };
