/** Names in the protobuf layout: one spelling for the compiler, which prints them, and the runtime, which reads JSON. */

/** `optionalInt32` and `HTTPServer` are `optional_int32` and `http_server`. */
export function snakeCase(name: string): string {
  // Compilers ask for all names of a schema several times, and most are one word.
  if (/^[a-z0-9_]*$/.test(name)) return name;
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/([A-Z]+)([A-Z][a-z])/g, "$1_$2")
    .toLowerCase();
}

/**
 * What a member is called in protobuf, if `@name` says nothing else: letters of ASCII, digits and underscores, no digit
 * first. `optionalInt32` is `optional_int32`, `with-dash` is `with_dash`, `7` is `_7`.
 */
export function protoName(member: string): string {
  if (/^[a-z_][a-z0-9_]*$/.test(member)) return member;
  const name = snakeCase(member).replace(/[^a-z0-9_]+/g, "_");
  return /^[a-z_]/.test(name) ? name : `_${name}`;
}

export interface NamedMember {
  /** In the `.proto`. */
  readonly name: string;
  readonly jsonName: string;
}

export interface MemberToName {
  /** In the schema. */
  readonly member: string;
  /** What `@name` says. */
  readonly name?: string;
  /** What `@json` says. */
  readonly json?: string;
  readonly number: number;
  /** A map field of protobuf, not a message that stands for a map. */
  readonly isMap: boolean;
}

/**
 * The names of the members of one message, in the order of their numbers. Where a name comes twice, but for capitals
 * and underscores, which protobuf does not tell apart, or JSON would have none, as for the tags `+` and `-`, the number
 * stands behind it.
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

/** The map `_7` would have entries called `7Entry`, which is no name: it is `n7`, in JSON `7` as any member of that name. */
function mapName(name: string): string {
  return name.replace(/^_+(?=[0-9])/, "n");
}

/** As protobuf makes it of a field's name: without underscores, the letter behind one a capital. */
export function jsonName(fieldName: string): string {
  if (!fieldName.includes("_")) return fieldName;
  return fieldName.replace(/_+(.?)/g, (_, letter: string) => letter.toUpperCase());
}

/** `Color` and `darkRed` are `COLOR_DARK_RED`. */
export function enumValueName(enumName: string, value: string): string {
  const words = (text: string): string =>
    snakeCase(text)
      .replace(/[^a-z0-9]+/g, "_")
      .toUpperCase();
  return `${words(enumName)}_${words(value)}`;
}

/** `http-server`, `http_server` and `httpServer` are `HttpServer`, `HTTPServer` stays. Other letters by their numbers. */
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

/** What stands between words, in ASCII; any other letter is a word: `é` is `Ue9`. */
function separator(letter: string): string {
  return letter < "\u0080" && letter !== "$" ? "_" : `_U${(letter.codePointAt(0) as number).toString(16)}_`;
}

/** `Counter` and `CounterService` are served as `CounterService`, as linters for protobuf want it. */
export function serviceName(actor: string): string {
  return actor.endsWith("Service") ? actor : `${actor}Service`;
}

export interface NamedNumber {
  readonly name: string;
  readonly number: number;
}

/**
 * The names of the values of an enum, the one with number 0 first: protobuf demands one, and it is added where there is
 * none. Where a name comes twice, as for the values `+` and `-`, the number stands behind it.
 * @param enumName without its package
 */
export function enumValueNames(
  enumName: string,
  values: readonly { readonly value: string; readonly name?: string; readonly number: number }[],
): readonly NamedNumber[] {
  const taken = new Set<string>();
  const numbers = new Map<string, number>();
  // Several names of one number may differ in capitals alone.
  const isFree = (name: string, number: number) =>
    !taken.has(name) && (numbers.get(comparableValue(name, enumName)) ?? number) === number;
  const spell = (name: string, number: number): NamedNumber => {
    const behind = number < 0 ? `MINUS_${-number}` : String(number);
    let spelt = name;
    // A value may be called like another one with a number behind it.
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

/** protobuf takes `A_B` and `AB` for one name: other languages leave the underscores out. */
function comparable(name: string): string {
  return name.replaceAll("_", "").toLowerCase();
}

/**
 * Other languages leave the enum's own name out too, where it stands before that of a value. Of `COLOR_` nothing would be
 * left: it is taken for `COLOR_COLOR`.
 */
function comparableValue(name: string, enumName: string): string {
  const [whole, prefix] = [comparable(name), comparable(enumName)];
  return whole.startsWith(prefix) && whole !== prefix ? whole.slice(prefix.length) : whole;
}

/** The package of the messages that stand for ports, meshes, buffers and tensors. */
export const handlePackage = "viceroy.handle.v1";

/** Whether a message stands for something inside a running mesh: its fields say nothing of what it is. */
export function isHandle(name: string): boolean {
  return name.startsWith(`${handlePackage}.`);
}
