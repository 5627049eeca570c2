/** Two schemas of the protobuf layout compared type by type: messages that nobody has named may have any name. */
import { expect } from "vitest";
import { isHandle } from "../../../shared/protobuf/names.js";
import type {
  ProtoCarried,
  ProtoEnum,
  ProtoField,
  ProtoMessage,
  ProtoSchema,
  ProtoType,
} from "../../../shared/protobuf/proto-schema.js";

interface Pair {
  readonly mine: ProtoType;
  readonly theirs: ProtoType;
  readonly place: string;
}

export class SchemaComparison {
  readonly #mine: ProtoSchema;
  readonly #theirs: ProtoSchema;
  readonly #seen = new Set<string>();
  #waiting: Pair[] = [];

  constructor(mine: ProtoSchema, theirs: ProtoSchema) {
    this.#mine = mine;
    this.#theirs = theirs;
  }

  /** Of pairs of types that have been compared. */
  get count(): number {
    return this.#seen.size;
  }

  /** All that can be reached from two messages, field by field. */
  messages(mine: string, theirs: string): this {
    this.#pair({ kind: "message", name: mine }, { kind: "message", name: theirs }, theirs);
    for (let next = this.#waiting.pop(); next !== undefined; next = this.#waiting.pop()) this.#compare(next);
    return this;
  }

  #pair(mine: ProtoType, theirs: ProtoType, place: string): void {
    expect(mine.kind, place).toBe(theirs.kind);
    if (mine.kind === "scalar" || theirs.kind === "scalar") expect(mine, place).toEqual(theirs);
    else this.#waiting.push({ mine, theirs, place });
  }

  #compare({ mine, theirs, place }: Pair): void {
    if (mine.kind === "scalar" || theirs.kind === "scalar") return;
    const key = `${mine.name} ${theirs.name}`;
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    if (mine.name.startsWith("google.protobuf.") || isHandle(mine.name)) expect(mine, place).toEqual(theirs);
    else if (mine.kind === "enum") {
      const values = this.#mine.enums.get(mine.name)?.values;
      expect(byNumber(values), place).toEqual(byNumber(this.#theirs.enums.get(theirs.name)?.values));
    } else this.#compareMessages(this.#mine.messages.get(mine.name), this.#theirs.messages.get(theirs.name), place);
  }

  #compareMessages(mine: ProtoMessage | undefined, theirs: ProtoMessage | undefined, place: string): void {
    // What is reserved is known to the lock alone.
    const { name: _, fields, ...rest } = mine as ProtoMessage;
    const { name: __, fields: theirFields, reserved: ___, ...theirRest } = theirs as ProtoMessage;
    expect(rest, place).toEqual(theirRest);
    expect(fields.map(withoutTypes), place).toEqual(theirFields.map(withoutTypes));
    for (const [i, field] of fields.entries()) {
      const other = theirFields[i] as ProtoField;
      const here = `${place}.${field.name}`;
      this.#pair(field.type, other.type, here);
      if (field.carries?.kind === "port" && other.carries?.kind === "port")
        this.#pair(field.carries.type, other.carries.type, `${here}(port)`);
    }
  }
}

/** The first of several names for one number is the one that is written; where the others stand does not matter. */
function byNumber(values: ProtoEnum["values"] | undefined): ProtoEnum["values"] | undefined {
  return values?.toSorted((a, b) => a.number - b.number);
}

function withoutTypes({ type: _, carries, ...field }: ProtoField) {
  return { ...field, carries: carries && withoutType(carries) };
}

function withoutType(carried: ProtoCarried): object {
  return carried.kind === "port" ? { kind: carried.kind } : carried;
}
