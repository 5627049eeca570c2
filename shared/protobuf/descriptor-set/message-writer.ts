/** Writes protobuf messages with the wire types that descriptors need: varints, strings and nested messages. */
export class MessageWriter {
  readonly #parts: Uint8Array[] = [];

  /**
   * Writes a varint field, or nothing if `value` is undefined. A negative number takes ten bytes, as protobuf requires
   * for int32.
   */
  int(number: number, value: number | undefined): void {
    if (value === undefined) return;
    this.#parts.push(varint(number * 8), varint(value));
  }

  bool(number: number, value: boolean | undefined): void {
    if (value) this.int(number, 1);
  }

  string(number: number, value: string | undefined): void {
    if (value !== undefined) this.bytes(number, new TextEncoder().encode(value));
  }

  message(number: number, write: (inner: MessageWriter) => void): void {
    const inner = new MessageWriter();
    write(inner);
    this.bytes(number, inner.finish());
  }

  bytes(number: number, value: Uint8Array): void {
    this.#parts.push(varint(number * 8 + 2), varint(value.length), value);
  }

  /** Writes integers as one packed block. */
  packed(number: number, values: readonly number[]): void {
    this.bytes(number, Buffer.concat(values.map(varint)));
  }

  finish(): Uint8Array {
    return new Uint8Array(Buffer.concat(this.#parts));
  }
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  do {
    const low = Number(rest & 127n);
    rest >>= 7n;
    bytes.push(rest === 0n ? low : low | 128);
  } while (rest !== 0n);
  return Uint8Array.from(bytes);
}
