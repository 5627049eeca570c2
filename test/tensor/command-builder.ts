/** Commands for tensors, written by hand: also such as no controller would write. The format is that of native/tensor/commands/format.h. */

/** The parts of a program; counts are 0 and lists are empty by default. */
export interface ProgramParts {
  readonly arguments?: number;
  readonly externals?: number[];
  readonly gradients?: number;
  readonly locals?: number;
  readonly numbers?: number;
  readonly body: CommandBuilder;
  readonly kept?: number[];
  readonly replacements?: number[];
}

export class CommandBuilder {
  readonly #bytes: number[] = [];

  u8(...values: number[]): this {
    this.#bytes.push(...values);
    return this;
  }
  u32(value: number): this {
    return this.#put(new Uint32Array([value]));
  }
  u64(value: number | bigint): this {
    return this.#put(new BigUint64Array([BigInt(value)]));
  }
  text(text: string): this {
    return this.u32(text.length).#put(Buffer.from(text));
  }
  op(name: string, overload = ""): this {
    return this.u8(1).text(name).text(overload);
  }
  site(where: string): this {
    return this.u8(2).text(where);
  }
  /** Arguments follow. */
  call(op: number, site = 0): this {
    return this.u8(3).u32(op).u32(site);
  }
  reference(reference: number): this {
    return this.u8(2).u64(reference);
  }
  integer(value: number): this {
    return this.u8(4).u64(BigInt.asUintN(64, BigInt(value)));
  }
  integers(...values: number[]): this {
    this.u8(9).u32(values.length);
    for (const value of values) this.u64(BigInt.asUintN(64, BigInt(value)));
    return this;
  }
  /** Text as an argument. */
  word(text: string): this {
    return this.u8(7).text(text);
  }
  /** What comes next is written to the copy alone. */
  copy(): CommandBuilder {
    const copy = new CommandBuilder();
    copy.#bytes.push(...this.#bytes);
    return copy;
  }
  results(...references: number[]): this {
    this.u32(references.length);
    for (const reference of references) this.u64(reference);
    return this;
  }
  drop(...references: number[]): this {
    return this.u8(4).results(...references);
  }
  /** A tensor of float32 by its elements. */
  put(reference: number, ...elements: number[]): this {
    return this.u8(6)
      .u64(reference)
      .u8(6, 0, 1)
      .u64(elements.length)
      .u32(4 * elements.length)
      .#put(Float32Array.from(elements));
  }
  /** A program. Its body contains slots instead of references. */
  define(program: number, { body, ...parts }: ProgramParts): this {
    const bytes = body.done();
    this.u8(7)
      .u32(program)
      .u32(parts.arguments ?? 0)
      .results(...(parts.externals ?? []))
      .u32(parts.gradients ?? 0)
      .u32(parts.locals ?? 0)
      .u32(parts.numbers ?? 0)
      .u32(bytes.length);
    this.#bytes.push(...bytes);
    return this.results(...(parts.kept ?? [])).results(...(parts.replacements ?? []));
  }
  forget(program: number): this {
    return this.u8(8).u32(program);
  }
  bind(program: number, ...gradients: number[]): this {
    return this.u8(9)
      .u32(program)
      .results(...gradients);
  }
  replay(program: number, given: number[], base: number | bigint, numbers: number[] = []): this {
    return this.u8(10)
      .u32(program)
      .results(...given)
      .u64(base)
      .u32(numbers.length)
      .#put(Float64Array.from(numbers));
  }
  done(): Uint8Array {
    return Uint8Array.from(this.#bytes);
  }

  #put(view: ArrayBufferView): this {
    this.#bytes.push(...new Uint8Array(view.buffer, view.byteOffset, view.byteLength));
    return this;
  }
}
