/**
 * Computes the positions of the members of a struct. The algorithm is part of Cap'n Proto: every compiler places the
 * members in the order of their ordinals, each into the first hole that is large enough. This implementation follows
 * the layout of the reference compiler. It supports only unions whose cases are single fields.
 */
import type {
  CapnpMember,
  CapnpSchemaType,
  CapnpStruct,
  DataScalar,
  MemberSlot,
  StructLayout,
} from "./capnp-schema.js";

/** Sizes as the binary logarithm of the number of bits: 0 is one bit, 6 is one word. */
const logSizes: Readonly<Record<DataScalar, number>> = {
  bool: 0,
  uint16: 4,
  int32: 5,
  uint32: 5,
  float32: 5,
  int64: 6,
  uint64: 6,
  float64: 6,
  date: 6,
};

const tagSize = 4;
const wordSize = 6;

/** Returns the size of a type in a struct. */
export function slotSize(type: CapnpSchemaType): "nothing" | "pointer" | number {
  if (type.kind === "void") return "nothing";
  if (type.kind === "data") return logSizes[type.scalar];
  return type.kind === "enum" ? tagSize : "pointer";
}

export function layOutStruct({ shape, members }: Pick<CapnpStruct, "shape" | "members">): StructLayout {
  const memory = new StructAllocator();
  let ordinal = 0;
  if (shape === "choice" || shape === "nullable") {
    const union = new UnionAllocator(memory);
    const places = members.map(({ type }): MemberSlot => ({ ordinal: ordinal++, at: union.addCase(slotSize(type)) }));
    return { ...memory.size, slots: places, tag: union.tag };
  }
  const places = members.map((member): MemberSlot => {
    const first = ordinal;
    ordinal += member.ordinals;
    return member.ordinals === 1
      ? { ordinal: first, at: memory.allocate(slotSize(member.type)) }
      : { ordinal: first, ...placeOptional(member, memory) };
  });
  return { ...memory.size, slots: places };
}

/** Places a member that is a union of "absent", possibly "null", and the value. */
function placeOptional({ ordinals, type }: CapnpMember, memory: StructAllocator): Omit<MemberSlot, "ordinal"> {
  const union = new UnionAllocator(memory);
  for (let i = 1; i < ordinals; i++) union.addCase("nothing");
  const at = union.addCase(slotSize(type));
  return { at, tag: union.tag };
}

/** Allocates the data and pointer sections of a struct and tracks the holes in the data section. */
class StructAllocator {
  #dataWords = 0;
  #pointerWords = 0;
  /**
   * The index of the only hole of each size, in units of that size. 0 means that there is no hole, since index 0 is
   * never a hole.
   */
  readonly #holes = [0, 0, 0, 0, 0, 0];

  get size(): { readonly dataWords: number; readonly pointerWords: number } {
    return { dataWords: this.#dataWords, pointerWords: this.#pointerWords };
  }

  /** @returns the bit offset in the data section, or the index in the pointer section */
  allocate(size: "nothing" | "pointer" | number): number {
    if (size === "nothing") return 0;
    return size === "pointer" ? this.#pointerWords++ : this.allocateData(size) * 2 ** size;
  }

  /** @returns the index in units of the size */
  allocateData(size: number): number {
    const hole = this.#takeHole(size);
    if (hole !== undefined) return hole;
    const word = this.#dataWords++;
    const place = word * 2 ** (wordSize - size);
    this.#addHoles(size, place + 1);
    return place;
  }

  allocatePointer(): number {
    return this.#pointerWords++;
  }

  #takeHole(size: number): number | undefined {
    if (size >= wordSize) return undefined;
    const hole = this.#holes[size] as number;
    if (hole !== 0) {
      this.#holes[size] = 0;
      return hole;
    }
    const larger = this.#takeHole(size + 1);
    if (larger === undefined) return undefined;
    this.#holes[size] = larger * 2 + 1;
    return larger * 2;
  }

  #addHoles(size: number, place: number): void {
    let next = place;
    for (let i = size; i < wordSize; i++) {
      this.#holes[i] = next;
      next = (next + 1) / 2;
    }
  }

  /** Enlarges a location if a hole follows it. Returns whether the location was enlarged. */
  expand(size: number, place: number, by: number): boolean {
    if (by === 0) return true;
    if (size >= wordSize || this.#holes[size] !== place + 1) return false;
    if (!this.expand(size + 1, Math.floor(place / 2), by - 1)) return false;
    this.#holes[size] = 0;
    return true;
  }
}

/** Allocates a union, whose cases share their locations. */
class UnionAllocator {
  readonly #memory: StructAllocator;
  readonly #data: { size: number; place: number }[] = [];
  #pointer: number | undefined;
  #cases = 0;
  /** The bit offset of the tag that tells which case is set. It is allocated with the second case. */
  tag = 0;

  constructor(memory: StructAllocator) {
    this.#memory = memory;
  }

  addCase(size: "nothing" | "pointer" | number): number {
    this.#cases++;
    if (this.#cases === 2) this.tag = this.#memory.allocateData(tagSize) * 2 ** tagSize;
    if (size === "nothing") return 0;
    if (size === "pointer") {
      this.#pointer ??= this.#memory.allocatePointer();
      return this.#pointer;
    }
    return this.#addData(size);
  }

  #addData(size: number): number {
    const fitting = this.#data.filter((location) => location.size >= size);
    const best = fitting.reduce<(typeof fitting)[0] | undefined>(
      (least, location) => (least === undefined || location.size < least.size ? location : least),
      undefined,
    );
    if (best !== undefined) return best.place * 2 ** best.size;
    for (const location of this.#data) {
      const by = size - location.size;
      if (!this.#memory.expand(location.size, location.place, by)) continue;
      location.size = size;
      location.place = Math.floor(location.place / 2 ** by);
      return location.place * 2 ** size;
    }
    const place = this.#memory.allocateData(size);
    this.#data.push({ size, place });
    return place * 2 ** size;
  }
}
