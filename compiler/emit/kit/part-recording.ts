/**
 * A part of a file as it was written: its lines, and all that it asked of the names of the file, with the answers. Where
 * another writing of the file gives the same answers, the part is the same, and nobody has to work it out again.
 */
import type { GlobalName, ImportedName, LocalName } from "./name.js";

export interface PartRecording {
  /** Its lines; undefined: there are none. */
  readonly text: string | undefined;
  /** Whether a line stood right above it. */
  readonly followsLine: boolean;
  /** Whether its last line is empty, or there is none. */
  readonly endsOpen: boolean;
  readonly answers: readonly NameAnswer[];
}

/** What was asked, and in it the answer. In the order in which it was asked: answers depend on those before. */
export type NameAnswer =
  | { readonly kind: "local"; readonly name: LocalName }
  | { readonly kind: "scope" }
  /** @see Scope.name */
  | {
      readonly kind: "inScope" /** Which one, of those of the part. */;
      readonly scope: number;
      readonly name: LocalName;
    }
  | { readonly kind: "spelt"; readonly name: ImportedName | GlobalName; readonly spelling: string }
  | { readonly kind: "shared"; readonly role: string; readonly of: string; readonly name: LocalName | undefined }
  | { readonly kind: "share"; readonly role: string; readonly of: string; readonly name: LocalName };
