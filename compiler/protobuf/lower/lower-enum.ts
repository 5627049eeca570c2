/** Lowers enums: gives their values the names that protobuf requires and puts the value with number 0 first. */

import { namespaceOf } from "../../../shared/names/qualified-name.js";
import { enumValueNames } from "../../../shared/protobuf/names.js";
import type { ProtoEnum, ProtoEnumValue } from "../../../shared/protobuf/proto-schema.js";
import type { EnumAlias, EnumValue } from "../../model/type.js";
import { type EnumShape, hasNumbers } from "../form/form.js";
import type { ProtoClash } from "./lowered-schema.js";
import type { NamePath } from "./name-path.js";
import type { NamesInUse, Reserved } from "./tombstones.js";

export interface LoweredEnum {
  readonly lowered: ProtoEnum;
  /**
   * The source of each value, in the order of the values. Undefined for the value 0 if it was added because protobuf
   * requires it.
   */
  readonly sources: readonly (EnumValue | EnumAlias | undefined)[];
}

/**
 * Lowers one enum.
 * @param name the name without package and namespace, which becomes the prefix of the values' names
 */
export function lowerEnum(
  shape: EnumShape,
  full: string,
  name: string,
  reserve: (inUse: NamesInUse) => Reserved | undefined,
): LoweredEnum {
  const isNumbers = hasNumbers(shape);
  const sources = shape.values.flatMap((value) => {
    const number = isNumbers ? Number(value.value) : value.id;
    return [value, ...(value.aliases ?? [])].map((source) => ({ source, number }));
  });
  const values = enumValueNames(
    name,
    sources.map(({ source, number }) => ({
      value: source.name,
      number,
      ...(source.wireName && { name: source.wireName }),
    })),
  );
  const reserved = reserve({
    numbers: new Set(values.map(({ number }) => number)),
    names: new Set(values.map((value) => value.name)),
  });
  return { lowered: { name: full, values, ...(reserved && { reserved }) }, sources: sourcesOf(values, sources) };
}

/** Orders the sources like the values: those with number 0 come first, after an added value if there is one. */
function sourcesOf(
  values: readonly ProtoEnumValue[],
  sources: readonly { readonly source: EnumValue | EnumAlias; readonly number: number }[],
): readonly (EnumValue | EnumAlias | undefined)[] {
  const zero = sources.filter(({ number }) => number === 0);
  const ordered = [...zero, ...sources.filter(({ number }) => number !== 0)].map(({ source }) => source);
  return ordered.length < values.length ? [undefined, ...ordered] : ordered;
}

/**
 * Finds clashes between the names of enum values. In protobuf, they belong to the package, or to the message that
 * contains the enum, so two enums there cannot share a name.
 */
export class EnumValueNames {
  readonly #holders = new Map<string, string>();
  readonly #clashes: ProtoClash[];

  constructor(clashes: ProtoClash[]) {
    this.#clashes = clashes;
  }

  claim({ lowered, sources }: LoweredEnum, place: NamePath): void {
    const scope = namespaceOf(lowered.name);
    for (const [i, value] of lowered.values.entries()) {
      const name = `${scope}.${value.name}`;
      const first = this.#holders.get(name);
      const source = sources[i];
      const second = source === undefined ? `the value 0 of ${place.path}` : `${place.path}.${source.name}`;
      if (first !== undefined) this.#clashes.push({ kind: "value", name, first, second, at: source?.at ?? place.at });
      else this.#holders.set(name, second);
    }
  }
}
