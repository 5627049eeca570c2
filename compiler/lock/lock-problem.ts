/** What can be wrong with a lock, or between a lock and a schema, as plain values. Diagnostics are made from them. */
import type { Position } from "../model/index.js";

export type LockProblem =
  /** The first line is not the header of a format this version knows. */
  | { readonly kind: "lockVersion"; readonly at: Position; readonly found: string; readonly expected: string }
  /** Git has left conflict marks, which begin here. */
  | { readonly kind: "lockConflict"; readonly at: Position }
  | { readonly kind: "lockSyntax"; readonly at: Position; readonly why: string }
  /** The same declaration has two blocks; `other`: the line of the first. */
  | { readonly kind: "lockDuplicate"; readonly at: Position; readonly what: string; readonly other: number }
  | {
      readonly kind: "lockIdTwice";
      readonly at: Position;
      readonly id: number;
      readonly first: string;
      readonly second: string;
    }
  /** `next` would give an id again. */
  | {
      readonly kind: "lockNext";
      readonly at: Position;
      readonly of: string;
      readonly next: number;
      readonly highest: number;
    }
  /** `@id` says another id than the lock. */
  | {
      readonly kind: "idChanged";
      readonly at: Position;
      readonly member: string;
      readonly locked: number;
      readonly asked: number;
    }
  /** `@id` asks for an id that another member has, or had. */
  | {
      readonly kind: "idTaken";
      readonly at: Position;
      readonly member: string;
      readonly id: number;
      readonly holder: string;
      readonly retired: boolean;
    }
  /** `@id` asks for a number that can't be an id. */
  | { readonly kind: "idRange"; readonly at: Position; readonly member: string; readonly id: number }
  /** `@was` names a member that never was. */
  | { readonly kind: "wasUnknown"; readonly at: Position; readonly member: string; readonly was: string }
  /** `@was` names a member that another member continues already. */
  | {
      readonly kind: "wasTaken";
      readonly at: Position;
      readonly member: string;
      readonly was: string;
      readonly holder: string;
    }
  /** A member is gone and another one of the same type has come: a rename, or not? */
  | {
      readonly kind: "ambiguousRename";
      readonly at: Position;
      readonly declaration: string;
      /** `declaration` is the path to a shape that is written in place. */
      readonly isInPlace: boolean;
      readonly removed: string;
      readonly added: string;
    };
