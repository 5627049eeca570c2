/**
 * The base class of composed codecs. The layout and the fingerprint are computed from the parts on first use, since the parts
 * of a recursive type do not exist when the codec is constructed.
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
  /** Returns the text that the fingerprint is the hash of. It contains the parts as their own fingerprints (`fingerprintHex`). */
  protected abstract fingerprintText(): string;

  /** @internal The form of the codec in the protobuf layout. */
  abstract readonly protoForm: ProtoForm<T>;
  #standInTable: FieldTable | undefined;

  /** Writes the value as the only member of a message. Codecs that are messages override this method. */
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

  /** Returns whether this codec itself, and not a part of it, writes strings or blocks. */
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

/** Returns whether `codec` contains `wanted`, directly or indirectly. */
export function containsCodec(codec: Codec<unknown>, wanted: Codec<unknown>, seen: Set<Codec<unknown>>): boolean {
  if (!(codec instanceof ComposedCodec) || seen.has(codec)) return false;
  seen.add(codec);
  return codec.parts().some((part) => part === wanted || containsCodec(part, wanted, seen));
}

/** Formats the fingerprint of a part for the fingerprint text of the codec that contains it. */
export function fingerprintHex(codec: Codec<unknown>): string {
  return codec.fingerprint.toString(16).padStart(16, "0");
}
