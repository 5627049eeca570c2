/** References for tests: objects of a class with a number, which their bytes contain. */
import {
  decodePlain,
  encodePlain,
  type PlainPlace,
  type RefReader,
  type RefWriter,
} from "../../../runtime/tasks/values/index.js";

/** Stands for a reference to a result. */
export class TestRef {
  readonly id: number;

  constructor(id: number) {
    this.id = id;
  }
}

export const refs: RefWriter & RefReader = {
  isRef: (value) => value instanceof TestRef,
  write: (ref) => Uint8Array.of((ref as TestRef).id),
  read(bytes) {
    if (bytes.length !== 1) throw new Error(`cannot decode a test reference: expected one byte, got ${bytes.length}`);
    return new TestRef(bytes[0] as number);
  },
};

export const place: PlainPlace = { kind: "argument", task: "square", index: 0 };

export const encode = (value: unknown): Uint8Array => encodePlain(value, place, refs);
export const decode = (bytes: Uint8Array): unknown => decodePlain(bytes, refs);
export const copy = (value: unknown): unknown => decode(encode(value));
