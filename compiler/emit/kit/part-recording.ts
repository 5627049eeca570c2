/**
 * The recording of a part of a file: its lines, and all requests for names with the answers. If another version of the
 * file gives the same answers, the part has the same text and is reused.
 */
import type { GlobalName, ImportedName, LocalName } from "./name.js";

export interface PartRecording {
  /** The lines of the part, or undefined if there are none. */
  readonly text: string | undefined;
  /** Whether a non-empty line precedes the part. */
  readonly followsLine: boolean;
  /** Whether the last line of the part is empty or missing. */
  readonly endsOpen: boolean;
  readonly answers: readonly NameAnswer[];
}

/** A request for a name and its answer. The order of the requests matters, since answers depend on earlier requests. */
export type NameAnswer =
  | { readonly kind: "local"; readonly name: LocalName }
  | { readonly kind: "scope" }
  /** A request to `NameScope.name`. `scope` is the index of the scope in the part. */
  | {
      readonly kind: "inScope";
      readonly scope: number;
      readonly name: LocalName;
    }
  | { readonly kind: "spelt"; readonly name: ImportedName | GlobalName; readonly spelling: string }
  | { readonly kind: "shared"; readonly role: string; readonly of: string; readonly name: LocalName | undefined }
  | { readonly kind: "share"; readonly role: string; readonly of: string; readonly name: LocalName };
