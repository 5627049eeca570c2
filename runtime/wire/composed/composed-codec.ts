/**
 * What all composed codecs share: a layout and a fingerprint that are worked out from their parts on first use, since
 * the parts of recursive types do not exist yet when the codec is made.
 */
import type { Codec } from "../codec.js";
import { sha256First64 } from "../fingerprint.js";
import { MessageCodec } from "../message-codec.js";
import { FieldTable } from "../protobuf/field-table.js";
import type { ProtoForm } from "../protobuf/proto-form.js";
import type { ProtobufReader } from "../protobuf/reader.js";
import type { ProtobufWriter } from "../protobuf/writer.js";

export abstract class ComposedCodec<T> extends MessageCodec<T> {
  abstract override readonly name: string;
  #fingerprint: bigint | undefined;
  #text: boolean | undefined;
  #bulk: boolean | undefined;

  /** The codecs that this one is made of. */
  abstract parts(): readonly Codec<unknown>[];
  /** What the fingerprint is the hash of; parts stand in it as their own fingerprints (`hex`). */
  protected abstract fingerprintText(): string;

  /** @internal What it is in the protobuf layout. */
  abstract readonly protoForm: ProtoForm<T>;
  #standInTable: FieldTable | undefined;

  /** The message that stands for it where it is none: it is its only member. Messages have fields of their own. */
  writeFields(w: ProtobufWriter, value: T): void {
    this.#standIn.write(w, [value]);
  }

  readFields(r: ProtobufReader, end: number, into: T | undefined): T {
    const values: unknown[] = [into];
    this.#standIn.read(r, end, values);
    return values[0] as T;
  }

  get #standIn(): FieldTable {
    this.#standInTable ??= new FieldTable([{ codec: this, number: 1, segment: { text: "" } }]);
    return this.#standInTable;
  }

  get fingerprint(): bigint {
    this.#fingerprint ??= sha256First64(this.fingerprintText());
    return this.#fingerprint;
  }

  get text(): boolean {
    this.#text ??= containsKind(this, "text", new Set());
    return this.#text;
  }

  get bulk(): boolean {
    this.#bulk ??= containsKind(this, "bulk", new Set());
    return this.#bulk;
  }

  get head(): number {
    return (this.text ? 4 : 0) + (this.bulk ? 4 : 0);
  }

  /** Whether this codec itself, not a part of it, writes strings or blocks. */
  protected holdsItself(_what: "text" | "bulk"): boolean {
    return false;
  }

  /** @internal */
  static holdsItself(codec: ComposedCodec<unknown>, what: "text" | "bulk"): boolean {
    return codec.holdsItself(what);
  }

  override trace(): Codec<T> {
    return this;
  }
}

function containsKind(codec: Codec<unknown>, what: "text" | "bulk", seen: Set<Codec<unknown>>): boolean {
  if (!(codec instanceof ComposedCodec)) return codec[what];
  if (seen.has(codec)) return false;
  seen.add(codec);
  return ComposedCodec.holdsItself(codec, what) || codec.parts().some((part) => containsKind(part, what, seen));
}

/** Whether `codec` is made of `wanted`, directly or not. */
export function containsCodec(codec: Codec<unknown>, wanted: Codec<unknown>, seen: Set<Codec<unknown>>): boolean {
  if (!(codec instanceof ComposedCodec) || seen.has(codec)) return false;
  seen.add(codec);
  return codec.parts().some((part) => part === wanted || containsCodec(part, wanted, seen));
}

/** A part's fingerprint as it stands in the text that its whole is hashed from. */
export function fingerprintHex(codec: Codec<unknown>): string {
  return codec.fingerprint.toString(16).padStart(16, "0");
}
