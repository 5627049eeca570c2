/**
 * Derives the names of the protobuf layout. The compiler prints these names and the runtime reads them in JSON, so both
 * use this file.
 */

/** Converts a name to snake case: `optionalInt32` gives `optional_int32`, `HTTPServer` gives `http_server`. */
export function snakeCase(name: string): string {
  // The compiler asks for every name of a schema several times, and most names are one word.
  if (/^[a-z0-9_]*$/.test(name)) return name;
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/([A-Z]+)([A-Z][a-z])/g, "$1_$2")
    .toLowerCase();
}

/**
 * Returns the protobuf name of a member without `@name`: ASCII letters, digits and underscores, and no digit first.
 * `optionalInt32` gives `optional_int32`, `with-dash` gives `with_dash`, `7` gives `_7`.
 */
export function protoName(member: string): string {
  if (/^[a-z_][a-z0-9_]*$/.test(member)) return member;
  const name = snakeCase(member).replace(/[^a-z0-9_]+/g, "_");
  return /^[a-z_]/.test(name) ? name : `_${name}`;
}

export interface NamedMember {
  /** The name in the `.proto` file. */
  readonly name: string;
  readonly jsonName: string;
}

export interface MemberToName {
  /** The name in the schema. */
  readonly member: string;
  /** The name from the tag `@name`. */
  readonly name?: string;
  /** The JSON name from the tag `@json`. */
  readonly json?: string;
  readonly number: number;
  /** Whether the member is a map field of protobuf, as opposed to a message that stands for a map. */
  readonly isMap: boolean;
}

/**
 * Returns the names of the members of one message. `members` must be in the order of their numbers. The number is
 * appended to a name if the name is already taken, or if its JSON name would be empty, as for the tags `+` and `-`.
 * Names that differ only in capitals and underscores count as equal, because protobuf does not distinguish them.
 */
export function memberNames(members: readonly MemberToName[]): readonly NamedMember[] {
  const taken = new Set<string>();
  const isFree = ({ name, jsonName }: NamedMember) => jsonName !== "" && !taken.has(comparable(name));
  return members.map(({ member, name: wanted = protoName(member), json, number, isMap }) => {
    const name = isMap ? mapName(wanted) : wanted;
    const plain = { name, jsonName: json ?? jsonName(wanted) };
    const numbered = `${name}_${number}`;
    const named = isFree(plain) ? plain : { name: numbered, jsonName: json ?? jsonName(numbered) };
    taken.add(comparable(named.name));
    return named;
  });
}

/**
 * Replaces leading underscores by `n` if a digit follows. The entries of a map `_7` would be called `7Entry`, which is
 * not a valid name, so the map is called `n7`. Its JSON name stays `7`, as for any member of that name.
 */
function mapName(name: string): string {
  return name.replace(/^_+(?=[0-9])/, "n");
}

/**
 * Derives the JSON name from a field name as protobuf does: removes underscores and capitalizes the letter after each.
 */
export function jsonName(fieldName: string): string {
  if (!fieldName.includes("_")) return fieldName;
  return fieldName.replace(/_+(.?)/g, (_, letter: string) => letter.toUpperCase());
}

/** Returns the name of an enum value: `Color` and `darkRed` give `COLOR_DARK_RED`. */
export function enumValueName(enumName: string, value: string): string {
  const words = (text: string): string =>
    snakeCase(text)
      .replace(/[^a-z0-9]+/g, "_")
      .toUpperCase();
  return `${words(enumName)}_${words(value)}`;
}

/**
 * Converts a name to Pascal case: `http-server`, `http_server` and `httpServer` give `HttpServer`; `HTTPServer` stays.
 * Letters outside ASCII and `$` are written as their code points.
 */
export function pascalCase(name: string): string {
  if (/^[A-Za-z][A-Za-z0-9]*$/.test(name)) return name.charAt(0).toUpperCase() + name.slice(1);
  const words = [...name].map((letter) => (/[A-Za-z0-9]/.test(letter) ? letter : separator(letter))).join("");
  const joined = words
    .split("_")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");
  if (joined === "") return `U${name.length}`;
  return /^[0-9]/.test(joined) ? `N${joined}` : joined;
}

/**
 * Replaces one character of a name: an ASCII character other than `$` separates words, any other becomes a word of its
 * own. `é` gives `Ue9`.
 */
function separator(letter: string): string {
  return letter < "\u0080" && letter !== "$" ? "_" : `_U${(letter.codePointAt(0) as number).toString(16)}_`;
}

/**
 * Returns the name of an actor's service: `Counter` and `CounterService` both give `CounterService`. Linters for
 * protobuf require this suffix.
 */
export function serviceName(actor: string): string {
  return actor.endsWith("Service") ? actor : `${actor}Service`;
}

export interface NamedNumber {
  readonly name: string;
  readonly number: number;
}

/**
 * Returns the names of the values of an enum. The value with number 0 comes first; protobuf requires one, so it is
 * added if it is missing. The number is appended to a name that is already taken, as for the values `+` and `-`.
 * @param enumName the name without its package
 */
export function enumValueNames(
  enumName: string,
  values: readonly { readonly value: string; readonly name?: string; readonly number: number }[],
): readonly NamedNumber[] {
  const taken = new Set<string>();
  const numbers = new Map<string, number>();
  // Two names of the same number may differ in capitals alone.
  const isFree = (name: string, number: number) =>
    !taken.has(name) && (numbers.get(comparableValue(name, enumName)) ?? number) === number;
  const spell = (name: string, number: number): NamedNumber => {
    const behind = number < 0 ? `MINUS_${-number}` : String(number);
    let spelt = name;
    // The name with the number appended can itself be the name of another value.
    while (!isFree(spelt, number)) spelt = `${spelt}_${behind}`;
    taken.add(spelt);
    numbers.set(comparableValue(spelt, enumName), number);
    return { name: spelt, number };
  };
  const named = values.map(({ value, name = enumValueName(enumName, value), number }) => spell(name, number));
  const zero = named.filter(({ number }) => number === 0);
  if (zero.length === 0) zero.push(spell(enumValueName(enumName, "unspecified"), 0));
  return [...zero, ...named.filter(({ number }) => number !== 0)];
}

/**
 * Returns the key under which protobuf compares names. `A_B` and `AB` are equal for protobuf, because other languages
 * remove the underscores.
 */
function comparable(name: string): string {
  return name.replaceAll("_", "").toLowerCase();
}

/**
 * Returns the key under which the names of enum values are compared. Other languages also remove the enum's own name
 * from the front of a value's name. The key of `COLOR_` keeps the enum's name, because nothing else would be left.
 */
function comparableValue(name: string, enumName: string): string {
  const [whole, prefix] = [comparable(name), comparable(enumName)];
  return whole.startsWith(prefix) && whole !== prefix ? whole.slice(prefix.length) : whole;
}

/** The package of the messages that stand for ports, meshes, buffers and tensors. */
export const handlePackage = "viceroy.handle.v1";

/**
 * Returns whether a message stands for something inside a running mesh. The fields of such a message do not describe
 * it.
 */
export function isHandle(name: string): boolean {
  return name.startsWith(`${handlePackage}.`);
}
