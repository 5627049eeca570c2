/** Enums: values with the names that protobuf wants, the one with number 0 first. */
import type { ProtoEnum, ProtoEnumValue } from "../../schemas/protobuf/descriptor.js";
import { enumValueName } from "../../schemas/protobuf/names.js";
import type { EnumAlias, EnumValue } from "../model/type.js";
import type { ProtoClash } from "./lowered.js";
import type { Place } from "./place.js";
import { type EnumShape, hasNumbers } from "./position.js";
import type { InUse, Reserved } from "./tombstones.js";

export interface LoweredEnum {
  readonly lowered: ProtoEnum;
  /** In the order of the values: what each comes from; nothing: added, since protobuf needs a value 0. */
  readonly sources: readonly (EnumValue | EnumAlias | undefined)[];
}

/** @param name flat: the beginning of its values' names is made of it */
export function lowerEnum(
  shape: EnumShape,
  full: string,
  name: string,
  reserve: (inUse: InUse) => Reserved | undefined,
): LoweredEnum {
  const isNumbers = hasNumbers(shape);
  const found = shape.values.flatMap((value) => {
    const number = isNumbers ? Number(value.value) : value.id;
    return [value, ...(value.aliases ?? [])].map((source) => ({ source, number }));
  });
  const taken = new Set<string>();
  const values = found.map(({ source, number }) => {
    const spelt = spell(source.wireName ?? enumValueName(name, source.name), number, taken);
    return { source: source as EnumValue | EnumAlias | undefined, value: { name: spelt, number } };
  });
  const zero = values.filter(({ value }) => value.number === 0);
  if (zero.length === 0) {
    const value: ProtoEnumValue = { name: spell(enumValueName(name, "unspecified"), 0, taken), number: 0 };
    zero.push({ source: undefined, value });
  }
  const ordered = [...zero, ...values.filter(({ value }) => value.number !== 0)];
  const reserved = reserve({
    numbers: new Set(ordered.map(({ value }) => value.number)),
    names: new Set(ordered.map(({ value }) => value.name)),
  });
  return {
    lowered: { name: full, values: ordered.map(({ value }) => value), ...(reserved && { reserved }) },
    sources: ordered.map(({ source }) => source),
  };
}

/** Names that come twice, as those of the values "+" and "-" do, get their numbers behind them. */
function spell(name: string, number: number, taken: Set<string>): string {
  const behind = number < 0 ? `MINUS_${-number}` : String(number);
  const spelt = taken.has(comparable(name)) ? `${name}_${behind}` : name;
  taken.add(comparable(spelt));
  return spelt;
}

/** protobuf takes `A_B` and `AB` for one name: other languages leave the underscores out. */
function comparable(name: string): string {
  return name.replaceAll("_", "").toLowerCase();
}

/** Names of values, which in protobuf are names of the package: two enums cannot have the same. */
export class ValueNames {
  readonly #holders = new Map<string, string>();
  readonly #clashes: ProtoClash[];

  constructor(clashes: ProtoClash[]) {
    this.#clashes = clashes;
  }

  claim({ lowered, sources }: LoweredEnum, place: Place): void {
    for (const [i, { name }] of lowered.values.entries()) {
      const first = this.#holders.get(name);
      const source = sources[i];
      const second = source === undefined ? `the value 0 of ${place.path}` : `${place.path}.${source.name}`;
      if (first !== undefined) this.#clashes.push({ kind: "value", name, first, second, at: source?.at ?? place.at });
      else this.#holders.set(name, second);
    }
  }
}
