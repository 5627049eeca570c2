/** The codec of MeshFailure. It encodes the record of the failure with the codec that is generated from the schema. */
import { type FailureRecord, FailureRecordCodec } from "../../generated/supervision.js";
import type { Codec, DecodeOptions, JsonReadOptions, JsonWriteOptions } from "../wire/codec.js";
import { type Structure, structureOf } from "../wire/protobuf/message-structure.js";
import type { ProtobufReader } from "../wire/protobuf/reader.js";
import type { ProtobufWriter } from "../wire/protobuf/writer.js";
import type { Reader } from "../wire/reader.js";
import type { JsonValue } from "../wire/well-known.js";
import type { Writer } from "../wire/writer.js";
import { MeshFailure } from "./mesh-failure.js";

class FailureCodec implements Codec<MeshFailure> {
  readonly name = "MeshFailure";
  readonly slot = FailureRecordCodec.slot;
  readonly text = FailureRecordCodec.text;
  readonly bulk = FailureRecordCodec.bulk;

  get fingerprint(): bigint {
    return FailureRecordCodec.fingerprint;
  }

  encode(value: MeshFailure): Uint8Array {
    return FailureRecordCodec.encode(recordOf(value));
  }

  decode(bytes: Uint8Array, options?: DecodeOptions): MeshFailure {
    return new MeshFailure(FailureRecordCodec.decode(bytes, options));
  }

  encodeInto(w: Writer, value: MeshFailure): void {
    FailureRecordCodec.encodeInto(w, recordOf(value));
  }

  decodeFrom(r: Reader): MeshFailure {
    return new MeshFailure(FailureRecordCodec.decodeFrom(r));
  }

  write(w: Writer, at: number, value: MeshFailure): void {
    FailureRecordCodec.write(w, at, recordOf(value));
  }

  read(r: Reader, at: number): MeshFailure {
    return new MeshFailure(FailureRecordCodec.read(r, at));
  }

  toProtobuf(value: MeshFailure): Uint8Array {
    return FailureRecordCodec.toProtobuf(recordOf(value));
  }

  fromProtobuf(bytes: Uint8Array): MeshFailure {
    return new MeshFailure(FailureRecordCodec.fromProtobuf(bytes));
  }

  toJson(value: MeshFailure, options?: JsonWriteOptions): JsonValue {
    return FailureRecordCodec.toJson(recordOf(value), options);
  }

  fromJson(json: unknown, options?: JsonReadOptions): MeshFailure {
    return new MeshFailure(FailureRecordCodec.fromJson(json, options));
  }

  /** @internal */
  get structure(): Structure<MeshFailure> {
    const of = structureOf(FailureRecordCodec);
    if (of.kind !== "members") throw new Error("cannot take a failure apart: its record is no message");
    return {
      ...of,
      toRow: (value) => of.toRow(recordOf(value)),
      fromRow: (values) => new MeshFailure(of.fromRow(values)),
    };
  }

  writeFields(w: ProtobufWriter, value: MeshFailure): void {
    FailureRecordCodec.writeFields(w, recordOf(value));
  }

  readFields(r: ProtobufReader, end: number, into: MeshFailure | undefined): MeshFailure {
    return new MeshFailure(FailureRecordCodec.readFields(r, end, into && recordOf(into)));
  }
}

/** Returns the record to encode. The codec of the record refuses values that are not a MeshFailure, with the path of the error. */
function recordOf(value: MeshFailure): FailureRecord {
  return (value instanceof MeshFailure ? value.record : value) as unknown as FailureRecord;
}

/** Encodes and decodes failures, for example in channels of failures or as a part of other codecs. */
export const MeshFailureCodec: Codec<MeshFailure> = new FailureCodec();
